//! Snapshots: their answers depend only on the objects in them, and `impact` reports all changes.

use std::collections::{BTreeMap, BTreeSet};

use attache::engine::effective::applying::applying_to;
use attache::engine::effective::impact::impact;
use attache::engine::effective::{PathGroup, Resolver};
use attache::engine::merge::{EffectivePolicy, policies_in_force};
use attache::engine::model::ids::{GroupKind, ObjectKey, Place};
use attache::engine::model::object::Node;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::engine::status::conditions::{Accepted, status};
use attache::engine::topology::{AncestorPath, places};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::answers::{about, answers, keys, route_path, statuses};
use super::events::{Event, change, fold, shuffled, survivors};
use super::random::{any_event, any_object};

fn values(events: &[Event]) -> impl Iterator<Item = &Value> {
    events.iter().map(|event| match event {
        Event::Applied(value) | Event::Deleted(value) => value,
    })
}

/// The effective policies on every path through every object, by kind and route path, then by ancestor path.
type All = BTreeMap<(GroupKind, String), BTreeMap<AncestorPath, Told>>;

#[derive(Clone, Debug, PartialEq)]
struct Told {
    path: Vec<String>,
    settings: String,
}

fn settings(effective: &EffectivePolicy) -> String {
    match effective.spec() {
        // A policy without settings in force differs from no policy.
        Some((spec, sources)) if sources.iter().any(|(pointer, _)| pointer.is_empty()) => {
            format!("{spec} of a policy")
        }
        Some((spec, _)) => spec.to_string(),
        None => format!("{:?}", effective.policies()),
    }
}

/// Whether the paths end at effective targets and begin where requests arrive: the paths that also count for the status
/// of a policy.
fn counts(group: &PathGroup) -> bool {
    group.complete && group.attached
}

/// If nothing says how far a kind reaches, its paths extend to a backend only for queries about a backend with a policy
/// of the kind: its effective targets are the rules and that backend.
fn seen_differently(snapshot: &Snapshot, kind: &GroupKind, path: &[Place]) -> bool {
    let profile = snapshot.profile(kind).unwrap();
    let unsaid = profile.is_inherited() && !profile.effective.is_stated();
    let is_backend =
        |place: &Place| place.object.gk.group.is_empty() && &*place.object.gk.kind != "Namespace";
    unsaid
        && path
            .iter()
            .any(|place| is_backend(place) || &*place.object.gk.kind == "Bucket")
}

/// [`seen_differently`] in either of two states: the CRD of the kind may have changed.
fn seen_differently_in(states: [&Snapshot; 2], kind: &GroupKind, path: &[Place]) -> bool {
    let mut known = states.iter().filter(|state| state.profile(kind).is_some());
    known.any(|state| seen_differently(state, kind, path))
}

/// The object, port and hostname of the listener at the end of an ancestor path.
fn door(snapshot: &Snapshot, path: &AncestorPath) -> Option<(ObjectKey, u16, Option<String>)> {
    let place = path.last()?;
    let object = snapshot.get(&place.object)?;
    let (Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. }) = &object.node
    else {
        return None;
    };
    let mut listeners = listeners.iter();
    let listener = listeners.find(|listener| Some(&listener.name) == place.section.as_ref())?;
    let hostname = listener.hostname.as_deref().map(str::to_owned);
    Some((place.object.clone(), listener.port, hostname))
}

fn everything(snapshot: &Snapshot, states: [&Snapshot; 2], around: &BTreeSet<ObjectKey>) -> All {
    let mut all = All::new();
    for kind in snapshot.policy_kinds() {
        for key in around {
            let groups = Resolver::new(snapshot).paths_through(key, kind).into_iter();
            for group in groups.filter(counts) {
                let route_paths: Vec<_> = if group.paths.routes.is_empty() {
                    vec![None]
                } else {
                    group
                        .paths
                        .routes
                        .iter()
                        .map(|l| Some(l.as_ref()))
                        .collect()
                };
                for on in route_paths {
                    for ancestor_path in group.paths.ancestors.iter() {
                        let path: Vec<Place> =
                            places(ancestor_path, on).into_iter().cloned().collect();
                        if seen_differently_in(states, kind, &path) {
                            continue;
                        }
                        let on_path = Told {
                            path: shown_path(&path),
                            settings: settings(&group.effective),
                        };
                        let on = on.map_or_else(|| group.complete.to_string(), route_path);
                        let by_ancestor_path = all.entry((kind.clone(), on)).or_default();
                        by_ancestor_path.insert((**ancestor_path).clone(), on_path);
                    }
                }
            }
        }
    }
    all
}

