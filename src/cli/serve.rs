//! `attache serve`: the webhook.

use std::time::Duration;

use super::Failure;
use crate::serve::{Args, serve};
use crate::telemetry;

/// How long the end of the process waits for files that are being read.
const LAST_READS: Duration = Duration::from_secs(1);

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
    let ended = runtime.block_on(serve(args));
    // A file system that does not answer must not hold the process.
    runtime.shutdown_timeout(LAST_READS);
    ended
}
