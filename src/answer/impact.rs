//! `attache impact`: what a change does, before and after, per effective target, field by field.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Answer;
use super::named::{KindName, Named, named};
use super::report::ReportedFinding;
use crate::engine::admission::finding::Finding;
use crate::engine::effective::impact::impact as differences;
use crate::engine::effective::renames::Renames;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::Node;
use crate::engine::routing::Matching;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::topology::{ParentAttachment, RouteKindConflicts, parent_attachment};

mod broken;
pub(super) mod changes;
mod fields;
mod no_effect;
mod orphaned;
pub(super) mod protection;
mod request_losses;
pub(super) mod rerouted_requests;
pub(super) mod traffic;

pub use broken::broken;
pub use fields::Field;
pub use protection::LostProtection;
pub use rerouted_requests::{Rerouted, UnservedRequests};
pub use traffic::{Cut, Entry, Failing, Gained, MovedListener, Reduced, Traffic, Unserved};

/// The effect of a change on effective policies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Impact {
    /// The objects that are applied.
    pub applied: Vec<Named>,
    /// The objects that are deleted, as given.
    pub deleted: Vec<Named>,
    /// The number of further objects that are deleted with these: the objects in a Namespace, the objects of a CRD.
    pub deleted_with: usize,
    /// The parts of the applied objects that the API server would refuse or drop: versions and fields that their CRDs do not
    /// define, and validation rules that they violate.
    pub findings: Vec<ReportedFinding>,
    /// The guardrails that the change breaks, and of those in the change how many targets break them.
    pub guardrails: Vec<ReportedFinding>,
    /// The number of attached routes among all deleted objects.
    pub deleted_routes: usize,
    /// Protections that requests lose with the change.
    pub lost_protection: Vec<LostProtection>,
    /// The effect on requests to the remaining routes.
    pub traffic: Traffic,
    /// The changes, by effective target.
    pub changes: Vec<Change>,
    /// Policies that the change does not touch and that lose their only target.
    pub orphaned: Vec<Named>,
    /// Objects in the change that change nothing, and why.
    pub idle: Vec<ObjectWithoutEffect>,
    /// The number of changes.
    pub summary: Summary,
}

/// The change of the effective policy of one kind on one effective target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The effective target.
    pub object: Named,
    /// Whether the target remains, or is added or removed by the change.
    pub change: TargetChange,
    /// Whether the change deletes the target.
    #[serde(skip)]
    pub is_gone: bool,
    /// The objects and sections of the first path with this change, from the top of the topology.
    pub path: Vec<Named>,
    /// The number of paths with this change.
    pub paths: Paths,
    /// The policy kind.
    pub policy_kind: KindName,
    /// The settings before the change; null if nothing was in force, or if only the controller of the kind knows the
    /// result. In that case `beforeFrom` has the policies.
    pub before: Option<Value>,
    /// The policies that the settings before the change come from.
    pub before_from: Vec<Named>,
    /// The settings after the change; null in the same cases, with `afterFrom`.
    pub after: Option<Value>,
    /// The policies that the settings after the change come from.
    pub after_from: Vec<Named>,
    /// The settings that change; empty if only the controller of the kind knows them, or if only the order of a list
    /// changes.
    pub fields: Vec<Field>,
}

/// Whether a target remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TargetChange {
    /// The target remains and its effective policy changes.
    Changed,
    /// The target or a path to it is new.
    Added,
    /// The target or the path to it is removed.
    Removed,
}

/// The number of changed paths, of all paths to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Paths {
    /// The number of paths with this change.
    pub changed: usize,
    /// The number of all paths.
    pub of: usize,
}

/// An object in the change that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NoEffect")]
pub struct ObjectWithoutEffect {
    /// The object.
    pub object: Named,
    /// Whether that is known. It is not if nobody knows whether the policy is in force.
    pub is_known: bool,
    /// The reason as a text.
    pub reason: String,
}

/// The number of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Objects with changes; sections of one object are not counted separately.
    pub objects: usize,
    /// Policies whose settings come into force or stop being in force.
    pub policies: usize,
}

impl Answer for Impact {
    const KIND: &'static str = "Impact";
}

/// Two states that are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct States<'a> {
    pub(super) before: &'a Snapshot,
    pub(super) after: &'a Snapshot,
    /// Objects that have another name afterwards. Answers use the later names.
    pub(super) renames: &'a Renames,
}

/// The objects of one change.
#[derive(Clone, Debug, Default)]
pub struct ChangedObjects {
    /// The objects that are applied.
    pub applied: BTreeSet<ObjectKey>,
    /// The objects that are deleted, as the user named them.
    pub deleted: BTreeSet<ObjectKey>,
    /// The objects that are deleted with these.
    pub with_them: BTreeSet<ObjectKey>,
}

