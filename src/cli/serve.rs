//! `attache serve`: the webhook.

use super::Failure;
use crate::serve::{Args, serve};
use crate::telemetry;

/// Runs the command.
///
/// # Errors
/// When something that is needed to serve is missing.
pub fn run(args: Args) -> Result<(), Failure> {
    let _logs = telemetry::init(args.log_format)?;
    telemetry::panics::log();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(args))
}
