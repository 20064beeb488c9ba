//! `attache describe`: the policies that apply to an object, and the settings in force.

use clap_complete::engine::ArgValueCompleter;
use jiff::Timestamp;

use super::names::each;
use super::output::{self, Output};
use super::render::description::show;
use super::render::phrases::names_of;
use super::state::{Opened, Scope, State, View};
use super::watch::Watching;
use super::{Failure, complete, find, labels};
use crate::answer::description::{
    Description, Descriptions, kind, policy, target, unreadable_policies,
};
use crate::answer::document;
use crate::answer::workload::{is_workload, workload};
use crate::cache::lists::ReadScope;
use crate::engine::admission::verdict::escape;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::selector::Selector;

/// The help of -n.
const NAMESPACE: &str = "The namespace of the objects to describe, and of manifests that do not set one; \
    policies of other namespaces that apply to them are shown, too. Defaults to the \
    namespace of the context; for files, to all namespaces, and `default` for manifests \
    that do not set one";

/// Arguments of `attache describe`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("namespace", |argument| argument.help(NAMESPACE)))]
pub struct Args {
    /// Objects: KIND/NAME, KIND/NAME#SECTION, or KIND for all objects of the kind in the namespace; kind/POLICYKIND for a
    /// policy kind and its policies; several of these, or KIND NAME NAME.
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1.., add = ArgValueCompleter::new(complete::objects))]
    what: Vec<String>,
    #[command(flatten)]
    state: State,
    #[command(flatten)]
    scope: Scope,
    /// Without a name, describe only objects that match this label selector: `a=b,c!=d,e in (x,y),!f`.
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = labels::selector)]
    selector: Option<Selector>,
    /// Output format.
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = output::ALL)]
    output: Output,
    /// Show only problems: policies that are in force nowhere and that no other policy overrides, and routes and listeners that get no requests.
    #[arg(long)]
    problems: bool,
    /// Show long values in full.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    watching: Watching,
}

/// Words that ask for a policy kind in place of an object.
const KIND_OF_KINDS: [&str; 2] = ["kind", "kinds"];

/// A subject of the command.
enum DescribedSubject {
    One(Place),
    All(GroupKind),
    Kind(GroupKind),
}

// === impl DescribedSubject ===

impl DescribedSubject {
    /// The object, if the subject is a single object.
    fn object(&self) -> Option<ObjectKey> {
        match self {
            Self::One(place) => Some(place.object.clone()),
            Self::All(_) | Self::Kind(_) => None,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// If an object, directory or cluster does not exist.
pub fn run(args: &Args) -> Result<(), Failure> {
    let opened = args.state.open_watching(&args.scope, args.watching)?;
    let within = opened.within();
    let asked: Vec<DescribedSubject> = each(&args.what)?
        .into_iter()
        .map(|(kind, name)| asked(&opened, kind, name, args.scope.all_namespaces))
        .collect::<Result<_, Failure>>()?;
    let around: Option<Vec<ObjectKey>> = asked.iter().map(DescribedSubject::object).collect();
    let read_scope = around.map_or(ReadScope::Everything, ReadScope::Around);
    let answer = |view: &View, now| answer(args, &asked, within.as_deref(), view, now);
    if args.watching.watch {
        return opened.watch(&read_scope, answer);
    }
    let view = opened.view(&read_scope);
    view.say_what_is_missing();
    view.say_what_is_undefined();
    super::print(&answer(&view, Timestamp::now())?)
}

fn answer(
    args: &Args,
    asked: &[DescribedSubject],
    within: Option<&str>,
    view: &View,
    now: Timestamp,
) -> Result<String, Failure> {
    let mut resolver = Resolver::new(&view.snapshot);
    let mut descriptions: Vec<Description> = Vec::new();
    for asked in asked {
        match asked {
            DescribedSubject::One(place) => {
                descriptions.push(describe(&mut resolver, view, place)?);
            }
            DescribedSubject::All(gk) => {
                let selector = args.selector.clone().unwrap_or_default();
                let keys = all(view, gk, within, &selector);
                if keys.is_empty() {
                    let place = within.map_or_else(String::new, |ns| format!(" in namespace {ns}"));
                    eprintln!("attache: there is no {}", escape(&format!("{gk}{place}")));
                }
                for key in keys {
                    descriptions.push(describe(&mut resolver, view, &key.whole())?);
                }
            }
            DescribedSubject::Kind(gk) => {
                let about = kind(&view.snapshot, &view.rules, gk, &view.undated);
                let about = about.ok_or_else(|| format!("{gk} is not a policy kind"))?;
                descriptions.push(Description::Kind(Box::new(about)));
            }
        }
    }
    let unread = unreadable_policies(&view.snapshot);
    let descriptions: Vec<Description> = descriptions
        .into_iter()
        .map(|description| description.with_unread(&unread))
        .collect();
    let is_one = matches!(
        asked,
        [DescribedSubject::One(_) | DescribedSubject::Kind(_)]
    );
    if let ([one], true) = (descriptions.as_slice(), is_one)
        && let Some(text) = args.output.program(&document(one))?
    {
        return Ok(text);
    }
    let answer = Descriptions {
        items: descriptions,
    };
    if let Some(text) = args.output.program(&document(&answer))? {
        return Ok(text);
    }
    let style = args.output.style().full(args.full);
    Ok(match args.output {
        Output::Name => names_of(answer.items.iter().filter_map(Description::object)),
        _ => show(&answer.items, style, now, args.problems),
    })
}

fn asked(
    opened: &Opened,
    kind: &str,
    name: Option<&str>,
    all_namespaces: bool,
) -> Result<DescribedSubject, Failure> {
    match name {
        Some(name) if KIND_OF_KINDS.contains(&kind.to_lowercase().as_str()) => {
            Ok(DescribedSubject::Kind(opened.names.kind(name)?))
        }
        Some(_) if all_namespaces => Err("-A cannot be used with a name; use -n NAMESPACE".into()),
        Some(name) => Ok(DescribedSubject::One(opened.place(kind, name)?)),
        None => Ok(DescribedSubject::All(opened.names.kind(kind)?)),
    }
}

/// The objects of a kind, sorted. `within` limits namespaced objects to one namespace.
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

pub(super) fn describe(
    resolver: &mut Resolver<'_>,
    view: &View,
    place: &Place,
) -> Result<Description, Failure> {
    let key = &place.object;
    view.read(key)?;
    if let Some(known) = view.snapshot.policy(key) {
        return Ok(Description::Policy(policy(resolver, known)));
    }
    if is_workload(&key.gk) {
        let workload_description =
            workload(resolver, &view.objects, key).map(Description::Workload);
        return workload_description
            .ok_or_else(|| format!("{} does not exist", escape(&key.to_string())).into());
    }
    if view.snapshot.profile(&key.gk).is_some() {
        find::there(&view.snapshot, key)?;
    }
    let place = find::place(&view.snapshot, place)?;
    Ok(Description::Target(target(resolver, &place)))
}
