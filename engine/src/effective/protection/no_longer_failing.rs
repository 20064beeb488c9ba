//! Requests that got an error before a change because of a rejected policy, and pass after it without the protections whose place
//! the policy takes.

use std::collections::BTreeMap;

use super::{ProtectionLoss, lost};
use crate::attachment::Dependents;
use crate::effective::Resolver;
use crate::effective::impact::{EffectiveChange, diff};
use crate::effective::renames::Renames;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::is_route;
use crate::policy::Policy;
use crate::state::deleted_with::without;
use crate::state::snapshot::Snapshot;

/// A loss of a protection of this kind, and the policy that is no longer rejected.
pub type LossByAcceptance = (GroupKind, ProtectionLoss, ObjectKey);

/// The protections that requests pass without after a change of `objects`, because a policy that takes the place of others is no
/// longer rejected. `None` if it takes too much work to tell.
///
/// Neither step is a loss on its own: the policy came when its requests got an error, and what it replaces was not in force any
/// more when it was accepted. So the state after the change is compared with the one without the policy.
pub fn lost_by_acceptance(
    [before, after]: [&Snapshot; 2],
    objects: &[ObjectKey],
) -> Option<Vec<LossByAcceptance>> {
    let mut losses = Vec::new();
    for (kind, policies) in accepted([before, after], objects) {
        for policy in policies {
            let key = policy.key();
            let without_policy = without(before.clone(), [key]);
            let mut earlier = Resolver::bounded(&without_policy);
            let mut later = earlier.for_snapshot(after);
            let changes = diff(&mut earlier, &mut later, std::slice::from_ref(key));
            if earlier.is_spent() || later.is_spent() {
                return None;
            }
            let by_it = |change: &&EffectiveChange| {
                change.kind == *kind && change.after.policies().contains(key)
            };
            let changes = changes.iter().filter(by_it);
            let lost = lost([&without_policy, after], Renames::NONE, kind, &changes).into_iter();
            losses.extend(lost.map(|mut loss| {
                let why = format!(
                    "its requests got an error while {} was rejected",
                    key.text()
                );
                loss.lost.reasons = [why.into()].into();
                (kind.clone(), loss, key.clone())
            }));
        }
    }
    Some(losses)
}

/// The policies that depend on one of these objects, by kind, and because of which requests fail before a change alone.
fn accepted<'a>(
    [before, after]: [&'a Snapshot; 2],
    objects: &[ObjectKey],
) -> BTreeMap<&'a GroupKind, Vec<&'a Policy>> {
    // No deletion makes a controller accept a policy that names the object.
    let is_possible = |key: &&ObjectKey| {
        !is_route(&key.gk) && !key.gk.has_listeners() && after.get(key).is_some()
    };
    let objects: Vec<&ObjectKey> = objects.iter().filter(is_possible).collect();
    let mut dependents = Dependents::of(after, &objects);
    let mut accepted: BTreeMap<&GroupKind, Vec<&Policy>> = BTreeMap::new();
    for kind in after.used_kinds().filter(|_| !objects.is_empty()) {
        let profile = after.profile(kind);
        if !profile
            .is_some_and(|profile| profile.may_fail_requests() && !profile.protects.is_empty())
        {
            continue;
        }
        for policy in after.policies(kind) {
            let key = policy.key();
            let is_concerned = objects.contains(&key) || dependents.has(policy);
            let failed = || {
                before
                    .policy(key)
                    .is_some_and(|old| old.requests_fail(before))
            };
            if is_concerned && failed() && !policy.requests_fail(after) {
                accepted.entry(kind).or_default().push(policy);
            }
        }
    }
    accepted
}
