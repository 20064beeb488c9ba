//! The command line: one file a command.

use std::io::Write as _;

use clap::{Parser, Subcommand};

pub mod certs;
pub mod graph;
pub mod kinds;
pub mod manifests;
mod names;
mod render;
pub mod schema;
pub mod serve;
mod state;

/// Tells which Gateway API policies act on what you apply, and refuses those that cannot.
#[derive(Debug, Parser)]
#[command(name = "attache", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer admission reviews, from a cluster or from a directory of manifests.
    Serve(crate::serve::Args),
    /// Show the topology and the policies on it: a tree, or a picture in several formats.
    Graph(graph::Args),
    /// List the policy kinds, what is known of each, and where each fact came from.
    Kinds(kinds::Args),
    /// Print the webhook configurations and the rights for the policy kinds of a cluster or directory.
    Manifests(manifests::Args),
    /// Print the JSON schema of a file that people write.
    Schema(schema::Args),
    /// Make a certificate authority and a serving certificate for a try-out.
    Certs(certs::Args),
}

/// Why a command failed, in words for the person at the terminal.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How a command that could run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is to be said against what was looked at.
    Clean,
    /// There are findings that count.
    Findings,
}

/// Runs a command.
///
/// # Errors
/// What the command says.
pub fn run(cli: Cli) -> Result<Outcome, Failure> {
    let done = match cli.command {
        Command::Serve(args) => serve::run(args),
        Command::Graph(args) => graph::run(&args),
        Command::Kinds(args) => kinds::run(&args),
        Command::Manifests(args) => manifests::run(args),
        Command::Schema(args) => schema::run(&args),
        Command::Certs(args) => certs::run(&args),
    };
    done.map(|()| Outcome::Clean)
}

/// Writes to the standard output. Whoever has stopped reading (`| head`) has seen enough.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
