//! `attache impact`: what a change does, before and after, per effective target, field by field.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Answer;
use super::named::{KindName, Named, named};
use super::report::ReportedFinding;
use crate::engine::effective::impact::impact as differences;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::model::object::Node;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::topology::{KeptOutCache, ParentAttachment, attachment};

mod changes;
mod fields;
mod idle;
mod protection;
mod traffic;

pub use fields::Field;
pub use protection::LostProtection;
pub use traffic::{Cut, Entry, Gained, Moved, Reduced, Traffic};

/// What a change does to effective policies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Impact {
    /// The objects that are applied.
    pub applied: Vec<Named>,
    /// The objects that are deleted, as they were named.
    pub deleted: Vec<Named>,
    /// How many more go with those: what a Namespace holds, the objects of a definition.
    pub deleted_with: usize,
    /// What the API server would refuse or drop in the applied objects: versions and fields that their definitions do not
    /// have, and rules that they break.
    pub findings: Vec<ReportedFinding>,
    /// How many of all these are routes that were attached.
    pub deleted_routes: usize,
    /// Protections that requests had before the change, and have not after it.
    pub lost_protection: Vec<LostProtection>,
    /// What it does to the requests of routes that stay.
    pub traffic: Traffic,
    /// What changes, by target.
    pub changes: Vec<Change>,
    /// Objects of the change that change nothing, and why.
    pub idle: Vec<NoEffect>,
    /// How much changes.
    pub summary: Summary,
}

/// What changes at one effective target, of one kind of policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The effective target.
    pub object: Named,
    /// Whether the target stays, or comes or goes with the change.
    pub change: What,
    /// Whether the object of the target is deleted with the change.
    #[serde(skip)]
    pub is_gone: bool,
    /// The places of the first path that changes in this way, from the top of the topology.
    pub path: Vec<Named>,
    /// How many paths do.
    pub paths: Paths,
    /// The kind of policy.
    pub policy_kind: KindName,
    /// The settings before; null where nothing was in force, and where only the kind's own controller
    /// knows what was: then `beforeFrom` has the policies.
    pub before: Option<Value>,
    /// The policies that took part in it.
    pub before_from: Vec<Named>,
    /// The settings afterwards; null as before.
    pub after: Option<Value>,
    /// The policies that take part in it.
    pub after_from: Vec<Named>,
    /// The settings that differ; empty where only the kind's own controller knows them, and where only
    /// the order of a list differs.
    pub fields: Vec<Field>,
}

/// What becomes of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum What {
    /// It stays, and what is in force at it changes.
    Changed,
    /// It is new, or reached by a new path: this comes into force.
    Added,
    /// It is gone, or no longer reached by the path.
    Removed,
}

/// How many paths change, of how many that lead to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Paths {
    /// Those that change in this way.
    pub changed: usize,
    /// Those that there are.
    pub of: usize,
}

/// An object of the change that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoEffect {
    /// The object.
    pub object: Named,
    /// Why, in words.
    pub reason: String,
}

/// How much changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Objects at which something changes; sections are not counted apart.
    pub objects: usize,
    /// Policies whose settings come or go.
    pub policies: usize,
}

impl Answer for Impact {
    const KIND: &'static str = "Impact";
}

/// The objects of one change.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// The objects that are applied.
    pub applied: BTreeSet<ObjectKey>,
    /// The objects that are deleted, as the user named them.
    pub deleted: BTreeSet<ObjectKey>,
    /// The objects that are deleted with these.
    pub with_them: BTreeSet<ObjectKey>,
}

/// Compares the states before and after a change.
pub fn impact(before: &Snapshot, after: &Snapshot, doing: &Effect) -> Impact {
    let touched: Vec<ObjectKey> = doing.all().cloned().collect();
    let differs = |key: &&ObjectKey| match (before.get(key), after.get(key)) {
        (Some(old), Some(new)) => !old.is_same(new),
        _ => true,
    };
    let differing: Vec<ObjectKey> = touched.iter().filter(differs).cloned().collect();
    let found = differences(before, after, &differing);
    let (changes, policies) = changes::changes(before, after, &found);
    let alone = changes.is_empty() && touched.len() == 1;
    let idle = idle::idle(before, after, doing, &policies, alone);
    let objects = changes.iter().map(|change| &change.object.0.object);
    let objects: BTreeSet<&ObjectKey> = objects.collect();
    let traffic = traffic::of(before, after, &differing);
    let lost_protection = protection::lost_protection(before, after, &found);
    Impact {
        applied: named(&doing.applied),
        deleted: named(&doing.deleted),
        deleted_with: doing.with_them.len(),
        findings: Vec::new(),
        deleted_routes: attached_routes(before, doing),
        lost_protection,
        summary: Summary {
            objects: objects.len(),
            policies: policies.len(),
        },
        traffic,
        changes,
        idle,
    }
}

/// Counts the deleted routes that were attached to a parent.
fn attached_routes(before: &Snapshot, doing: &Effect) -> usize {
    let mut one_kind = KeptOutCache::new(before);
    let gone = doing.deleted.iter().chain(&doing.with_them);
    let gone = gone.filter_map(|key| before.get(key));
    gone.filter(|route| {
        let Node::Route { parents, .. } = &route.node else {
            return false;
        };
        let mut parents = parents.iter();
        parents.any(|parent| {
            matches!(
                attachment(&mut one_kind, route, parent),
                ParentAttachment::Attached(_)
            )
        })
    })
    .count()
}

/// The objects that are deleted along with others: the contents of a Namespace, and the objects of a CRD.
pub fn with_them(snapshot: &Snapshot, deleted: &BTreeSet<ObjectKey>) -> BTreeSet<ObjectKey> {
    let mut namespaces = BTreeSet::new();
    let mut kinds: BTreeSet<GroupKind> = BTreeSet::new();
    for key in deleted {
        if key.gk.is_core("Namespace") {
            namespaces.insert(key.name.clone());
        }
        if let Some(Node::Crd(crd)) = snapshot.get(key).map(|object| &object.node) {
            kinds.insert(crd.gk.clone());
        }
    }
    if namespaces.is_empty() && kinds.is_empty() {
        return BTreeSet::new();
    }
    let all = snapshot.all().map(|object| &object.key);
    let goes = |key: &&ObjectKey| {
        let held = !key.namespace.is_empty() && namespaces.contains(&key.namespace);
        (held || kinds.contains(&key.gk)) && !deleted.contains(*key)
    };
    all.filter(goes).cloned().collect()
}

// === impl Effect ===

impl Effect {
    fn all(&self) -> impl Iterator<Item = &ObjectKey> {
        let gone = self.deleted.iter().chain(&self.with_them);
        self.applied.iter().chain(gone)
    }
}
