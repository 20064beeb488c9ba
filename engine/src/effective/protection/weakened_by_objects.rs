//! Objects that policies name, and with whose values these policies protect less after a change.

use std::collections::BTreeSet;

use super::{AtPath, LostSources, ProtectionLoss};
use crate::effective::Resolver;
use crate::kinds::profile::{ObjectWeakness, Profile};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::shared::Shared;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// The protections that policies give up because of a change of objects that they name. One loss for each target of such a policy.
pub(super) fn lost_by_named_objects(
    [resolver_before, resolver_after]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let (before, after) = (resolver_before.snapshot(), resolver_after.snapshot());
    let changed: BTreeSet<&ObjectKey> = objects.iter().collect();
    let mut losses = Vec::new();
    for kind in before.used_kinds() {
        let profile = before.profile(kind);
        let Some(profile) = profile.filter(|profile| may_be_weakened(profile)) else {
            continue;
        };
        for policy in before.policies(kind) {
            // The settings of a policy that changes itself are compared.
            if changed.contains(policy.key()) || !is_weakened(policy, &changed, [before, after]) {
                continue;
            }
            for target in targets_of_policy(resolver_after, policy) {
                let resolvers = [&mut *resolver_before, &mut *resolver_after];
                let [earlier, later] =
                    resolvers.map(|resolver| paths_with(resolver, &target, policy.key()));
                if earlier.is_empty() || later.is_empty() {
                    continue;
                }
                for protection in profile.protects.iter() {
                    let taken = LostSources::between(
                        profile,
                        protection,
                        (before, &earlier),
                        (after, &later),
                    );
                    losses.extend(taken.map(|taken| {
                        let loss = ProtectionLoss::of_object(&protection.name, &target, taken);
                        (kind.clone(), loss)
                    }));
                }
            }
        }
    }
    losses
}

/// Whether objects that policies of a kind name may weaken their settings.
fn may_be_weakened(profile: &Profile) -> bool {
    let mut references = profile.references.iter();
    references.any(|reference| !reference.weakened_by.is_empty())
}

/// Whether one of the changed objects weakens the settings of a policy as it did not before.
fn is_weakened(policy: &Policy, changed: &BTreeSet<&ObjectKey>, states: [&Snapshot; 2]) -> bool {
    let mut references = policy.references.iter();
    references.any(|named| changed.contains(&named.object)) && {
        let [earlier, later]: [Vec<&ObjectWeakness>; 2] =
            states.map(|state| policy.weakened_by_objects(state, |_| true));
        later.iter().any(|weakness| !earlier.contains(weakness))
    }
}

fn paths_with(resolver: &mut Resolver<'_>, target: &ObjectKey, policy: &ObjectKey) -> Vec<AtPath> {
    let effective = effective_with(resolver, target, policy).into_iter();
    effective.map(|one| (one, None)).collect()
}

/// The objects that a policy names or selects.
pub(super) fn targets_of_policy(resolver: &Resolver<'_>, policy: &Policy) -> BTreeSet<ObjectKey> {
    let own = &policy.key().namespace;
    let targets = policy.targets.iter();
    targets
        .flat_map(|target| resolver.targets_of(own, target))
        .collect()
}

/// The effective policies on the paths through a target of which a policy is a part.
pub(super) fn effective_with(
    resolver: &mut Resolver<'_>,
    target: &ObjectKey,
    policy: &ObjectKey,
) -> Vec<Shared<EffectivePolicy>> {
    let groups = resolver.paths_through(target, &policy.gk).into_iter();
    let attached = groups.filter(|group| group.attached);
    let effective = attached.map(|group| group.effective);
    effective
        .filter(|one| one.policies().contains(policy))
        .collect()
}
