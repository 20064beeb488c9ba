//! `attache check`: all findings for a set of manifests as if applied together, or for the objects of a cluster.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum;

use super::progress::Progress;
use super::render::report as shown;
use super::render::report::text::{Closing, Reason};
use super::render::style::Style;
use super::rendered::{HELM_TO_APPLY, KUSTOMIZE_TO_APPLY};
use super::state::{FROM_BELOW, Scope, State};
use super::{CommandResult, Failure, print};
use crate::answer;
use crate::answer::report::{Report, Skipped};
use crate::engine::admission::finding::Severity;
use crate::engine::model::printable::escape;

mod baseline;
mod codes;
mod empty_input;
mod input;
mod judged;
mod of_change;
mod openreports;
mod overlays;
mod places;
mod rerouted_requests;

use codes::Codes;
use input::Input;
pub(super) use input::{configuration_among, in_directory};
use judged::Checked;
pub(super) use of_change::{ChangedObjects, ProposedChange};

/// The help of -n.
const NAMESPACE: &str = "Check only objects in this namespace; also the namespace of manifests that do not \
    set one. Defaults to all namespaces; manifests that do not set one get that of the \
    context, or `default` without a cluster";

/// Arguments of `attache check`.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("namespace", |argument| argument.help(NAMESPACE)),
    mut_arg("from", |argument| argument.help(FROM_BELOW)),
    mut_arg("kustomize", |argument| argument.help(KUSTOMIZE_TO_APPLY)),
    mut_arg("helm", |argument| argument.help(HELM_TO_APPLY))
)]
pub struct Args {
    /// Manifests to check: files, directories, or - for standard input. Objects of --from or of the cluster that are not
    /// among them stay; attache diff shows deletions. If omitted, checks the state in --from, or the cluster with
    /// --cluster, as it is.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Same as PATH, for kubectl users.
    #[arg(short = 'f', long = "filename", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Check the manifests as a change to the cluster; without manifests, the cluster as it is.
    #[arg(long, conflicts_with = "from")]
    cluster: bool,
    #[command(flatten)]
    state: State,
    #[command(flatten)]
    scope: Scope,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
    /// Lowest severity that causes exit code 1.
    #[arg(long, value_name = "SEVERITY", default_value = "deny")]
    fail_on: FailOn,
    /// A report written by -o json; its findings are known and never fail the check.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    codes: Codes,
    /// Pass if there is no object to check.
    #[arg(long)]
    allow_empty: bool,
}

/// The parts of the output that are shown only on request.
#[derive(Clone, Copy, Debug, clap::Args)]
struct More {
    /// Also show notices: findings that only inform; -o json always has them.
    #[arg(long)]
    notices: bool,
    /// List the files that are not manifests.
    #[arg(long)]
    show_skipped: bool,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Plain text.
    Text,
    /// The report as JSON.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// XML as `JUnit` writes it.
    #[value(help = "JUnit XML, a test case for each object")]
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A comment for a pull request, with collapsed details.
    Markdown,
    /// Reports of openreports.io as YAML, as `attache serve --reports` writes them; for a cluster or directory as it is.
    Openreports,
}

/// Severities that cause exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Findings with the severity deny.
    Deny,
    /// Findings with the severity deny or warn.
    Warn,
    /// Nothing.
    Never,
}

/// Runs the command.
///
/// # Errors
/// If a file, directory or cluster cannot be read, or the configuration or the baseline is wrong.
pub fn run(mut args: Args) -> Result<CommandResult, Failure> {
    let files = std::mem::take(&mut args.files);
    args.paths.extend(files);
    let args = &args;
    let progress = Progress::start("reading manifests");
    let known = args.baseline.as_deref().map(baseline::read).transpose()?;
    let inputs = Input::read(args)?;
    let closed = inputs.iter().any(|input| input.is_closed);
    let checked = inputs.iter().map(|input| {
        let label = input.label.as_deref();
        (label, judged::judge(input, &progress))
    });
    let Checked {
        mut report,
        objects,
        ..
    } = overlays::merged(checked.collect());
    if report.summary.deny == 0 {
        empty_input::refuse(args, &inputs)?;
    }
    report.skipped = skipped(&inputs);
    if let Some(known) = &known {
        report = baseline::compare(report, known);
    }
    drop(progress);
    let outcome = args.fail_on.outcome(&report);
    if args.output != Output::Json && !args.more.notices {
        report.findings.retain(|finding| !finding.notice);
    }
    let closing = Closing {
        notices: args.more.notices,
        reason: args.fail_on.reason(&report),
        is_closed: closed,
        show_skipped: args.more.show_skipped,
    };
    let text = match args.output {
        Output::Text => shown::text::text(&report, &closing, Style::of_stdout()),
        Output::Markdown => shown::markdown::markdown(&report, &closing),
        Output::Json => answer::json(&report)?,
        Output::Sarif => {
            let root = std::env::current_dir().ok();
            shown::sarif::sarif(&report, root.as_deref(), known.is_some())?
        }
        Output::Junit => shown::junit::junit(&report, &objects, args.fail_on == FailOn::Warn),
        Output::Github => shown::github::github(&report),
        Output::Openreports => openreports::text(args, &inputs)?,
    };
    print(&text)?;
    // Text and JSON contain it themselves.
    let says_it = matches!(args.output, Output::Text | Output::Json);
    if let Some(line) = shown::undefined(&report).filter(|_| !says_it) {
        eprintln!("attache: {}", escape(&line));
    }
    Ok(outcome)
}

/// The report on a change that is not made.
pub(super) fn of_change(change: ProposedChange<'_>) -> Report {
    let input = Input::of_change(change);
    Report {
        skipped: skipped(std::slice::from_ref(&input)),
        ..judged::judge(&input, &Progress::silent()).report
    }
}

/// The files and documents that are not manifests, without duplicates.
fn skipped(inputs: &[Input]) -> Vec<Skipped> {
    let all = inputs.iter().flat_map(|input| &input.skipped);
    let all: BTreeSet<Skipped> = all
        .map(|skipped| Skipped {
            file: places::shown(&skipped.file),
            line: (skipped.line > 0).then_some(skipped.line),
            reason: skipped.what.to_string(),
        })
        .collect();
    all.into_iter().collect()
}

// === impl FailOn ===

impl FailOn {
    fn outcome(self, report: &Report) -> CommandResult {
        if self.failing(report) > 0 {
            CommandResult::Findings
        } else {
            CommandResult::Clean
        }
    }

    /// The number of findings that make the check fail.
    fn failing(self, report: &Report) -> usize {
        let counted = report.findings.iter().filter(|finding| finding.counts());
        match self {
            Self::Deny => counted
                .filter(|finding| finding.severity == Severity::Deny)
                .count(),
            Self::Warn => counted.count(),
            Self::Never => 0,
        }
    }

    /// Why the check passes or fails, for the last line.
    fn reason(self, report: &Report) -> Reason {
        let summary = &report.summary;
        match (self, self.failing(report)) {
            (Self::Never, _) if summary.deny + summary.warn > 0 => Reason::Never,
            (Self::Deny, 0) if summary.warn > 0 => Reason::OnlyWarnings,
            (_, 0) => Reason::Nothing,
            (Self::Warn, failing) => Reason::Warnings(failing),
            (_, failing) => Reason::Denied(failing),
        }
    }
}
