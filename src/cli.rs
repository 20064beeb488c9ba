//! The command line: one file per command.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::CompleteEnv;
use colorchoice::ColorChoice;

pub mod certs;
pub mod check;
mod cluster;
pub mod complete;
pub mod completions;
pub mod describe;
pub mod diff;
mod examples;
pub mod explain;
mod find;
pub mod graph;
pub mod guardrails;
pub mod health;
pub mod help;
pub mod impact;
mod jsonpath;
pub mod kinds;
mod labels;
pub mod man;
pub mod manifests;
mod missing_parts;
mod names;
mod output;
pub mod policies;
pub mod probe;
mod progress;
mod render;
mod rendered;
pub mod schema;
pub mod serve;
mod state;
pub mod test;
mod time;
pub mod ui;
pub mod version;
mod watch;
mod written_guardrails;

use crate::engine::model::printable::escape;

/// Shows which Gateway API policies are in force, and warns before a change takes one away.
#[derive(Debug, Parser)]
#[command(name = "attache", version, about, disable_help_subcommand = true)]
pub struct Cli {
    /// When to use colors.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: Color,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If the output is a terminal and `NO_COLOR` is not set.
    Auto,
    /// Always use colors.
    Always,
    /// Never use colors.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the admission webhook server, for a cluster or a directory of manifests.
    #[command(after_help = examples::SERVE)]
    Serve(crate::serve::Args),
    /// Check manifests, as one change, or a cluster for policy problems.
    #[command(after_help = examples::CHECK)]
    Check(check::Args),
    /// Show which policies apply to an object, and the effective policy on each path.
    #[command(after_help = examples::DESCRIBE)]
    Describe(describe::Args),
    /// Show the effect of a change before you make it: before and after, per effective target.
    #[command(after_help = examples::IMPACT)]
    Impact(impact::Args),
    /// Compare two states: show what is in force in one directory, git revision or cluster and not in another.
    #[command(after_help = examples::DIFF)]
    Diff(diff::Args),
    /// Show the topology and its policies, as a tree or a picture.
    #[command(after_help = examples::GRAPH)]
    Graph(graph::Args),
    /// List policies with their targets, their states, and the number of objects they apply to.
    #[command(after_help = examples::POLICIES)]
    Policies(policies::Args),
    /// Show the Gateway, listener, route, rule and backend of a request, and the policies that apply to it.
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Args),

    /// Show which targets fulfil the guardrails and which do not, and the exceptions.
    #[command(after_help = examples::GUARDRAILS)]
    Guardrails(guardrails::Args),
    /// Run tests of the policies in force, of requests, and of changes, on manifests.
    #[command(after_help = examples::TEST)]
    Test(test::Args),
    /// Show a cluster or directory on a page in the browser, which changes with it.
    #[command(after_help = examples::UI)]
    Ui(ui::Args),
    /// List the policy kinds, with the facts about each and their sources.
    #[command(after_help = examples::KINDS)]
    Kinds(kinds::Args),
    /// Print health checks for policies: for Argo CD in Lua, for Flux in CEL.
    #[command(after_help = examples::HEALTH)]
    Health(health::Args),
    /// Print the webhook configurations and RBAC rules for the policy kinds of a cluster or directory.
    #[command(after_help = examples::MANIFESTS)]
    Manifests(manifests::Args),
    /// Ask a running webhook server whether it is ready and answers reviews.
    #[command(after_help = examples::PROBE)]
    Probe(probe::Args),
    /// Explain a command or the code of a finding.
    #[command(after_help = examples::HELP)]
    Help(help::Args),
    /// Print the JSON schema of an input file or of the output of a command.
    #[command(after_help = examples::SCHEMA)]
    Schema(schema::Args),
    /// Print a shell completion script.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::Args),
    /// Print or write the man pages.
    #[command(hide = true)]
    #[command(after_help = examples::MAN)]
    Man(man::Args),
    /// Print the version.
    #[command(after_help = examples::VERSION)]
    Version(version::Args),
    /// Complete for kubectl.
    #[command(name = "__complete", hide = true)]
    #[command(after_help = examples::COMPLETE)]
    Complete(complete::Args),
    /// Create a certificate authority and a serving certificate for testing.
    #[command(after_help = examples::CERTS)]
    Certs(certs::Args),
}

