//! Which policies act on an object, and with which settings (design 9, ruling 3).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::attach::attached;
use super::ids::{GroupKind, ObjectKey, Place};
use super::merge::{Effective, LeafPath, effective};
use super::object::{Object, section_noun};
use super::policy::Policy;
use super::profile::Class;
use super::snapshot::Snapshot;
use super::topology::{Path, paths};

/// A policy that acts on an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Acting {
    /// The policy.
    pub policy: ObjectKey,
    /// Where it stands.
    pub from: BTreeSet<Place>,
    /// The settings of it that are in force on at least one path.
    pub settings: BTreeMap<LeafPath, Value>,
}

/// The policies of every kind that act on an object, by policy.
///
/// A direct policy acts on what it names. An inherited one acts from there down, on paths where at
/// least one leaf of it survives.
pub fn acting_on(snapshot: &Snapshot, object: &Object) -> Vec<Acting> {
    let mut found: BTreeMap<ObjectKey, Acting> = BTreeMap::new();
    // Paths that carry the same stack of policies are one path: it is folded once.
    let mut folded: HashMap<Stack, Effective> = HashMap::new();
    for path in paths(snapshot, object) {
        for (kind, levels) in by_kind(snapshot, &path) {
            if !reaches(snapshot, &kind, &object.key) {
                continue;
            }
            let stacks: Vec<Vec<Arc<Policy>>> = levels
                .iter()
                .map(|(_, policies)| policies.clone())
                .collect();
            let stack = stacks
                .iter()
                .map(|level| level.iter().map(Arc::as_ptr).collect());
            let in_force = folded
                .entry(stack.collect())
                .or_insert_with(|| effective(&stacks));
            for (place, policies) in &levels {
                for policy in policies {
                    let leaves = in_force.leaves_of(policy.key());
                    let leaves: BTreeMap<LeafPath, Value> = leaves
                        .map(|(path, value)| (path.clone(), value.clone()))
                        .collect();
                    if leaves.is_empty() {
                        continue;
                    }
                    let acting = found.entry(policy.key().clone()).or_insert_with(|| Acting {
                        policy: policy.key().clone(),
                        from: BTreeSet::new(),
                        settings: BTreeMap::new(),
                    });
                    acting.from.insert(place.clone());
                    acting.settings.extend(leaves);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Policies by level, by address: one snapshot holds each policy once.
type Stack = Vec<Vec<*const Policy>>;

type Levels = Vec<(Place, Vec<Arc<Policy>>)>;

/// Policies along a path, kind by kind: policies of different kinds never merge.
fn by_kind(snapshot: &Snapshot, path: &Path) -> BTreeMap<GroupKind, Levels> {
    let mut kinds: BTreeMap<GroupKind, Levels> = BTreeMap::new();
    for (i, place) in path.places.iter().enumerate() {
        let mut here: BTreeMap<GroupKind, Vec<Arc<Policy>>> = BTreeMap::new();
        for policy in attached(snapshot, place) {
            // Direct policies stop at what they name.
            if i >= path.above || policy.profile.class.value == Class::Inherited {
                here.entry(policy.key().gk.clone())
                    .or_default()
                    .push(policy);
            }
        }
        for (kind, policies) in here {
            kinds
                .entry(kind)
                .or_default()
                .push((place.clone(), policies));
        }
    }
    kinds
}

/// Whether policies of a kind reach objects of this one from above: inherited kinds end at the rule
/// of the route unless their targets include kinds below it (ruling 2).
fn reaches(snapshot: &Snapshot, kind: &GroupKind, object: &ObjectKey) -> bool {
    let below_routes = section_noun(&object.gk) == Some("port");
    !below_routes
        || snapshot
            .profile(kind)
            .is_some_and(|profile| !profile.inherits() || profile.allows_explicitly(&object.gk))
        || snapshot
            .naming(object)
            .any(|policy| policy.key().gk == *kind)
}
