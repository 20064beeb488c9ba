//! Policies of routes that controllers reject once they are merged with those above: the settings that result are not
//! valid, though those of each policy are.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::policy_list::PolicyList;
use super::stack_level::{Stack, StackLevel, folded_levels};
use crate::attachment::rejection::is_reported_accepted;
use crate::kinds::profile::{MergeWith, Profile, collect};
use crate::merge::{EffectivePolicy, MergeLevel, fold_cost, fold_levels};
use crate::model::ids::{GroupKind, Place};
use crate::policy::fuel::{self, Fuel};
use crate::policy::{InForce, Policy};
use crate::state::snapshot::Snapshot;

/// The policies of a level with the settings that they are written with; owned if they are attached without them.
type AsWritten<'a> = Cow<'a, [Arc<Policy>]>;

/// The result that controllers make of the merge of the most specific policy with those above.
enum MergeResult {
    /// They merge the policies as they are attached.
    AsAttached,
    /// They merge these, one of which they reject itself, as they are written.
    AsWritten(Vec<(Place, PolicyList)>),
    /// They reject the result, for this reason.
    Rejected(Arc<str>),
}

/// Marks the policies of a route for which the controllers reject the merged settings. A policy of the whole route
/// takes the place of a rejected one of a rule, and is merged in turn. Where the merge is not rejected, a rejected policy above gets the
/// settings back that it is written with.
pub(super) fn judge_merges(
    snapshot: &Snapshot,
    profile: &Profile,
    stack: &mut Stack,
    route: Option<&GroupKind>,
    fuel: &Fuel,
) {
    let Some(route) = route.filter(|_| may_reject_merges(profile)) else {
        return;
    };
    let is_below = |level: &StackLevel| !level.step.level.is_above_routes();
    while let Some(level) = folded_levels(profile, stack)
        .last()
        .filter(|last| is_below(last))
    {
        let place = level.step.place.clone();
        match merge(snapshot, profile, stack, route, fuel) {
            Some(MergeResult::Rejected(why)) => {
                for level in stack.iter_mut().filter(|level| level.step.place == place) {
                    level.reject_merge(why.clone());
                }
            }
            Some(MergeResult::AsWritten(lists)) => {
                for (place, policies) in lists {
                    for level in stack.iter_mut().filter(|level| level.step.place == place) {
                        level.policies = policies.clone();
                    }
                }
                return;
            }
            Some(MergeResult::AsAttached) | None => return,
        }
    }
}

/// Refuses the policies of a path if controllers apply none of the settings that they merge to. Whether they do.
pub(super) fn reject_if_not_applied(
    profile: &Profile,
    stack: &mut Stack,
    effective: &EffectivePolicy,
    fuel: &Fuel,
) -> bool {
    let not_applied = &profile.merging.not_applied_if;
    if not_applied.is_empty() {
        return false;
    }
    let mut length = 0;
    effective.visit(&mut |_, setting| length += setting.value.text().len());
    fuel.spend(not_applied.len() * (length / fuel::READ));
    if fuel.is_spent() {
        return false;
    }
    let why = effective
        .in_force()
        .map(InForce::json)
        .find_map(|settings| {
            let mut not_applied = not_applied.iter();
            not_applied.find(|values| values.is_about(&settings))
        });
    let Some(why) = why else {
        return false;
    };
    for level in stack {
        if level.rejected_merge().is_none() {
            level.reject_merge(why.text.clone());
        }
    }
    true
}

