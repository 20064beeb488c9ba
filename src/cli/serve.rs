//! `attache serve`: the webhook server.

use std::time::Duration;

use super::Failure;
use crate::serve::{Args, serve};
use crate::telemetry;

/// The time that shutdown waits for file reads in progress.
const LAST_READS: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// If the server cannot start.
pub fn run(args: Args) -> Result<(), Failure> {
    let _logs = telemetry::init(args.log_format)?;
    telemetry::panics::log();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(serve(args, super::ui::in_cluster()));
    // A file system that does not answer must not block the exit.
    runtime.shutdown_timeout(LAST_READS);
    ended
}
