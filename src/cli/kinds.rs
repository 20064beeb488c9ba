//! `attache kinds`: the policy kinds, and the facts about each with their sources.

use clap_complete::engine::ArgValueCompleter;

use super::output::{self, Output};
use super::render::kinds::{details, table};
use super::state::{Definitions, State};
use super::{Failure, complete};
use crate::answer::document;
use crate::answer::kinds::{Kind, kinds};
use crate::engine::model::hint::nearest;

/// Arguments of `attache kinds`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show all facts about one kind: `AuthPolicy`, or `AuthPolicy.kuadrant.io` if several kinds have that name.
    #[arg(value_name = "KIND[.GROUP]", add = ArgValueCompleter::new(complete::kinds))]
    kind: Option<String>,
    #[command(flatten)]
    state: State,
    /// Also list known kinds that are not installed.
    #[arg(long)]
    all: bool,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::ALL)]
    output: Output,
}

/// The remedy for a kind that attache has no facts about.
const HOW_TO_ADD: &str = "attache kinds --all lists those that it knows (without a cluster, add --from DIR); \
    for another kind, write a profile (docs/how-to/add-a-policy-kind.md)";

/// The message that a policy kind is not known, with the nearest name.
pub(super) fn unknown(wanted: &str, known: &[&str]) -> String {
    let (name, _) = wanted.split_once('.').unwrap_or((wanted, ""));
    let remedy = match nearest(name, known) {
        Some(near) => format!("did you mean {near}?"),
        None => HOW_TO_ADD.to_owned(),
    };
    format!("{wanted} is not a policy kind that attache knows; {remedy}")
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, or the kind is not known.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Definitions { rules, crds, used } = args.state.definitions()?;
    let mut answer = kinds(&rules, &crds, &used, args.all || args.kind.is_some());
    if let Some(wanted) = &args.kind {
        if !answer.kinds.iter().any(|kind| kind.is_called(wanted)) {
            let known: Vec<&str> = answer.kinds.iter().map(|kind| &*kind.kind).collect();
            return Err(unknown(wanted, &known).into());
        }
        answer.kinds.retain(|kind| kind.is_called(wanted));
    }
    let style = args.output.style();
    let text = match args.output.program(&document(&answer))? {
        Some(text) => text,
        None => match args.output {
            Output::Name => {
                let name = |kind: &Kind| format!("{}.{}\n", kind.kind.to_lowercase(), kind.group);
                answer.kinds.iter().map(name).collect()
            }
            _ if args.kind.is_some() => {
                let each = answer.kinds.iter().map(|kind| details(kind, style));
                each.collect()
            }
            _ => table(&answer, style),
        },
    };
    super::print(&text)
}
