//! The conditions that objects should have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::engine::effective::Resolver;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::{Node, Object};
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Affected, affected, affected_through};

use super::own_conditions::{OwnConditions, Part};
use super::place::Place;

/// After this many objects, the results that were cached for them are dropped: they would take more
/// memory than they save time.
const RUN: usize = 1_000;
/// The most policies that a message names.
const MAX_NAMED_POLICIES: usize = 10;

/// The objects to which policies apply, with their conditions.
pub(super) fn wanted(snapshot: &Snapshot) -> BTreeMap<ObjectKey, OwnConditions> {
    let mut objects: Vec<(&Arc<Object>, Place)> = snapshot
        .all()
        .filter_map(|object| Some((object, Place::for_kind(snapshot, &object.key.gk)?)))
        .collect();
    objects.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
    let mut by_object = BTreeMap::new();
    for some in objects.chunks(RUN) {
        let mut resolver = Resolver::new(snapshot);
        for (object, place) in some {
            let own_conditions = own_conditions(&mut resolver, object, *place);
            if !own_conditions.is_empty() {
                by_object.insert(object.key.clone(), own_conditions);
            }
        }
    }
    by_object
}

fn own_conditions(resolver: &mut Resolver<'_>, object: &Object, place: Place) -> OwnConditions {
    let key = &object.key;
    let parts: Vec<(Part, Vec<Affected>)> = match (&object.node, place) {
        (Node::Route { parents, .. }, Place::Parents) => parents
            .iter()
            .map(|parent| (parent.into(), affected_through(resolver, key, parent)))
            .collect(),
        _ => vec![(Part::Whole, affected(resolver, key))],
    };
    let mut own_conditions = OwnConditions::default();
    for (part, conditions) in parts {
        let messages = messages(key, conditions, &mut own_conditions.generation);
        if !messages.is_empty() {
            own_conditions.parts.insert(part, messages);
        }
    }
    if place == Place::Annotation {
        own_conditions.generation = None;
        for message in own_conditions
            .parts
            .values_mut()
            .flat_map(BTreeMap::values_mut)
        {
            message.clear();
        }
    }
    own_conditions
}

/// The messages by condition. Conditions of listeners are part of those of their object.
fn messages(
    key: &ObjectKey,
    conditions: Vec<Affected>,
    generation: &mut Option<i64>,
) -> BTreeMap<String, String> {
    let mut by_type: BTreeMap<String, BTreeSet<ObjectKey>> = BTreeMap::new();
    for one in conditions {
        *generation = one.observed_generation;
        by_type
            .entry(one.condition)
            .or_default()
            .extend(one.policies);
    }
    let messages = by_type.into_iter();
    messages
        .map(|(condition, policies)| (condition, message(key, &policies)))
        .collect()
}

/// Names the policies of the namespace of the object, and only mentions others: who may read an object may not be
/// allowed to read those.
fn message(key: &ObjectKey, policies: &BTreeSet<ObjectKey>) -> String {
    let own = if key.gk.is_core("Namespace") {
        &key.name
    } else {
        &key.namespace
    };
    let is_own = |policy: &&ObjectKey| !own.is_empty() && policy.namespace == *own;
    let named: Vec<&ObjectKey> = policies.iter().filter(is_own).collect();
    let mut parts: Vec<String> = named
        .iter()
        .take(MAX_NAMED_POLICIES)
        .map(|policy| policy.path())
        .collect();
    if named.len() > MAX_NAMED_POLICIES {
        parts.push(format!(
            "{} more of this namespace",
            named.len() - MAX_NAMED_POLICIES
        ));
    }
    if named.len() < policies.len() {
        let scope = if own.is_empty() {
            "policies"
        } else {
            "policies of other namespaces"
        };
        parts.push(scope.to_owned());
    }
    format!("Affected by {}", listed(&parts))
}

/// `a`, `a and b`, `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
