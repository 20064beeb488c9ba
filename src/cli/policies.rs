//! `attache policies`: every policy with its targets, its state, and the number of objects it applies to.

use std::collections::BTreeSet;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap_complete::engine::ArgValueCompleter;
use jiff::Timestamp;

use super::kinds::unknown;
use super::names::split;
use super::output::{self, Output};
use super::render::phrases::names_of;
use super::render::policies::{Form, lines, totals};
use super::render::style::Style;
use super::state::{Opened, Scope, State, View};
use super::watch::Watching;
use super::{Failure, complete, find, labels, print};
use crate::answer;
use crate::answer::policies::{PolicyQuery, policies};
use crate::answer::state::PolicyState;
use crate::cache::lists::ReadScope;
use crate::engine::admission::validate::is_target_kind;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::{GroupKind, Place};
use crate::engine::model::selector::Selector;
use crate::engine::state::snapshot::Snapshot;

/// The help of -n.
const NAMESPACE: &str = "List only policies in this namespace; with --acting-on, the namespace of the object. \
    Also the namespace of manifests that do not set one. Defaults to the namespace of \
    the context; for files, to all namespaces, and `default` for manifests that do not \
    set one";

/// Arguments of `attache policies`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    /// List only policies of this kind: `retrypolicies`, `RetryPolicy.policies.example.com`.
    #[arg(value_name = "KIND[.GROUP]", add = ArgValueCompleter::new(complete::kinds))]
    kind: Option<String>,
    #[command(flatten)]
    scope: Scope,
    /// List only policies that match this label selector: `a=b,c!=d,e in (x,y),!f`.
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = labels::selector)]
    selector: Option<Selector>,
    /// List only policies that apply to this object, in any namespace; -n is the namespace of the object.
    #[arg(long, value_name = "KIND/NAME[#SECTION]", add = ArgValueCompleter::new(complete::one_object))]
    acting_on: Option<String>,
    /// List only policies in these states, separated by commas.
    #[arg(long, value_name = "STATE", value_delimiter = ',', ignore_case = true,
          value_parser = PossibleValuesParser::new(PolicyState::ALL.map(PolicyState::as_str)).map(|word| state(&word)))]
    state: Vec<PolicyState>,
    /// Sort order: by kind, namespace and name; oldest first; or by the number of objects, most first.
    #[arg(long, value_name = "BY", default_value = "name")]
    sort: Sort,
    /// Show the number of policies by namespace and kind instead of the policies.
    #[arg(long)]
    summary: bool,
    /// Omit headings and totals.
    #[arg(long)]
    no_headers: bool,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::ALL)]
    output: Output,
    #[command(flatten)]
    watching: Watching,
    #[command(flatten)]
    at: State,
}

