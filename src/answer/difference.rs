//! `attache diff`: what is in force in one state and not in another, per effective target, field by field.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Answer;
use super::impact::rerouted_requests::{ReroutedRequests, requests};
use super::impact::{
    Change, LostProtection, States, Summary, Traffic, changes, protection, traffic,
};
use super::named::{KindName, Named, named};
use crate::engine::effective::Resolver;
use crate::engine::effective::impact::impact_renamed;
use crate::engine::effective::renames::Renames;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::object::{Node, Object, is_route};
use crate::engine::routing::Matching;
use crate::engine::state::snapshot::{Change as StateChange, Snapshot};
use crate::engine::status::conditions::{State, statuses};

/// The difference between what is in force in state A and in state B. A is the state before, B the one after. Objects
/// have the names that they have in B.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// State A, as it was named: a directory, a revision or a cluster.
    pub a: String,
    /// State B, as it was named.
    pub b: String,
    /// Objects and sections that are compared although their names differ.
    pub renamed: Vec<Renamed>,
    /// Policy kinds that are not compared, because they cannot be read in one of the states.
    pub not_compared: Vec<NotCompared>,
    /// Gateways, `ListenerSets`, routes and other objects with policies that exist only in A.
    pub only_in_a: Vec<Named>,
    /// Those that exist only in B.
    pub only_in_b: Vec<Named>,
    /// Protections that requests have in A and not in B.
    pub lost_protection: Vec<LostProtection>,
    /// The differences between the requests that get to the routes of both states.
    pub traffic: Traffic,
    /// The effective policies that differ, by effective target.
    pub changes: Vec<Change>,
    /// The number of differences.
    pub summary: Summary,
    /// Whether no policy is in force in either state, so that there is nothing to compare.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_in_force: bool,
}

/// An object or a section with the name that it has in each state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Renamed {
    /// In A.
    pub a: Named,
    /// In B.
    pub b: Named,
}

/// A policy kind that is not compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotCompared {
    /// The policy kind.
    pub policy_kind: KindName,
    /// The state in which it cannot be read.
    pub state: String,
    /// Why not.
    pub reason: String,
}

impl Answer for Difference {
    const KIND: &'static str = "Difference";
}

/// A state and its name.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// As the user named it.
    pub name: &'a str,
    /// Its objects, and the requests that its routes take.
    pub matching: &'a Matching<'a>,
}

/// The parts of the two states that a comparison leaves out.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Policy kinds that cannot be read in one of the states.
    pub not_compared: Vec<NotCompared>,
    /// The only namespace whose objects are of interest.
    pub namespace: Option<String>,
}

/// Compares two states. `pairs` are the objects and sections with another name in B.
pub fn difference(
    a: Side<'_>,
    b: Side<'_>,
    pairs: &[(Place, Place)],
    renames: &Renames,
    limits: Limits,
) -> Difference {
    let after = with_missing(a.matching.snapshot(), b.matching.snapshot(), renames);
    let states = States {
        before: a.matching.snapshot(),
        after: &after,
        renames,
    };
    // Ages differ with every state and decide between policies, so every object counts as changed.
    let (before, after) = (states.before, states.after);
    let former = before.all().map(|object| renames.later(&object.key));
    let objects: BTreeSet<ObjectKey> = former
        .chain(after.all().map(|object| object.key.clone()))
        .collect();
    let objects: Vec<ObjectKey> = objects.into_iter().collect();
    let mut all_changed = impact_renamed(before, after, renames, &objects);
    let hidden: BTreeSet<&GroupKind> = limits
        .not_compared
        .iter()
        .map(|kind| &kind.policy_kind.0)
        .collect();
    let is_within = |key: &ObjectKey| {
        let is_it = |name: &String| {
            let is_namespace = key.gk.is_core("Namespace") && *key.name == **name;
            is_namespace || *key.namespace == **name
        };
        limits.namespace.as_ref().is_none_or(is_it)
    };
    all_changed.retain(|changed| {
        !hidden.contains(&changed.change.kind) && is_within(&changed.target.object)
    });
    let (changes, policies) = changes::changes(&states, &all_changed);
    let mut requests = compared(a, b, renames, &objects);
    let (mut traffic, opened) = traffic::between(&states);
    let mut lost_protection = protection::lost_protection(&states, &all_changed);
    let at_listeners = protection::at_listeners(&states, &opened, &objects).into_iter();
    let at_listeners = at_listeners.filter(|lost| !hidden.contains(&lost.policy_kind.0));
    protection::add(&mut lost_protection, at_listeners.collect());
    traffic.add(&mut requests);
    protection::add(&mut lost_protection, requests.lost);
    lost_protection.retain(|lost| is_within(&lost.object.0.object));
    let targets: BTreeSet<&ObjectKey> = changes.iter().map(|c| &c.object.0.object).collect();
    let (only_in_a, only_in_b) = only(&states, &objects, &targets);
    let within = |keys: BTreeSet<&ObjectKey>| named(keys.into_iter().filter(|key| is_within(key)));
    let difference = Difference {
        a: a.name.to_owned(),
        b: b.name.to_owned(),
        renamed: pairs.iter().map(Renamed::from).collect(),
        only_in_a: within(only_in_a),
        only_in_b: within(only_in_b),
        lost_protection,
        traffic: traffic.within(is_within),
        summary: Summary {
            objects: targets.len(),
            policies: policies.len(),
        },
        changes,
        not_compared: limits.not_compared,
        nothing_in_force: false,
    };
    Difference {
        nothing_in_force: difference.is_empty()
            && !is_any_in_force(before)
            && !is_any_in_force(after),
        ..difference
    }
}

