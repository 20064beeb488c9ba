//! `attache check`: all findings for a set of manifests as if applied together, or for what is there.

use std::path::PathBuf;

use clap::ValueEnum;

use super::progress::Progress;
use super::render::report as shown;
use super::render::style::Style;
use super::state::State;
use super::{Failure, Outcome, print};
use crate::answer;
use crate::answer::report::Report;
use crate::engine::finding::Severity;

mod baseline;
mod input;
mod judged;
mod places;

use input::Input;
use judged::Checked;

/// Arguments of `attache check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Manifests: files, directories, or - for the standard input. Without any, what is in the cluster
    /// or in --from is checked.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Put the manifests on top of what is in the cluster.
    #[arg(long, conflicts_with = "from")]
    cluster: bool,
    #[command(flatten)]
    state: State,
    /// The namespace of what says none. Without PATH, check only what is in it.
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// How to print.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
    /// From which findings on to exit with 1.
    #[arg(long, value_name = "SEVERITY", default_value = "deny")]
    fail_on: FailOn,
    /// A report that was written by -o json; what is in it does not count.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also show what only tells which policies are in force; -o json always has it.
    #[arg(long)]
    notices: bool,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Lines for people.
    Text,
    /// The report as data.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// XML as `JUnit` writes it.
    #[value(help = "JUnit XML, a test case for each object")]
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
}

/// What makes the command exit with 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Findings that refuse.
    Deny,
    /// Any finding.
    Warn,
    /// Nothing.
    Never,
}

/// Runs the command.
///
/// # Errors
/// When there is no such file, directory or cluster, or the configuration or the baseline is wrong.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let progress = Progress::start("reading manifests");
    let known = args.baseline.as_deref().map(baseline::read).transpose()?;
    let Checked {
        mut report,
        objects,
    } = judged::judge(&Input::read(args)?, &progress);
    if let Some(known) = &known {
        report = baseline::compare(report, known);
    }
    drop(progress);
    let outcome = args.fail_on.outcome(&report);
    if args.output != Output::Json && !args.notices {
        report.findings.retain(|finding| !finding.notice);
    }
    let text = match args.output {
        Output::Text => shown::text::text(&report, args.notices, Style::of_stdout()),
        Output::Json => answer::json(&report)?,
        Output::Sarif => {
            let root = std::env::current_dir().ok();
            shown::sarif::sarif(&report, root.as_deref(), known.is_some())?
        }
        Output::Junit => shown::junit::junit(&report, &objects, args.fail_on == FailOn::Warn),
        Output::Github => shown::github::github(&report),
    };
    print(&text)?;
    // The text and the data have it in themselves.
    let says_it = matches!(args.output, Output::Text | Output::Json);
    if let Some(line) = shown::undefined(&report).filter(|_| !says_it) {
        eprintln!("attache: {line}");
    }
    Ok(outcome)
}

// === impl FailOn ===

impl FailOn {
    fn outcome(self, report: &Report) -> Outcome {
        let mut counted = report.findings.iter().filter(|finding| finding.counts());
        let fails = match self {
            Self::Deny => counted.any(|finding| finding.severity == Severity::Deny),
            Self::Warn => counted.next().is_some(),
            Self::Never => false,
        };
        if fails {
            Outcome::Findings
        } else {
            Outcome::Clean
        }
    }
}