/// Compares the states before and after a change, and which rules take requests.
pub fn impact_on_requests(states: [&Matching<'_>; 2], changed: &ChangedObjects) -> Impact {
    let [before, after] = states.map(Matching::snapshot);
    let mut impact = impact(before, after, changed);
    let mut requests = rerouted_requests::requests(states, &differing(before, after, changed));
    impact.traffic.add(&mut requests);
    if !requests.lost.is_empty() && changed.all().count() == 1 {
        // The only object of the change is the cause.
        impact.idle.clear();
    }
    protection::add(&mut impact.lost_protection, requests.lost);
    impact
}

/// The protections that requests lose because another rule takes them after the change, and that no changed path loses.
pub fn lost_by_requests(
    states: [&Matching<'_>; 2],
    changed: &ChangedObjects,
) -> Vec<LostProtection> {
    let [before, after] = states.map(Matching::snapshot);
    let differing = differing(before, after, changed);
    let lost = rerouted_requests::requests(states, &differing).lost;
    if lost.is_empty() {
        return lost;
    }
    let differing_paths = differences(before, after, &differing);
    let known = protection::lost_protection(&States::same_names(before, after), &differing_paths);
    protection::unknown(&known, lost)
}

/// Compares the states before and after a change, without requests: their matches are not in snapshots.
pub fn impact(before: &Snapshot, after: &Snapshot, objects: &ChangedObjects) -> Impact {
    let differing = differing(before, after, objects);
    let states = States::same_names(before, after);
    let differing_paths = differences(before, after, &differing);
    let (changes, policies) = changes::changes(&states, &differing_paths);
    let (traffic, opened) = traffic::lost_traffic(before, after, &differing);
    let mut lost_protection = protection::lost_protection(&states, &differing_paths);
    protection::add(
        &mut lost_protection,
        protection::at_listeners(&states, &opened, &differing),
    );
    protection::add(
        &mut lost_protection,
        protection::by_acceptance(&states, &differing),
    );
    let orphaned = orphaned::orphaned(before, after, &differing);
    let is_nothing = changes.is_empty() && lost_protection.is_empty() && orphaned.is_empty();
    let alone = is_nothing && objects.all().count() == 1;
    let idle = no_effect::without_effect(before, after, objects, &policies, alone);
    let affected = changes.iter().map(|change| &change.object.0.object);
    let affected: BTreeSet<&ObjectKey> = affected.collect();
    Impact {
        applied: named(&objects.applied),
        deleted: named(&objects.deleted),
        deleted_with: objects.with_them.len(),
        findings: Vec::new(),
        guardrails: Vec::new(),
        deleted_routes: attached_routes(before, objects),
        lost_protection,
        summary: Summary {
            objects: affected.len(),
            policies: policies.len(),
        },
        traffic,
        changes,
        orphaned: named(&orphaned),
        idle,
    }
}

/// The objects of a change that differ.
fn differing(before: &Snapshot, after: &Snapshot, changed: &ChangedObjects) -> Vec<ObjectKey> {
    let differs = |key: &&ObjectKey| match (before.get(key), after.get(key)) {
        (Some(old), Some(new)) => !old.is_same(new),
        _ => true,
    };
    changed.all().filter(differs).cloned().collect()
}

/// Counts the deleted routes that were attached to a parent.
fn attached_routes(before: &Snapshot, changed: &ChangedObjects) -> usize {
    let mut route_kind_conflicts = RouteKindConflicts::new(before);
    let gone = changed.deleted.iter().chain(&changed.with_them);
    let gone = gone.filter_map(|key| before.get(key));
    gone.filter(|route| {
        let Node::Route { parents, .. } = &route.node else {
            return false;
        };
        let mut parents = parents.iter();
        parents.any(|parent| {
            matches!(
                parent_attachment(&mut route_kind_conflicts, route, parent),
                ParentAttachment::Attached(_)
            )
        })
    })
    .count()
}

// === impl Impact ===

impl Impact {
    /// The same, with findings on guardrails.
    #[must_use]
    pub fn with_guardrails(mut self, findings: &[Finding]) -> Self {
        let findings = findings.iter();
        let reported = findings.map(|finding| ReportedFinding::new(finding, None, None));
        self.guardrails.extend(reported);
        self
    }

    /// Whether nothing in force changes, and no request.
    pub fn is_without_effect(&self) -> bool {
        self.changes.is_empty()
            && self.traffic.is_empty()
            && self.lost_protection.is_empty()
            && self.orphaned.is_empty()
    }
}

// === impl States ===

impl<'a> States<'a> {
    /// States in which all objects keep their names.
    fn same_names(before: &'a Snapshot, after: &'a Snapshot) -> Self {
        Self {
            before,
            after,
            renames: Renames::NONE,
        }
    }

    /// Whether an object is there before, and not afterwards.
    pub(super) fn is_gone(&self, object: &ObjectKey) -> bool {
        let former = self.renames.former(object);
        let was_there = former.is_some_and(|key| self.before.get(&key).is_some());
        was_there && self.after.get(object).is_none()
    }
}

// === impl ChangedObjects ===

impl ChangedObjects {
    fn all(&self) -> impl Iterator<Item = &ObjectKey> {
        let gone = self.deleted.iter().chain(&self.with_them);
        self.applied.iter().chain(gone)
    }
}
