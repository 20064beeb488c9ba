//! `attache completions`: what a shell needs to complete the command line.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use super::{Cli, Failure};

/// Arguments of `attache completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Runs the command.
///
/// # Errors
/// When the output cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    generate(args.shell, &mut command, "attache", &mut text);
    super::print(&String::from_utf8_lossy(&text))
}
