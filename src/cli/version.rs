//! `attache version`: the version of attache.

use serde_json::json;

use super::Failure;
use super::output::{self, Output};

/// Arguments of `attache version`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::PLAIN)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// If the output cannot be written.
pub fn run(args: &Args) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let document = json!({"version": version});
    let text = match args.output.program(&document)? {
        Some(text) => text,
        None => format!("attache {version}\n"),
    };
    super::print(&text)
}
