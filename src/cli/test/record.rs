//! `attache test --record`: what is in force now, as a file of tests to start from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::{left_out, subject};
use crate::answer::API_VERSION;
use crate::answer::description::{for_requests, paths_at};
use crate::answer::effective::EffectiveOnPaths;
use crate::cache::lists::ReadScope;
use crate::cli::Failure;
use crate::cli::find;
use crate::cli::names::each;
use crate::cli::state::{Opened, Scope, State, View};
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::is_route;

/// A test of what is in force, as it is written.
#[derive(Serialize)]
struct Recorded {
    name: String,
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    effective: Effective,
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Effective {
    policy_kind: String,
    spec: Value,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    from: BTreeMap<String, String>,
}

impl Effective {
    /// Whether it has policies, but no setting.
    fn is_empty(&self) -> bool {
        self.spec.as_object().is_some_and(serde_json::Map::is_empty)
    }
}

/// The effective policy on some paths to a target.
struct RecordedPaths {
    /// The listener at which the paths begin, and the section of the target at which they end.
    listener: Option<Place>,
    target: Place,
    effective: Effective,
}

/// Tests that state the effective policies on targets; on all routes if none is named.
///
/// # Errors
/// If the state cannot be read, or a target does not exist.
pub(super) fn record(targets: &[String], state: &State, scope: &Scope) -> Result<String, Failure> {
    let opened = state.open(scope)?;
    let within = opened.within();
    let mut places = Vec::new();
    for (kind, name) in each(targets)? {
        let name = name.ok_or_else(|| format!("--record {kind:?}: write KIND/NAME"))?;
        places.push(place(&opened, kind, name)?);
    }
    let view = opened.view(&ReadScope::Everything);
    view.say_what_is_missing();
    view.say_what_is_undefined();
    let mut resolver = Resolver::new(&view.snapshot);
    let mut others = None;
    if places.is_empty() {
        places = routes(&view, within.as_deref());
        let objects = left_out::objects(&mut resolver, within.as_deref());
        others = left_out::line(&objects);
    }
    let (mut tests, mut unknown) = (Vec::new(), BTreeSet::new());
    for place in &places {
        find::there(&view.snapshot, &place.object)?;
        let place = find::place(&view.snapshot, place)?;
        on_target(&mut resolver, &place, &mut tests, &mut unknown);
    }
    if tests.is_empty() {
        let why = match unknown.first() {
            Some(first) => {
                format!("attache cannot tell what is in force on these targets: {first}")
            }
            None => "no policy is in force on these targets".to_owned(),
        };
        let others = others.map(|line| format!("; {line}")).unwrap_or_default();
        return Err(format!("{why}{others}").into());
    }
    if let Some(line) = others {
        eprintln!("attache: {line}");
    }
    written(state, &tests, &unknown)
}

/// The object or section of KIND/NAME, or of KIND/NAMESPACE/NAME as in files of tests.
fn place(opened: &Opened, kind: &str, name: &str) -> Result<Place, Failure> {
    let path = name.split('#').next().unwrap_or_default();
    let Some((namespace, _)) = path.split_once('/') else {
        return Ok(opened.place(kind, name)?);
    };
    let wrong = |form: &str| format!("--record {kind}/{name}: write {form}");
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    let place = opened.names.place(kind, name, namespace)?;
    if place.object.namespace.is_empty() {
        return Err(wrong(&format!("{kind}/{name}, without a namespace")).into());
    }
    if namespace.is_empty() || place.object.name.contains('/') {
        return Err(wrong("KIND/NAME or KIND/NAMESPACE/NAME").into());
    }
    Ok(place)
}

fn routes(view: &View, within: Option<&str>) -> Vec<Place> {
    let objects = view.snapshot.all().map(|object| &object.key);
    let keys = objects.filter(|key| is_route(&key.gk));
    let keys = keys.filter(|key| within.is_none_or(|namespace| *key.namespace == *namespace));
    let keys: BTreeSet<&ObjectKey> = keys.collect();
    keys.into_iter().map(ObjectKey::whole).collect()
}

/// The tests of one target, for each policy kind in force on it.
fn on_target(
    resolver: &mut Resolver<'_>,
    place: &Place,
    tests: &mut Vec<Recorded>,
    unknown: &mut BTreeSet<String>,
) {
    // Policies have no effect where no request arrives.
    if resolver.taken_by(place).is_some() {
        return;
    }
    let kinds: BTreeSet<GroupKind> = resolver.snapshot().used_kinds().cloned().collect();
    for kind in kinds {
        let groups = paths_at(resolver, place, &kind);
        let profile = resolver.snapshot().profile(&kind);
        let is_direct = profile.is_some_and(|profile| !profile.is_inherited());
        let groups = for_requests(profile.map(|profile| &**profile), groups);
        if groups
            .iter()
            .all(|group| group.effective.policies().is_empty())
        {
            continue;
        }
        let shown: Vec<EffectiveOnPaths> = groups
            .iter()
            .map(|group| EffectiveOnPaths::from((&kind, group)))
            .collect();
        let on = subject::text(place);
        if shown.iter().any(|shown| !shown.requests_from.is_empty()) {
            unknown.insert(format!(
                "{kind} on {on} for requests from some namespaces only"
            ));
            continue;
        }
        let mut by_result: Vec<RecordedPaths> = Vec::new();
        let mut is_all = true;
        for (group, shown) in groups.iter().zip(&shown) {
            let is_nothing = group.effective.policies().is_empty();
            let in_force = effective(&kind, shown, is_nothing);
            if in_force.as_ref().is_some_and(Effective::is_empty) {
                // Policies without a setting: nothing can be expected of their settings.
                is_all = false;
            } else if let Some(in_force) = in_force {
                by_result.extend(parts(shown, &in_force));
            } else {
                unknown.insert(format!("{kind} on {on}, where only its controller knows"));
                is_all = false;
            }
        }
        // Policies have no effect on a rule if other rules take all of its requests.
        let all = by_result.len();
        by_result.retain(|one| resolver.taken_by(&one.target).is_none());
        is_all &= by_result.len() == all;
        // A test of a route is about the routes that it delegates to, too; they have tests of their own.
        let is_elsewhere = |one: &RecordedPaths| {
            is_route(&one.target.object.gk) && one.target.object != place.object
        };
        if is_route(&place.object.gk) && !by_result.iter().all(is_elsewhere) {
            let all = by_result.len();
            by_result.retain(|one| !is_elsewhere(one));
            is_all &= by_result.len() == all;
        }
        // A test of the whole object is about its sections too, so it cannot say what holds outside of them.
        let is_section = |one: &RecordedPaths| one.target.section.is_some();
        let is_same = by_result
            .windows(2)
            .all(|pair| matches!(pair, [one, other] if one.effective == other.effective));
        if is_direct && !is_same && by_result.iter().any(is_section) {
            by_result.retain(is_section);
            unknown.insert(format!(
                "{kind} on {on} outside of the sections with policies of their own"
            ));
            is_all = false;
        }
        tests.extend(together(&kind, place, &by_result, is_all));
    }
}

/// One part for each pair of a listener and a target.
fn parts(shown: &EffectiveOnPaths, effective: &Effective) -> Vec<RecordedPaths> {
    let listeners = shown.listeners.iter().map(|named| Some(named.0.clone()));
    let mut listeners: Vec<Option<Place>> = listeners.collect();
    if listeners.is_empty() {
        listeners.push(None);
    }
    let pairs = listeners.iter().flat_map(|listener| {
        shown.targets.iter().map(|target| RecordedPaths {
            listener: listener.clone(),
            target: target.0.clone(),
            effective: effective.clone(),
        })
    });
    pairs.collect()
}

/// The fewest tests with the same meaning: one for all paths, one for each listener, or one for
/// each part of the target; one for each pair of these if the paths are not complete.
fn together(
    kind: &GroupKind,
    place: &Place,
    by_result: &[RecordedPaths],
    is_all: bool,
) -> Vec<Recorded> {
    let all = |part: &dyn Fn(&RecordedPaths) -> (Option<Place>, Place)| {
        let mut tests: BTreeMap<(Option<Place>, Place), &Effective> = BTreeMap::new();
        for one in by_result {
            let known = tests.entry(part(one)).or_insert(&one.effective);
            if **known != one.effective {
                return None;
            }
        }
        let tests = tests.into_iter().map(|((via, target), effective)| {
            let via = via.as_ref().map(subject::text);
            let target = subject::text(&target);
            let through = via.as_ref().map(|via| format!(" through {via}"));
            Recorded {
                name: format!("{} on {target}{}", kind.kind, through.unwrap_or_default()),
                target,
                via,
                effective: effective.clone(),
            }
        });
        Some(tests.collect::<Vec<_>>())
    };
    let section = |one: &RecordedPaths| {
        let is_part = one.target.object == place.object && place.section.is_none();
        if is_part {
            one.target.clone()
        } else {
            place.clone()
        }
    };
    let finest = || all(&|one| (one.listener.clone(), section(one)));
    let fewer = || {
        all(&|_| (None, place.clone()))
            .or_else(|| all(&|one| (one.listener.clone(), place.clone())))
            .or_else(|| all(&|one| (None, section(one))))
    };
    let tests = if is_all { fewer() } else { None };
    tests.or_else(finest).unwrap_or_default()
}

/// The effective policy, as a test states it; `None` if only the controller of the kind knows it.
fn effective(kind: &GroupKind, shown: &EffectiveOnPaths, is_nothing: bool) -> Option<Effective> {
    let spec = shown.effective.spec.clone()?;
    let sources = shown.effective.sources.iter();
    let sources =
        sources.filter(|(pointer, _)| spec.pointer(pointer).is_some() && !pointer.is_empty());
    let from = sources.map(|(pointer, named)| (pointer.clone(), named.0.object.path()));
    Some(Effective {
        policy_kind: kind.to_string(),
        from: from.collect(),
        spec: if is_nothing { Value::Null } else { spec },
    })
}

/// The file.
fn written(
    state: &State,
    tests: &[Recorded],
    unknown: &BTreeSet<String>,
) -> Result<String, Failure> {
    let from = state.from.iter().chain(state.rendered.dirs());
    let from: Vec<String> = from
        .map(|path| path.display().to_string())
        .filter(|path| path != "-")
        .collect();
    let from = if from.is_empty() {
        vec![".".to_owned()]
    } else {
        from
    };
    let mut text = format!(
        "# What is in force now. Remove what may change.\napiVersion: {API_VERSION}\nkind: Test\n"
    );
    for one in unknown {
        let _ = writeln!(
            text,
            "# left out, because a test cannot tell: {}",
            one.escape_debug()
        );
    }
    text.push_str("# relative to this file\n");
    text.push_str(&serde_saphyr::to_string(&json!({"from": from}))?);
    text.push_str(&serde_saphyr::to_string(&BTreeMap::from([(
        "tests", tests,
    )]))?);
    Ok(text)
}
