//! Requests that got an error before a change because of a rejected policy, and pass after it without the protections whose place
//! the policy takes.

use super::provided::Provided;
use super::weakened_by_objects::{effective_with, targets_of_policy};
use super::{LostSources, ProtectionLoss, Resolve, losses};
use crate::attachment::Dependents;
use crate::effective::Resolver;
use crate::effective::applying::takes_part;
use crate::effective::impact::{EffectiveChange, diff};
use crate::effective::renames::Renames;
use crate::model::ids::ObjectKey;
use crate::model::object::is_route;
use crate::policy::Policy;
use crate::state::deleted_with::without;
use crate::state::snapshot::Snapshot;

/// A policy that is no longer rejected after a change, and what it takes from others.
pub struct AcceptedPolicy {
    /// The policy.
    pub policy: ObjectKey,
    /// The object by whose change it is accepted.
    pub cause: ObjectKey,
    /// The state before the change without the policy.
    pub without: Snapshot,
    /// The protections that the policy removes.
    pub losses: Vec<ProtectionLoss>,
    /// Those that it would provide itself, where its controllers leave them out and let requests pass.
    pub left_out: Vec<ProtectionLoss>,
}

/// The policies that are no longer rejected after a change of `objects`, and take the place of others. `None` if it takes too much
/// work to tell.
///
/// Neither step is a loss on its own: the policy came when its requests got an error, and what it replaces was not in force any
/// more when it was accepted. So the state after the change is compared with the one without the policy.
pub fn lost_by_acceptance(
    states: [&Snapshot; 2],
    objects: &[ObjectKey],
) -> Option<Vec<AcceptedPolicy>> {
    by_acceptance((states, |state| Resolver::bounded(state)), objects)
}

/// Like [`lost_by_acceptance`], however much work it is.
pub fn all_lost_by_acceptance(
    states: [&Snapshot; 2],
    objects: &[ObjectKey],
) -> Vec<AcceptedPolicy> {
    by_acceptance((states, |state| Resolver::new(state)), objects).unwrap_or_default()
}

fn by_acceptance(
    (states, resolve): ([&Snapshot; 2], Resolve),
    objects: &[ObjectKey],
) -> Option<Vec<AcceptedPolicy>> {
    let [before, after] = states;
    let mut resolver_before = resolve(before);
    let mut all = Vec::new();
    for (policy, cause) in accepted([before, after], objects) {
        let key = policy.key();
        let kind = &key.gk;
        let without = without(before.clone(), [key]);
        let mut earlier = resolver_before.for_snapshot(&without);
        let mut later = earlier.for_snapshot(after);
        let changes = diff(&mut earlier, &mut later, std::slice::from_ref(key));
        // Elsewhere, requests got no error because of it.
        let mut failed_at = |object: &ObjectKey| takes_part(&mut resolver_before, key, object);
        let mut by_it = |change: &&EffectiveChange| {
            change.kind == *kind
                && change.after.policies().contains(key)
                && change.paths.objects().any(&mut failed_at)
        };
        let changes: Vec<&EffectiveChange> = changes.iter().filter(&mut by_it).collect();
        if earlier.is_spent() || later.is_spent() || resolver_before.is_spent() {
            return None;
        }
        let changes = changes.iter().copied();
        let states = ([&without, after], resolve);
        let mut losses = losses(states, Renames::NONE, kind, &changes, |_| ())?;
        let why = format!(
            "its requests got an error while {} was rejected",
            key.text()
        );
        let mut left_out = own_settings_left_out([before, after], &mut later, policy, &losses);
        if later.is_spent() {
            return None;
        }
        for loss in &mut losses {
            loss.lost.reasons = [why.as_str().into()].into();
        }
        let why = "its requests got an error before, and now pass without it";
        for loss in &mut left_out {
            loss.lost.reasons = [why.into()].into();
        }
        all.push(AcceptedPolicy {
            policy: key.clone(),
            cause: cause.clone(),
            without,
            losses,
            left_out,
        });
    }
    Some(all)
}

/// The protections that a policy which no longer makes requests fail would provide by its own settings, where these are left out after
/// the change: its requests pass without them. Without those that are `known` already.
fn own_settings_left_out(
    [before, after]: [&Snapshot; 2],
    later: &mut Resolver<'_>,
    policy: &Policy,
    known: &[ProtectionLoss],
) -> Vec<ProtectionLoss> {
    let Some(old) = before.policy(policy.key()) else {
        return Vec::new();
    };
    let (key, profile) = (policy.key(), &policy.profile);
    let mut losses = Vec::new();
    for target in targets_of_policy(later, policy) {
        let there = effective_with(later, &target, key);
        for protection in profile.protects.iter() {
            let is_known = |loss: &ProtectionLoss| loss.protection == protection.name;
            let provided = Provided::from_policy(before, protection, old);
            let of_path =
                |effective| Provided::from_effective(after, profile, protection, effective);
            let remaining = there.iter().map(|one| of_path(one).coverage).min();
            if known.iter().any(is_known)
                || remaining.is_none_or(|remaining| remaining >= provided.coverage)
            {
                continue;
            }
            let lost = LostSources::all_of([provided]);
            let of_target = |lost| ProtectionLoss::of_object(&protection.name, &target, lost);
            losses.extend(lost.map(of_target));
        }
    }
    losses
}

/// The policies because of which requests fail before a change alone, each with the one of the changed objects that it depends on.
fn accepted<'a>(
    [before, after]: [&'a Snapshot; 2],
    objects: &'a [ObjectKey],
) -> Vec<(&'a Policy, &'a ObjectKey)> {
    // No deletion makes a controller accept a policy that names the object.
    let is_possible = |key: &&ObjectKey| {
        !is_route(&key.gk) && !key.gk.has_listeners() && after.get(key).is_some()
    };
    let mut objects = objects.iter().filter(is_possible).peekable();
    if objects.peek().is_none() {
        return Vec::new();
    }
    let mut dependents = Dependents::of(after, objects);
    let mut accepted = Vec::new();
    for kind in after.used_kinds() {
        let profile = after.profile(kind);
        let is_possible = profile
            .is_some_and(|profile| profile.may_fail_requests() && !profile.protects.is_empty());
        if !is_possible {
            continue;
        }
        for policy in after.policies(kind) {
            let Some(cause) = dependents.deciding(policy) else {
                continue;
            };
            let old = before.policy(policy.key());
            if old.is_some_and(|old| old.requests_fail(before)) && !policy.requests_fail(after) {
                accepted.push((&**policy, cause));
            }
        }
    }
    accepted
}
