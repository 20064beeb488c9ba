//! Policies that a change leaves without a target.

use std::collections::BTreeSet;

use crate::engine::attachment::rejection::RejectionFinder;
use crate::engine::attachment::{attached_to, targets_of};
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::{Snapshot, namespace_key};

/// The policies that are attached to one of the changed objects, or to one in a changed Namespace or that of a changed
/// `ReferenceGrant`, before and to nothing after, and are not changed themselves. One that is rejected at a target has not lost it.
pub(super) fn orphaned(
    before: &Snapshot,
    after: &Snapshot,
    changed: &[ObjectKey],
) -> BTreeSet<ObjectKey> {
    let rejections = RejectionFinder::default();
    let around: BTreeSet<ObjectKey> = changed
        .iter()
        .flat_map(|key| reached_through(before, key))
        .collect();
    let attached_before = around
        .iter()
        .flat_map(|key| attached_to(before, key, &rejections));
    let attached_before: BTreeSet<ObjectKey> = attached_before
        .map(|attachment| attachment.policy.key().clone())
        .collect();
    let others = attached_before
        .into_iter()
        .filter(|key| !changed.contains(key));
    let rejections = RejectionFinder::default();
    let is_rejected = |policy: &Policy, object: ObjectKey, section| {
        let exists = after.get(&object).is_some();
        let place = Place { object, section };
        exists && rejections.rejection_of(after, policy, &place).is_some()
    };
    let has_target = |policy: &Policy| {
        let own = &policy.key().namespace;
        policy.targets.iter().any(|named| {
            let mut targets = targets_of(after, own, named).into_iter();
            targets.any(|target| {
                let there = attached_to(after, &target, &rejections);
                let mut there = there.iter();
                let is_attached = there.any(|one| one.policy.key() == policy.key());
                let section = named.section.clone();
                is_attached || is_rejected(policy, target, section)
            })
        })
    };
    let left = others.filter(|key| after.policy(key).is_some_and(|policy| !has_target(policy)));
    left.collect()
}

/// An object, and the objects that policies reach only because of it: those in a Namespace, by its labels, and those in the Namespace
/// of a `ReferenceGrant`.
fn reached_through(snapshot: &Snapshot, key: &ObjectKey) -> Vec<ObjectKey> {
    let namespace = if key.gk.is_gateway_api("ReferenceGrant") {
        Some(namespace_key(&key.namespace))
    } else {
        key.gk.is_core("Namespace").then(|| key.clone())
    };
    let there = namespace
        .iter()
        .flat_map(|namespace| snapshot.below(namespace));
    let there = there.map(|object| object.key.clone());
    there.chain([key.clone()]).collect()
}
