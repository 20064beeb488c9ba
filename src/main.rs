//! The `attache` command: parses the arguments and sets the exit code.

use std::process::ExitCode;

use attache::cli::CommandResult;

/// A review allocates and frees thousands of small values; mimalloc takes half the time of the system allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code of a command that could not run.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let cli = attache::cli::parse();
    match attache::cli::run(cli) {
        Ok(CommandResult::Clean) => ExitCode::SUCCESS,
        Ok(CommandResult::Findings) => ExitCode::FAILURE,
        Err(error) => {
            attache::cli::say(&error);
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}