/// The difference path by path, as `impact` reports it. A path lost and a path gained are one change; paths with the
/// same listener endpoint are matched first.
fn difference([state, later]: [&Snapshot; 2], was: &All, is: &All) -> Vec<String> {
    let nothing = settings(&EffectivePolicy::default());
    let mut differences = Vec::new();
    let mut tell = |kind: &GroupKind, path: &[String], before: &str, after: &str| {
        if before != after && !path.is_empty() {
            differences.push(format!("{kind} {} {before} {after}", path.join(" > ")));
        }
    };
    let route_paths: BTreeSet<_> = was.keys().chain(is.keys()).collect();
    for at in route_paths {
        let empty = BTreeMap::new();
        let (before, after) = (was.get(at).unwrap_or(&empty), is.get(at).unwrap_or(&empty));
        let new = after
            .iter()
            .filter(|(ancestor_path, _)| !before.contains_key(*ancestor_path));
        let mut won: Vec<(&AncestorPath, &Told)> = new.collect();
        let mut lost: Vec<&Told> = Vec::new();
        for (ancestor_path, a) in before {
            if let Some(b) = after.get(ancestor_path) {
                tell(&at.0, &b.path, &a.settings, &b.settings);
                continue;
            }
            let had = door(state, ancestor_path);
            let same = |(has, _): &(&AncestorPath, &Told)| had.is_some() && door(later, has) == had;
            match won.iter().position(same) {
                Some(renamed) => {
                    let (_, b) = won.remove(renamed);
                    tell(&at.0, &b.path, &a.settings, &b.settings);
                }
                None => lost.push(a),
            }
        }
        let mut lost = lost.into_iter();
        for (_, b) in won {
            let a = lost.next().map_or(&nothing, |a| &a.settings);
            tell(&at.0, &b.path, a, &b.settings);
        }
        for a in lost {
            tell(&at.0, &a.path, &a.settings, &nothing);
        }
    }
    differences.sort();
    differences
}

