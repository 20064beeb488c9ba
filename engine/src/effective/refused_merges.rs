//! Policies of routes that controllers reject once they are merged with those above: the settings that result are not
//! valid, though those of each policy are.

use std::borrow::Cow;
use std::sync::Arc;

use super::stack_level::{Stack, StackLevel, folded_levels};
use crate::attachment::rejection::is_reported_accepted;
use crate::kinds::profile::{MergeWith, Profile};
use crate::merge::{MergeLevel, fold_cost, fold_levels};
use crate::model::ids::GroupKind;
use crate::policy::Policy;
use crate::policy::fuel::{self, Fuel};
use crate::state::snapshot::Snapshot;

/// Marks the policies of a route for which the controllers reject the merged settings. A policy of the whole route
/// takes the place of a rejected one of a rule, and is merged in turn.
pub(super) fn mark_refused_merges(
    snapshot: &Snapshot,
    profile: &Profile,
    stack: &mut Stack,
    route: Option<&GroupKind>,
    fuel: &Fuel,
) {
    let Some(route) = route.filter(|_| may_refuse_merges(profile)) else {
        return;
    };
    let is_below = |level: &StackLevel| !level.step.level.is_upper();
    while let Some(level) = folded_levels(profile, stack)
        .last()
        .filter(|last| is_below(last))
    {
        let place = level.step.place.clone();
        let Some(why) = refused_merge(snapshot, profile, stack, route, fuel) else {
            return;
        };
        for level in stack.iter_mut().filter(|level| level.step.place == place) {
            level.refuse_merge(why.clone());
        }
    }
}

/// Why controllers reject the settings that the most specific policy has after the merge with those above.
fn refused_merge(
    snapshot: &Snapshot,
    profile: &Profile,
    stack: &Stack,
    route: &GroupKind,
    fuel: &Fuel,
) -> Option<Arc<str>> {
    let levels: Vec<&StackLevel> = folded_levels(profile, stack).collect();
    let (last, above) = levels.split_last()?;
    let policy = last.policies.first()?;
    if !policy.chooses_to_merge() || is_reported_accepted(snapshot, policy) {
        return None;
    }
    let above = above
        .iter()
        .rev()
        .find_map(|level| level.policies.first())?;
    let policies: Vec<_> = levels.iter().map(|level| &*level.policies).collect();
    fuel.spend(fuel::FOLD + fold_cost(profile, &policies, None));
    if fuel.is_spent() {
        return None;
    }
    // The controllers merge policies as they are written, also with one that they reject itself.
    let policies = levels
        .iter()
        .map(|level| written(snapshot, &level.policies));
    let policies: Vec<Cow<'_, [Arc<Policy>]>> = policies.collect();
    let mut each = policies.iter();
    let is_above_rejected = each.any(|policies| matches!(policies, Cow::Owned(_)));
    let levels = policies.iter().zip(&levels);
    let levels: Vec<MergeLevel<'_>> = levels
        .map(|(policies, level)| MergeLevel {
            policies,
            ..level.folded()
        })
        .collect();
    let (merged, _) = fold_levels(profile, &levels, None).spec()?;
    let rejected = profile.rejected_by(&merged, &policy.object.meta);
    let mut rejected = rejected
        .iter()
        .filter_map(|index| profile.rejected_if.get(*index));
    let rejected = rejected.find(|rejected| {
        // Requests fail anyway where the policy above is rejected.
        let counts = !rejected.requests_fail || is_above_rejected;
        rejected.is_about(route) && rejected.controllers.is_empty() && counts
    })?;
    Some(Arc::from(format!(
        "its settings, merged with those of {}, are rejected: {}",
        above.key().path(),
        rejected.text
    )))
}

/// Attached policies with the settings that they are written with. Owned if one is attached without them, because its controllers
/// reject it.
fn written<'a>(snapshot: &Snapshot, attached: &'a [Arc<Policy>]) -> Cow<'a, [Arc<Policy>]> {
    let with_settings = |one: &Arc<Policy>| {
        let written = snapshot.policy(one.key()).filter(|_| one.is_empty())?;
        (!written.is_empty()).then(|| written.clone())
    };
    if !attached.iter().any(|one| with_settings(one).is_some()) {
        return Cow::Borrowed(attached);
    }
    let policies = attached.iter();
    let policies = policies.map(|one| with_settings(one).unwrap_or_else(|| one.clone()));
    Cow::Owned(policies.collect())
}

/// Whether controllers may reject what results from a merge.
fn may_refuse_merges(profile: &Profile) -> bool {
    !profile.rejected_if.is_empty() && *profile.merging.merge_with == MergeWith::NearestAboveRoutes
}