/// The query, with names resolved to kinds and objects.
struct About {
    kind: Option<GroupKind>,
    /// Whether the kind is cluster-scoped.
    of_cluster: bool,
    acting_on: Option<Place>,
    /// The namespace whose policies are listed. `None`: all.
    within: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sort {
    Name,
    Age,
    ActsOn,
}

/// Runs the command.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, or the kind or object of the query does not
/// exist.
pub fn run(args: &Args) -> Result<(), Failure> {
    let opened = args.at.open_watching(&args.scope, args.watching)?;
    let acting_on = args.acting_on.as_deref();
    let acting_on = acting_on.map(|word| named(&opened, word));
    let (acting_on, kind) = (acting_on.transpose()?, args.kind.as_deref());
    let names = &opened.names;
    let kind = kind.map(|word| names.kind(word)).transpose()?;
    let about = About {
        of_cluster: kind.as_ref().is_some_and(|kind| !names.namespaced(kind)),
        kind,
        acting_on,
        within: opened.within(),
    };
    if args.watching.watch {
        let answer = |view: &View, now| Ok(answer(args, &about, view, now)?.0);
        return opened.watch(&ReadScope::Everything, answer);
    }
    let view = opened.view(&ReadScope::Everything);
    view.say_what_is_missing();
    view.say_what_is_undefined();
    let (text, none) = answer(args, &about, &view, Timestamp::now())?;
    if let Some(none) = none {
        let seen = if view.missing.is_empty() {
            ""
        } else {
            " in what could be read"
        };
        eprintln!("attache: {}", escape(&format!("{none}{seen}")));
    }
    print(&text)
}

/// The output, and the message for an empty list.
fn answer(
    args: &Args,
    about: &About,
    view: &View,
    now: Timestamp,
) -> Result<(String, Option<String>), Failure> {
    let snapshot = &view.snapshot;
    if let Some(kind) = &about.kind {
        is_policy_kind(snapshot, kind)?;
    }
    let acting_on = about.acting_on.as_ref();
    let acting_on = acting_on.map(|place| find::place(snapshot, place));
    let acting_on = acting_on.transpose()?;
    let of_cluster = about.of_cluster;
    let within = about.within.as_deref();
    let within = within.filter(|_| acting_on.is_none() && !of_cluster);
    let everywhere = within.is_none();
    let asked = PolicyQuery {
        kind: about.kind.clone(),
        namespace: within.map(Into::into),
        selector: args.selector.clone().unwrap_or_default(),
        acting_on,
        states: args.state.iter().copied().collect(),
        sort: match args.sort {
            Sort::Name => answer::policies::Sort::Name,
            Sort::Age => answer::policies::Sort::Age,
            Sort::ActsOn => answer::policies::Sort::ActsOn,
        },
        undated: &view.undated,
    };
    let answer = policies(snapshot, &asked);
    let form = Form {
        style: Style::of_stdout(),
        namespaces: everywhere && !of_cluster,
        wide: args.output == Output::Wide,
        headings: !args.no_headers,
    };
    if let Some(text) = args.output.program(&answer::document(&answer))? {
        return Ok((text, None));
    }
    Ok(match args.output {
        Output::Name => (
            names_of(answer.policies.iter().map(|listed| &listed.policy)),
            None,
        ),
        _ if answer.policies.is_empty() => (String::new(), Some(none(snapshot, &asked))),
        _ if args.summary => (totals(&answer, &form), None),
        _ => (lines(&answer, &form, now), None),
    })
}

/// The message for an empty list; it says where there are such policies.
fn none(snapshot: &Snapshot, asked: &PolicyQuery<'_>) -> String {
    let kind_words = match &asked.kind {
        Some(kind) => format!("policies of kind {kind}"),
        None => "policies".to_owned(),
    };
    let narrowed = !asked.states.is_empty() || !asked.selector.is_empty();
    let such = if narrowed { "such " } else { "" };
    if let Some(place) = &asked.acting_on {
        let place = escape(&place.to_string());
        return format!("no {such}{kind_words} apply to {place}");
    }
    if let Some(why) = none_in_state(snapshot, asked, &kind_words) {
        return why;
    }
    let Some(namespace) = &asked.namespace else {
        return format!("there are no {such}{kind_words}");
    };
    let all = PolicyQuery {
        namespace: None,
        ..asked.clone()
    };
    let elsewhere = policies(snapshot, &all).policies.len();
    let hint = match elsewhere {
        0 => String::new(),
        some => format!("; {some} in all namespaces: use -A"),
    };
    let namespace = escape(namespace);
    format!("there are no {such}{kind_words} in namespace {namespace}{hint}")
}

/// The message that no policy has one of the states that `--state` names, with the states that the policies have: a policy
/// that is overridden on some paths is not Overridden. `None` if the states are not the reason for the empty list.
fn none_in_state(snapshot: &Snapshot, asked: &PolicyQuery<'_>, kind_words: &str) -> Option<String> {
    let any_state = PolicyQuery {
        states: BTreeSet::new(),
        ..asked.clone()
    };
    let others = policies(snapshot, &any_state);
    if asked.states.is_empty() || others.policies.is_empty() {
        return None;
    }
    let states: Vec<&str> = asked.states.iter().map(|state| state.as_str()).collect();
    let there = PolicyState::ALL.into_iter().filter_map(|state| {
        let of_state = others.policies.iter().filter(|one| one.state == state);
        match of_state.count() {
            0 => None,
            count => Some(format!("{count} {}", state.as_str())),
        }
    });
    let there: Vec<String> = there.collect();
    let place = match &asked.namespace {
        Some(namespace) => format!(" in namespace {}", escape(namespace)),
        None => String::new(),
    };
    let is_partly = asked.states.contains(&PolicyState::Overridden)
        && others
            .policies
            .iter()
            .any(|one| one.state == PolicyState::PartiallyEnforced);
    let partly = if is_partly {
        "; a policy that is overridden on some paths only is PartiallyEnforced"
    } else {
        ""
    };
    Some(format!(
        "no {kind_words}{place} have the state {}; there are {}{partly}",
        states.join(" or "),
        there.join(", ")
    ))
}

fn named(opened: &Opened, word: &str) -> Result<Place, Failure> {
    let words = [word.to_owned()];
    match split(&words)? {
        (kind, Some(name)) => Ok(opened.place(kind, name)?),
        (kind, None) => Err(format!("--acting-on {kind}: write KIND/NAME").into()),
    }
}

/// Checks that a kind is a policy kind.
fn is_policy_kind(snapshot: &Snapshot, kind: &GroupKind) -> Result<(), String> {
    if snapshot.profile(kind).is_some() {
        return Ok(());
    }
    if is_target_kind(kind) && &*kind.kind != "ReferenceGrant" {
        let word = kind.kind.to_lowercase();
        return Err(format!(
            "{kind} is not a policy kind; attache policies --acting-on {word}/NAME lists the policies that apply to one"
        ));
    }
    let known: BTreeSet<&str> = snapshot.policy_kinds().map(|gk| &*gk.kind).collect();
    let known: Vec<&str> = known.into_iter().collect();
    Err(unknown(&kind.to_string(), &known))
}

fn state(word: &str) -> PolicyState {
    let mut all = PolicyState::ALL.into_iter();
    let known = all.find(|state| state.as_str().eq_ignore_ascii_case(word));
    known.unwrap_or(PolicyState::NoEffect)
}