fn shown_path(path: &[Place]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

/// Whether a rule of a route may have another name after a change: rules without a name go by their index.
fn renames_rules(states: [&Snapshot; 2], route: &ObjectKey) -> bool {
    let [before, after] =
        states.map(
            |snapshot| match snapshot.get(route).map(|route| &route.node) {
                Some(Node::Route { rules, .. }) => &**rules,
                _ => &[],
            },
        );
    let mut rules = before.iter().zip(after);
    rules.any(|(one, other)| one.name != other.name)
}

/// The existing topology objects, and the targets of policies.
fn there_or_named(snapshot: &Snapshot) -> impl Iterator<Item = ObjectKey> {
    let there = keys(snapshot).into_iter();
    let there = there.filter(|key| snapshot.get(key).is_some());
    let kinds = snapshot.policy_kinds();
    let policies = kinds.flat_map(|kind| snapshot.policies(kind));
    let named = policies.flat_map(|policy| {
        let targets = policy.targets.iter();
        targets.filter_map(|target| target.object(&policy.key().namespace))
    });
    let all: Vec<ObjectKey> = there.chain(named).collect();
    all.into_iter()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Counts, conditions and warnings use the same policies.
    #[test]
    fn a_policy_is_counted_where_it_acts(events in vec(any_event(), 0..40)) {
        let snapshot = fold(&events);
        let mut resolver = Resolver::new(&snapshot);
        let kinds: Vec<GroupKind> = snapshot.policy_kinds().cloned().collect();
        for kind in &kinds {
            let mut counted: BTreeMap<ObjectKey, BTreeSet<ObjectKey>> = BTreeMap::new();
            for policy in snapshot.policies(kind) {
                for place in status(&mut resolver, policy).effective_targets() {
                    counted.entry(place.object.clone()).or_default().insert(policy.key().clone());
                }
            }
            for key in keys(&snapshot) {
                let acting = applying_to(&mut resolver, &key).into_iter().map(|a| a.policy.key().clone());
                let acting: BTreeSet<ObjectKey> = acting.filter(|policy| policy.gk == *kind).collect();
                let count = counted.remove(&key).unwrap_or_default();
                prop_assert!(count.is_subset(&acting), "{key}: {count:?}, {acting:?}");
                let groups = resolver.paths_through(&key, kind).into_iter();
                let ends = groups.filter(|g| counts(g) && g.paths.targets().any(|t| t.object == key));
                let in_force: BTreeSet<ObjectKey> = ends.flat_map(|g| policies_in_force(&g.effective).collect::<Vec<_>>()).collect();
                let answer: BTreeSet<ObjectKey> = acting.intersection(&in_force).cloned().collect();
                let path = [key.whole()];
                if !seen_differently(&snapshot, kind, &path) {
                    prop_assert_eq!(&answer, &count, "{}", key);
                }
            }
        }
    }

    #[test]
    fn a_snapshot_depends_on_its_objects_and_not_on_their_order(
        events in vec(any_event(), 0..40),
        seed in any::<u64>(),
    ) {
        let incremental = answers(&fold(&events), values(&events).take(12));
        let rest = survivors(&events);
        prop_assert_eq!(&incremental, &answers(&fold(&rest), values(&events).take(12)));
        let rest = shuffled(rest, seed);
        prop_assert_eq!(&incremental, &answers(&fold(&rest), values(&events).take(12)));
    }

    /// A resolver caches; the cache must not change answers.
    #[test]
    fn a_resolver_answers_independently_of_earlier_questions(events in vec(any_event(), 0..40)) {
        let snapshot = fold(&events);
        let mut used = Resolver::new(&snapshot);
        for key in keys(&snapshot).iter().rev() {
            let answer = about(&mut used, key);
            prop_assert_eq!(answer, about(&mut Resolver::new(&snapshot), key));
        }
        prop_assert_eq!(statuses(&mut used), statuses(&mut Resolver::new(&snapshot)));
    }

    #[test]
    fn every_setting_comes_from_a_policy_attached_to_the_path(
        events in vec(any_event(), 0..40),
    ) {
        let snapshot = fold(&events);
        let mut resolver = Resolver::new(&snapshot);
        let kinds: Vec<GroupKind> = snapshot.policy_kinds().cloned().collect();
        for (key, kind) in keys(&snapshot).iter().flat_map(|k| kinds.iter().map(move |kind| (k, kind))) {
            for group in resolver.paths_through(key, kind) {
                let in_stack: BTreeSet<&ObjectKey> = group.stack.iter()
                    .flat_map(|level| level.policies.iter().map(|policy| policy.key()))
                    .collect();
                                let route_paths: Vec<_> = group.paths.routes.iter().map(|l| Some(l.as_ref())).collect();
                let route_paths = if route_paths.is_empty() { vec![None] } else { route_paths };
                for (ancestor_path, on) in group.paths.ancestors.iter().flat_map(|u| route_paths.iter().map(move |l| (u, l))) {
                    let path = places(ancestor_path, *on);
                    for level in group.stack.iter() {
                        prop_assert!(path.contains(&&level.step.place), "{:?}", level.step);
                    }
                    prop_assert!(path.iter().any(|place| place.object == *key), "{key}: {path:?}");
                    for source in group.effective.policies() {
                        let own = path.iter().any(|place| place.object == source);
                        prop_assert!(in_stack.contains(&source) || own, "{source} at {key}");
                    }
                }
            }
        }
    }

    #[test]
    fn impact_is_the_difference_of_all_answers(
        events in vec(any_event(), 0..40),
        last in any_object(),
        gone in any::<prop::sample::Index>(),
        delete in any::<bool>(),
    ) {
        let there = survivors(&events);
        let before = fold(&there);
        let event = match there.get(gone.index(there.len().max(1))) {
            Some(Event::Applied(value)) if delete => Event::Deleted(value.clone()),
            _ => Event::Applied(last),
        };
        let after = before.apply(change(&event));
        let touched = match change(&event) {
            Change::Applied(object) => object.key.clone(),
            Change::Deleted(key) => key,
            _ => unreachable!(),
        };
        let around: BTreeSet<ObjectKey> = there_or_named(&before)
            .chain(there_or_named(&after))
            .collect();
        let states = [&before, &after];
        // Paths of before have the names after; this comparison does not know which rule is which.
        prop_assume!(!renames_rules(states, &touched));
        let (was, is) = (everything(&before, states, &around), everything(&after, states, &around));
        let mut found: Vec<String> = impact(&before, &after, std::slice::from_ref(&touched))
            .into_iter()
            .filter(|changed| {
                !seen_differently_in(states, &changed.change.kind, &changed.path)
            })
            .map(|changed| {
                let path = shown_path(&changed.path).join(" > ");
                let (a, b) = (settings(&changed.change.before), settings(&changed.change.after));
                format!("{} {path} {a} {b}", changed.change.kind)
            })
            .collect();
        found.sort();
        let expected = difference(states, &was, &is);
        prop_assert_eq!(found, expected, "{}", touched);
    }

    #[test]
    fn a_policy_that_is_not_accepted_is_in_force_nowhere(events in vec(any_event(), 0..40)) {
        let snapshot = fold(&events);
        let mut resolver = Resolver::new(&snapshot);
        let kinds: Vec<GroupKind> = snapshot.policy_kinds().cloned().collect();
        let there: Vec<ObjectKey> = there_or_named(&snapshot).collect();
        for (key, kind) in there.iter().flat_map(|k| kinds.iter().map(move |kind| (k, kind))) {
            for group in resolver.paths_through(key, kind) {
                for policy in group.stack.iter().flat_map(|level| level.policies.iter()) {
                    if !policies_in_force(&group.effective).any(|key| key == *policy.key()) {
                        continue;
                    }
                    let accepted = status(&mut resolver, policy).accepted;
                    prop_assert_eq!(accepted, Accepted::Accepted, "{} at {}", policy.key(), key);
                }
            }
        }
    }
}
