//! Policies that a change leaves without a target.

use std::collections::BTreeSet;

use crate::engine::attachment::rejection::RejectionFinder;
use crate::engine::attachment::{attached_to, targets_of};
use crate::engine::model::ids::ObjectKey;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;

/// The policies that are attached to one of the changed objects before and to nothing after, and are not changed
/// themselves.
pub(super) fn orphaned(
    before: &Snapshot,
    after: &Snapshot,
    changed: &[ObjectKey],
) -> BTreeSet<ObjectKey> {
    let rejections = RejectionFinder::default();
    let attached_before = changed
        .iter()
        .flat_map(|key| attached_to(before, key, &rejections));
    let attached_before: BTreeSet<ObjectKey> = attached_before
        .map(|attachment| attachment.policy.key().clone())
        .collect();
    let others = attached_before
        .into_iter()
        .filter(|key| !changed.contains(key));
    let rejections = RejectionFinder::default();
    let is_attached = |policy: &Policy| {
        let own = &policy.key().namespace;
        let targets = policy.targets.iter();
        let mut targets = targets.flat_map(|target| targets_of(after, own, target));
        targets.any(|target| {
            let there = attached_to(after, &target, &rejections);
            there
                .iter()
                .any(|attachment| attachment.policy.key() == policy.key())
        })
    };
    let left = others.filter(|key| after.policy(key).is_some_and(|policy| !is_attached(policy)));
    left.collect()
}
