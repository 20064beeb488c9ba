//! `attache describe`: which policies act on an object, and what is in force.

use jiff::Timestamp;

use super::names::split;
use super::output::Output;
use super::render::description::show;
use super::render::style::Style;
use super::state::{Opened, Scope, State, View};
use super::watch::{self, Watching};
use super::{Failure, find, labels};
use crate::answer::description::{Description, Descriptions, kind, policy, target};
use crate::answer::json;
use crate::answer::workload::{is_workload, workload};
use crate::cache::lists::Wants;
use crate::engine::effective::Survey;
use crate::engine::ids::{GroupKind, ObjectKey, Place};
use crate::engine::selector::Selector;
use crate::engine::verdict::escape;

/// Arguments of `attache describe`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What: KIND/NAME, KIND/NAME#SECTION, KIND for all of it in the namespace, or kind/POLICYKIND.
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    what: Vec<String>,
    #[command(flatten)]
    state: State,
    #[command(flatten)]
    scope: Scope,
    /// Without a name, only objects with these labels: `a=b,c!=d,e in (x,y),!f`.
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = labels::selector)]
    selector: Option<Selector>,
    /// How to print.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
    #[command(flatten)]
    watching: Watching,
}

/// What policy kinds are asked for by.
const KIND_OF_KINDS: [&str; 2] = ["kind", "kinds"];

/// What was asked about.
enum Asked {
    One(Place),
    All(GroupKind),
    Kind(GroupKind),
}

/// Runs the command.
///
/// # Errors
/// When there is no such object, directory or cluster.
pub fn run(args: &Args) -> Result<(), Failure> {
    let opened = args.state.open(&args.scope)?;
    let namespace = opened.namespace.clone();
    let asked = asked(&opened, &args.what, args.scope.all_namespaces)?;
    let wants = match &asked {
        Asked::One(place) => Wants::Around(vec![place.object.clone()]),
        Asked::All(_) | Asked::Kind(_) => Wants::Everything,
    };
    let answer = |view: &View, now| answer(args, &asked, &namespace, view, now);
    if args.watching.watch {
        return watch::run(opened, &wants, answer);
    }
    let view = opened.view(&wants);
    view.say_what_is_missing();
    view.say_what_is_undefined();
    super::print(&answer(&view, Timestamp::now())?)
}

fn answer(
    args: &Args,
    asked: &Asked,
    namespace: &str,
    view: &View,
    now: Timestamp,
) -> Result<String, Failure> {
    let mut survey = Survey::new(&view.snapshot);
    let (found, one) = match asked {
        Asked::One(place) => (vec![describe(&mut survey, view, place)?], true),
        Asked::All(gk) => {
            let within = (!args.scope.all_namespaces).then_some(namespace);
            let selector = args.selector.clone().unwrap_or_default();
            let keys = all(view, gk, within, &selector);
            if keys.is_empty() {
                let place = within.map_or_else(String::new, |ns| format!(" in namespace {ns}"));
                eprintln!("attache: there is no {gk}{place}");
            }
            let each = keys
                .iter()
                .map(|key| describe(&mut survey, view, &key.whole()));
            (each.collect::<Result<_, _>>()?, false)
        }
        Asked::Kind(gk) => {
            let about = kind(&view.snapshot, &view.rules, gk, &view.undated);
            let about = about.ok_or_else(|| format!("{gk} is not a policy kind"))?;
            (vec![Description::Kind(Box::new(about))], true)
        }
    };
    Ok(match (args.output, found.as_slice()) {
        (Output::Text, found) => show(found, Style::of_stdout(), now),
        (Output::Json, [description]) if one => json(description)?,
        (Output::Json, _) => json(&Descriptions { items: found })?,
    })
}

fn asked(opened: &Opened, words: &[String], all_namespaces: bool) -> Result<Asked, Failure> {
    let (kind, name) = split(words)?;
    match name {
        Some(name) if KIND_OF_KINDS.contains(&kind.to_lowercase().as_str()) => {
            Ok(Asked::Kind(opened.names.kind(name)?))
        }
        Some(_) if all_namespaces => {
            Err("an object is in one namespace: say it with -n instead of -A".into())
        }
        Some(name) => Ok(Asked::One(opened.names.place(
            kind,
            name,
            &opened.namespace,
        )?)),
        None => Ok(Asked::All(opened.names.kind(kind)?)),
    }
}

/// The objects of a kind, within a namespace if they live in any; sorted.
fn all(view: &View, gk: &GroupKind, within: Option<&str>, with: &Selector) -> Vec<ObjectKey> {
    let objects = view.snapshot.objects(gk);
    let selected = objects.filter(|object| with.selects(&object.meta.labels));
    let keys = selected.map(|object| object.key.clone());
    let mut keys: Vec<ObjectKey> = keys
        .filter(|key| key.namespace.is_empty() || within.is_none_or(|ns| *key.namespace == *ns))
        .collect();
    keys.sort();
    keys
}

fn describe(survey: &mut Survey<'_>, view: &View, place: &Place) -> Result<Description, Failure> {
    let key = &place.object;
    view.read(key)?;
    if let Some(found) = view.snapshot.policy(key) {
        return Ok(Description::Policy(policy(survey, found)));
    }
    if is_workload(&key.gk) {
        let found = workload(survey, &view.objects, key).map(Description::Workload);
        return found.ok_or_else(|| format!("there is no {}", escape(&key.to_string())).into());
    }
    if view.snapshot.profile(&key.gk).is_some() {
        find::there(&view.snapshot, key)?;
    }
    let place = find::place(&view.snapshot, place)?;
    Ok(Description::Target(target(survey, &place)))
}