/// The merge of the most specific policy with those above; `None` if it merges with none.
fn merge(
    snapshot: &Snapshot,
    profile: &Profile,
    stack: &Stack,
    route: &GroupKind,
    fuel: &Fuel,
) -> Option<MergeResult> {
    let levels: Vec<&StackLevel> = folded_levels(profile, stack).collect();
    let (last, above) = levels.split_last()?;
    let policy = last.policies.first()?;
    if !policy.chooses_to_merge() {
        return None;
    }
    let above = above
        .iter()
        .rev()
        .find_map(|level| level.policies.first())?;
    // The controllers merge policies as they are written, also with one that they reject itself.
    let policies = levels
        .iter()
        .map(|level| written(snapshot, &level.policies));
    let policies: Vec<AsWritten<'_>> = policies.collect();
    let is_rejected = |policies: &AsWritten<'_>| matches!(policies, Cow::Owned(_));
    let has_rejected = policies.iter().any(is_rejected);
    // A policy that is rejected itself brings no settings into a merge.
    let restores = has_rejected && !policies.last().is_some_and(is_rejected);
    let mut why = None;
    if !is_reported_accepted(snapshot, policy) {
        let attached: Vec<_> = levels.iter().map(|level| &*level.policies).collect();
        fuel.spend(fuel::FOLD + fold_cost(profile, &attached, None));
        if fuel.is_spent() {
            return None;
        }
        if let Some(merged) = merged(profile, &levels, &policies) {
            let all = || policies.iter().flat_map(|policies| policies.iter());
            let unresolved = || restores.then(|| still_unresolved(snapshot, all(), &merged));
            why = rejected_for(profile, &merged, (policy, route), has_rejected)
                .or_else(|| unresolved().flatten());
        }
    }
    if let Some(why) = why {
        let with = above.key().path();
        return Some(MergeResult::Rejected(Arc::from(format!(
            "its settings, merged with those of {with}, are rejected: {why}"
        ))));
    }
    if !restores {
        return Some(MergeResult::AsAttached);
    }
    let lists = levels
        .iter()
        .zip(policies)
        .filter_map(|(level, policies)| match policies {
            Cow::Owned(policies) => Some((level.step.place.clone(), PolicyList::from(policies))),
            Cow::Borrowed(_) => None,
        });
    Some(MergeResult::AsWritten(lists.collect()))
}

/// The settings that these policies merge to.
fn merged(profile: &Profile, levels: &[&StackLevel], policies: &[AsWritten<'_>]) -> Option<Value> {
    let levels = policies.iter().zip(levels);
    let levels: Vec<MergeLevel<'_>> = levels
        .map(|(policies, level)| MergeLevel {
            policies,
            ..level.folded()
        })
        .collect();
    fold_levels(profile, &levels, None)
        .spec()
        .map(|(spec, _)| spec)
}

/// Why controllers reject the settings that a policy has after a merge, if they do.
fn rejected_for(
    profile: &Profile,
    merged: &Value,
    (policy, route): (&Policy, &GroupKind),
    has_rejected: bool,
) -> Option<String> {
    let rejected = profile.rejected_by(merged, &policy.object.meta);
    let mut rejected = rejected
        .iter()
        .filter_map(|index| profile.rejected_if.get(*index));
    let refused = rejected.find(|rejected| {
        // Requests fail anyway where a policy of the merge is rejected.
        let counts = !rejected.requests_fail || has_rejected;
        rejected.is_about(route) && rejected.controllers.is_empty() && counts
    });
    refused.map(|rejected| rejected.text.to_string())
}

/// Why a reference of one of these policies does not resolve that the merged settings still have.
fn still_unresolved<'p>(
    snapshot: &Snapshot,
    mut policies: impl Iterator<Item = &'p Arc<Policy>>,
    merged: &Value,
) -> Option<String> {
    policies.find_map(|policy| {
        let unresolved = policy.unresolved(snapshot)?;
        if unresolved.left_out.is_some() {
            return None;
        }
        let own = policy.spec();
        let [mut theirs, mut all] = [Vec::new(), Vec::new()];
        collect(&own, &unresolved.field.path, &mut theirs);
        collect(merged, &unresolved.field.path, &mut all);
        let remains = theirs.iter().any(|value| all.contains(value));
        remains.then_some(unresolved.why)
    })
}

/// Attached policies with the settings that they are written with. Owned if one is attached without them, because its controllers
/// reject it.
fn written<'a>(snapshot: &Snapshot, attached: &'a [Arc<Policy>]) -> AsWritten<'a> {
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
fn may_reject_merges(profile: &Profile) -> bool {
    !profile.rejected_if.is_empty() && *profile.merging.merge_with == MergeWith::NearestAboveRoutes
}
