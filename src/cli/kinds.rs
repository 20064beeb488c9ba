//! `attache kinds`: policy kinds, what is known of each, and where each fact came from.

use super::Failure;
use super::output::Output;
use super::render::kinds::{details, table};
use super::render::style::Style;
use super::state::{Definitions, State};
use crate::answer::json;
use crate::answer::kinds::{Kind, kinds};

/// Arguments of `attache kinds`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One kind with every fact: `AuthPolicy`, or `AuthPolicy.kuadrant.io` where there are several.
    #[arg(value_name = "KIND[.GROUP]")]
    kind: Option<String>,
    #[command(flatten)]
    state: State,
    /// Also the kinds that attache knows and that are not there.
    #[arg(long)]
    all: bool,
    /// How to print.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// When there is no such directory or cluster, the configuration is wrong, or the kind is not known.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Definitions { rules, crds, used } = args.state.definitions()?;
    let mut found = kinds(&rules, &crds, &used, args.all || args.kind.is_some());
    if let Some(wanted) = &args.kind {
        found.kinds.retain(|kind| is_named(kind, wanted));
        if found.kinds.is_empty() {
            return Err(format!("{wanted} is not a policy kind that is known here").into());
        }
    }
    let text = match args.output {
        Output::Json => json(&found)?,
        Output::Text if args.kind.is_some() => found.kinds.iter().map(details).collect(),
        Output::Text => table(&found, Style::of_stdout()),
    };
    super::print(&text)
}

/// Whether a kind is called so: by kind, or by kind and group; without case.
fn is_named(kind: &Kind, wanted: &str) -> bool {
    let (name, group) = wanted.split_once('.').unwrap_or((wanted, ""));
    kind.kind.eq_ignore_ascii_case(name)
        && (group.is_empty() || kind.group.eq_ignore_ascii_case(group))
}
