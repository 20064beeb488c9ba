//! The command line: one file a command.

use std::io::Write as _;

use clap::{Parser, Subcommand};

pub mod certs;
mod cluster;
pub mod completions;
pub mod describe;
mod examples;
mod find;
pub mod impact;
pub mod kinds;
mod labels;
pub mod man;
pub mod manifests;
mod names;
pub mod policies;
mod render;
pub mod schema;
pub mod serve;
mod state;
mod unseen;
mod watch;

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
    #[command(after_help = examples::SERVE)]
    Serve(crate::serve::Args),
    /// Tell which policies act on an object, and what is in force on its paths.
    #[command(after_help = examples::DESCRIBE)]
    Describe(describe::Args),

    /// Tell what a change does before it is made: before and after, per effective target.
    #[command(after_help = examples::IMPACT)]
    Impact(impact::Args),
    /// List the policies: what each names, what it does, and how much it acts on.
    #[command(after_help = examples::POLICIES)]
    Policies(policies::Args),
    /// List the policy kinds, what is known of each, and where each fact came from.
    #[command(after_help = examples::KINDS)]
    Kinds(kinds::Args),
    /// Print the webhook configurations and the rights for the policy kinds of a cluster or directory.
    #[command(after_help = examples::MANIFESTS)]
    Manifests(manifests::Args),
    /// Print the JSON schema of a file that people write.
    #[command(after_help = examples::SCHEMA)]
    Schema(schema::Args),
    /// Print what a shell needs to complete the command line.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Args),
    /// Print or write the manual pages.
    #[command(hide = true)]
    #[command(after_help = examples::MAN)]
    Man(man::Args),
    /// Make a certificate authority and a serving certificate for a try-out.
    #[command(after_help = examples::CERTS)]
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
        Command::Describe(args) => describe::run(&args),

        Command::Impact(args) => return impact::run(&args),
        Command::Policies(args) => policies::run(&args),
        Command::Kinds(args) => kinds::run(&args),
        Command::Manifests(args) => manifests::run(args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
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

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::Cli;

    /// The commands of a line, pipes taken apart; words in quotes stay whole.
    fn attache_words(line: &str) -> Vec<Vec<String>> {
        let of_attache = |part: &str| {
            let part = part.split(" > ").next().unwrap_or(part);
            let words = shlex::split(part.trim())?;
            (words.first()? == "attache").then_some(words)
        };
        line.split(" | ").filter_map(of_attache).collect()
    }

    #[test]
    fn every_command_has_two_examples_and_they_parse() {
        Cli::command().debug_assert();
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_else(|| panic!("{name} has no examples"));
            let lines = help
                .lines()
                .filter_map(|line| line.trim().strip_prefix("$ "));
            let examples: Vec<Vec<String>> = lines.flat_map(attache_words).collect();
            assert!(examples.len() >= 2, "{name}: {} examples", examples.len());
            for words in examples {
                assert_eq!(words.get(1).map(String::as_str), Some(name));
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{words:?}: {error}");
                }
            }
        }
    }
}