/// Why a command failed, as a message for the user.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of a command that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandResult {
    /// No findings.
    Clean,
    /// There are findings that fail the command.
    Findings,
}

/// The environment variable by which a shell asks for completions.
const VARIABLE: &str = "COMPLETE";
/// The program that kubectl runs for `kubectl attache`.
const PLUGIN: &str = "kubectl-attache";

/// Parses the arguments of this process. When called as a kubectl plugin, usage texts say `kubectl attache`.
///
/// When called by a shell for completions, prints them and exits.
pub fn parse() -> Cli {
    let called = std::env::args_os().next();
    let called = called.as_deref().map(Path::new);
    if name(called) == Some(complete::PLUGIN) {
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let done = complete::for_kubectl(&words);
        std::process::exit(i32::from(done.is_err()));
    }
    CompleteEnv::with_factory(|| command(None))
        .var(VARIABLE)
        .complete();
    let matches = command(called).try_get_matches();
    let read = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = read.unwrap_or_else(|error| refuse(&error));
    match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    cli
}

/// Prints the mistake in the arguments and exits. Control characters from the arguments are
/// escaped.
fn refuse(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    let safe = escaped(&text);
    if !error.use_stderr() || safe == text.trim_end() {
        error.exit();
    }
    eprintln!("{safe}");
    std::process::exit(error.exit_code());
}

/// Prints why a command failed.
pub fn say(failure: &Failure) {
    eprintln!("attache: {}", escaped(&failure.to_string()));
}

/// Escapes each line of a text.
fn escaped(text: &str) -> String {
    let lines = text.lines().map(escape);
    lines
        .collect::<Vec<String>>()
        .join("\n")
        .trim_end()
        .to_owned()
}

/// The name that a program was called by.
fn name(called: Option<&Path>) -> Option<&str> {
    called.and_then(Path::file_stem)?.to_str()
}

fn command(called: Option<&Path>) -> clap::Command {
    if name(called) != Some(PLUGIN) {
        return complete::with_namespaces(Cli::command());
    }
    let typed = |text: &str| {
        let text = text.replace("$ attache ", "$ kubectl attache ");
        text.replace("| attache ", "| kubectl attache ")
    };
    let command = Cli::command().bin_name("kubectl attache");
    command.mut_subcommands(
        |command| match command.get_after_help().map(ToString::to_string) {
            Some(examples) => command.after_help(typed(&examples)),
            None => command,
        },
    )
}

/// Runs a command.
///
/// # Errors
/// Those of the command.
pub fn run(cli: Cli) -> Result<CommandResult, Failure> {
    let done = match cli.command {
        Command::Check(args) => return check::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Describe(args) => describe::run(&args),
        Command::Impact(args) => return impact::run(&args),
        Command::Diff(args) => return diff::run(&args),
        Command::Policies(args) => policies::run(&args),
        Command::Explain(args) => return explain::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Guardrails(args) => return guardrails::run(&args),
        Command::Test(args) => return test::run(&args),
        Command::Ui(args) => ui::run(&args),
        Command::Kinds(args) => kinds::run(&args),
        Command::Health(args) => health::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Help(args) => help::run(&args),
        Command::Manifests(args) => manifests::run(args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Complete(args) => complete::run(&args),
        Command::Version(args) => version::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Certs(args) => certs::run(&args),
    };
    done.map(|()| CommandResult::Clean)
}

/// Writes to standard output. A closed pipe (`| head`) is not an error.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{CommandFactory as _, Parser as _};

    use super::{Cli, command};

    /// The attache commands in a shell line, one per part of a pipe, split into words.
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
    #[test]
    fn usage_says_what_is_typed() {
        let usage = |called: &str, args: &[&str]| {
            let mut command = command(Some(Path::new(called)));
            let args = std::iter::once(called).chain(args.iter().copied());
            let error = command.try_get_matches_from_mut(args).unwrap_err();
            error.to_string()
        };
        let plugin = "/usr/local/bin/kubectl-attache";
        let text = usage(plugin, &["describe", "--help"]);
        assert!(text.contains("Usage: kubectl attache describe"), "{text}");
        assert!(
            text.contains("$ kubectl attache describe httproute"),
            "{text}"
        );
        let text = usage(plugin, &["--version"]);
        assert!(text.starts_with("attache "), "{text}");
        let text = usage("/usr/bin/attache", &["describe"]);
        assert!(text.contains("Usage: attache describe"), "{text}");
    }
}
