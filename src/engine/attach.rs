//! Which policies stand at a place.

use std::sync::Arc;

use super::ids::{ObjectKey, Place};
use super::object::Meta;
use super::policy::{Policy, Select, TargetRef, is_cluster_scoped};
use super::snapshot::Snapshot;

/// Policies attached at this place itself, the established first (oldest, then `namespace/name`).
///
/// A policy of a namespace attaches to objects of that namespace only, to its own Namespace, and to
/// cluster-scoped kinds that its profile names; what needs a grant is not attached (ruling 16).
pub fn attached(snapshot: &Snapshot, place: &Place) -> Vec<Arc<Policy>> {
    let by_name = snapshot.naming(&place.object);
    let by_label = snapshot.selecting(&place.object.gk);
    let mut found: Vec<Arc<Policy>> = by_name
        .chain(by_label)
        .filter(|policy| {
            policy
                .targets
                .iter()
                .any(|t| names(snapshot, policy, t, place))
        })
        .cloned()
        .collect();
    found.sort_by_cached_key(|policy| policy.precedence());
    found.dedup_by(|a, b| a.key() == b.key());
    found
}

/// Whether one target of a policy is this place.
fn names(snapshot: &Snapshot, policy: &Policy, target: &TargetRef, place: &Place) -> bool {
    let object = &place.object;
    target.gk == object.gk
        && target.section == place.section
        && in_reach(policy, object)
        && match &target.select {
            Select::Name(name) => *name == object.name,
            Select::Labels(labels) => snapshot
                .get(object)
                .is_some_and(|found| has_labels(&found.meta, labels)),
        }
}

/// Whether a policy may attach to an object at all, by their scopes.
pub fn in_reach(policy: &Policy, object: &ObjectKey) -> bool {
    let own = &policy.key().namespace;
    if own.is_empty() {
        return true;
    }
    if is_cluster_scoped(&object.gk) {
        let own_namespace = object.gk.is_core("Namespace") && object.name == *own;
        own_namespace || policy.profile.allows_explicitly(&object.gk)
    } else {
        object.namespace == *own
    }
}

fn has_labels(meta: &Meta, wanted: &std::collections::BTreeMap<Arc<str>, Arc<str>>) -> bool {
    wanted
        .iter()
        .all(|(key, value)| meta.labels.get(key) == Some(value))
}