/// State B, in which the objects that A alone has are known to be missing. Manifests may lack objects that others deploy, but not those
/// that the other side has.
fn with_missing(a: &Snapshot, b: &Snapshot, renames: &Renames) -> Snapshot {
    let is_named_by_settings = |object: &&Arc<Object>| {
        matches!(object.node, Node::Service { .. } | Node::Other) && a.policy(&object.key).is_none()
    };
    let former = a.all().filter(is_named_by_settings);
    let missing = former.map(|object| renames.later(&object.key));
    let missing: Vec<ObjectKey> = missing.filter(|key| b.get(key).is_none()).collect();
    let deleted = missing.iter().fold(b.clone(), |state, key| {
        state.with_change(StateChange::Deleted(key.clone()))
    });
    deleted.changed_from(b, missing)
}

/// Whether a policy is in force in a state, or may be.
fn is_any_in_force(snapshot: &Snapshot) -> bool {
    let mut resolver = Resolver::new(snapshot);
    let mut policies = snapshot
        .policy_kinds()
        .flat_map(|kind| snapshot.policies(kind));
    policies.any(|policy| {
        let states = statuses(&mut resolver, &[policy], |_, status| status.state);
        let is_in_force = |state: &Option<State>| {
            matches!(
                state,
                Some(State::Enforced | State::PartiallyEnforced | State::Unknown(_))
            )
        };
        states.iter().any(is_in_force)
    })
}

/// The requests of routes that differ. They name Gateways and rules, so states in which these have other names are not compared.
fn compared(
    a: Side<'_>,
    b: Side<'_>,
    renames: &Renames,
    objects: &[ObjectKey],
) -> ReroutedRequests {
    if !renames.is_empty() {
        return ReroutedRequests::default();
    }
    let (before, after) = (a.matching.snapshot(), b.matching.snapshot());
    let differs = |key: &&ObjectKey| match (before.get(key), after.get(key)) {
        (Some(old), Some(new)) => old.node != new.node,
        _ => true,
    };
    let differing: Vec<ObjectKey> = objects.iter().filter(differs).cloned().collect();
    requests([a.matching, b.matching], &differing)
}

/// The objects that are in one state only, and get requests or are targets.
fn only<'a>(
    states: &States<'_>,
    objects: &'a [ObjectKey],
    targets: &BTreeSet<&ObjectKey>,
) -> (BTreeSet<&'a ObjectKey>, BTreeSet<&'a ObjectKey>) {
    let shown = |key: &&ObjectKey| {
        let gk = &key.gk;
        gk.has_listeners() || is_route(gk) || targets.contains(*key)
    };
    let (mut in_a, mut in_b) = (BTreeSet::new(), BTreeSet::new());
    for key in objects.iter().filter(shown) {
        let former = states.renames.former(key);
        let existed = former.is_some_and(|key| states.before.get(&key).is_some());
        match (existed, states.after.get(key).is_some()) {
            (true, false) => in_a.insert(key),
            (false, true) => in_b.insert(key),
            _ => false,
        };
    }
    (in_a, in_b)
}

// === impl Renamed ===

impl From<&(Place, Place)> for Renamed {
    fn from((a, b): &(Place, Place)) -> Self {
        Self {
            a: Named::from(a),
            b: Named::from(b),
        }
    }
}

// === impl Difference ===

impl Difference {
    /// Whether the same is in force in both states.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.lost_protection.is_empty()
            && self.traffic.is_empty()
            && self.only_in_a.is_empty()
            && self.only_in_b.is_empty()
    }
}
