//! The `attache` command: arguments in, exit code out.

use std::process::ExitCode;

use attache::cli::Outcome;

/// A review makes and drops thousands of small things; this one takes half the time of the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The command could not run.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let cli = attache::cli::parse();
    match attache::cli::run(cli) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::FAILURE,
        Err(error) => {
            attache::cli::say(&error);
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}
