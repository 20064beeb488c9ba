//! `attache test`: tests of the policies in force, of requests, of changes and of guardrails, in files beside manifests.

use std::cell::RefCell;
use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;

use super::render::style::Style;
use super::render::tested::{junit, junit_of_error, text};
use super::state::{Scope, State};
use super::watch::{self, Files, Query, WatchedState, Watching};
use super::{CommandResult, Failure, complete, print};
use crate::answer;
use crate::answer::tested::TestReport;
use crate::cache::reload::Fingerprint;

mod change;
mod difference;
mod effective;
mod file;
mod finding;
mod guardrail;
mod left_out;
mod out_of_place;
mod read;
mod record;
mod request;
mod run;
mod subject;
mod taken;
mod test_result;
mod test_state;

pub(super) use file::TestFile;
use run::Suite;
use test_state::ReadOptions;

/// The help of -n.
const NAMESPACE: &str = "The namespace of manifests that do not set one, `default` by default. With --record, \
    also the namespace of TARGET, and of the routes to record if there is no TARGET: by \
    default that of the context; for files, all namespaces";

/// Arguments of `attache test`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    /// Files with tests, or directories with files *.attache.yaml; the working directory by default.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run only tests whose names contain this; can be repeated.
    #[arg(long, value_name = "NAME")]
    filter: Vec<String>,
    /// Instead of running tests, write what is in force now on these targets (KIND/NAME) as a file of tests; on all
    /// routes if none is named. Reads the cluster, or the directory in --from.
    #[arg(long, value_name = "TARGET", num_args = 0.., conflicts_with_all = ["paths", "filter", "output", "watch"], add = ArgValueCompleter::new(complete::objects))]
    record: Option<Vec<String>>,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
    #[command(flatten)]
    watching: Watching,
    #[command(flatten)]
    scope: Scope,
    #[command(flatten)]
    state: State,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Plain text.
    Text,
    /// The report as JSON.
    Json,
    /// XML as `JUnit` writes it.
    #[value(help = "JUnit XML, a suite for each file")]
    Junit,
}

impl WatchedState for TestReport {
    fn missing_lines(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Runs the command.
///
/// # Errors
/// If there are no tests, or a file of tests, manifests or the configuration cannot be read.
pub fn run(args: &Args) -> Result<CommandResult, Failure> {
    if let Some(targets) = &args.record {
        let written = record::record(targets, &args.state, &args.scope)?;
        return print(&written).map(|()| CommandResult::Clean);
    }
    args.refuse_other_states()?;
    if args.watching.watch {
        let mut files = args.followed();
        let looked: &mut dyn Query<TestReport> = &mut files;
        watch::to_stdout(looked, |report, _| args.output.show(report))?;
        return Ok(CommandResult::Clean);
    }
    let how = args.reading();
    let report = Suite::read(&args.paths(), &how).and_then(|suite| suite.run(&how, &args.filter));
    let report = match report {
        // A CI that shows this file shows why no test ran.
        Err(why) if args.output == Output::Junit => {
            print(&junit_of_error(&why.to_string()))?;
            return Err(why);
        }
        report => report?,
    };
    print(&args.output.show(&report)?)?;
    Ok(if report.summary.failed == 0 {
        CommandResult::Clean
    } else {
        CommandResult::Findings
    })
}

// === impl Args ===

impl Args {
    /// A file of tests says itself which manifests it is about.
    fn refuse_other_states(&self) -> Result<(), Failure> {
        let state = &self.state;
        let others = [
            ("--from", state.from.is_some()),
            ("--kubeconfig", state.access.kubeconfig.is_some()),
            ("--context", state.access.context.is_some()),
            ("--as", state.access.user.is_some()),
            ("-k and --helm", !state.rendered.is_empty()),
        ];
        match others.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(format!(
                "{name} is for --record: the file of tests says in from: which manifests it is about"
            )
            .into()),
            None => Ok(()),
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() {
            vec![PathBuf::from(".")]
        } else {
            self.paths.clone()
        }
    }

    fn reading(&self) -> ReadOptions {
        ReadOptions {
            config: self.state.config.clone(),
            links: self.state.links(),
            namespace: self.scope.of_files().to_owned(),
        }
    }

    /// The tests, run again when a file changes that they depend on.
    fn followed(&self) -> impl Query<TestReport> + '_ {
        let how = self.reading();
        let links = how.links;
        let named: Vec<PathBuf> = self.paths().into_iter().chain(how.config.clone()).collect();
        let others: RefCell<Vec<PathBuf>> = RefCell::default();
        let others = std::rc::Rc::new(others);
        let known = others.clone();
        Files {
            fingerprint: move || {
                let all: Vec<PathBuf> = named
                    .iter()
                    .cloned()
                    .chain(known.borrow().clone())
                    .collect();
                Fingerprint::from_paths(&all, links)
            },
            read: move || {
                let suite = Suite::read(&self.paths(), &how)?;
                *others.borrow_mut() = suite.depends_on();
                suite.run(&how, &self.filter)
            },
            first: None,
            seen: None,
        }
    }
}

// === impl Output ===

impl Output {
    fn show(self, report: &TestReport) -> Result<String, Failure> {
        Ok(match self {
            Self::Text => text(report, Style::of_stdout()),
            Self::Json => answer::json(report)?,
            Self::Junit => junit(report),
        })
    }
}
