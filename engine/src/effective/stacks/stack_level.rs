//! The policies of one kind at one place of a path.

use std::sync::Arc;

use super::policy_list::PolicyList;
use crate::kinds::profile::{DelegationMerge, MergeWith, Profile};
use crate::merge::MergeLevel;
use crate::model::level::Step;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// Policies of one kind at one place, the established first.
#[derive(Clone, Debug)]
pub struct StackLevel {
    /// The place.
    pub step: Step,
    /// The policies.
    pub policies: PolicyList,
    /// The facts that only few levels have, boxed because there are many levels.
    pub(super) rare_facts: Option<Box<RareFacts>>,
}

/// Facts that only few levels have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RareFacts {
    /// Members of the targets whose meaning is unknown.
    unknown: Option<Arc<str>>,
    /// The strategy by which the policies merge with those of the routes below, for a route that delegates and states it.
    delegation_merge: Option<Arc<DelegationMerge>>,
    /// Why controllers reject the settings that result from the merge with the policies above.
    rejected_merge: Option<Arc<str>>,
}

// === impl RareFacts ===

impl RareFacts {
    pub(super) fn new(
        unknown: Option<Arc<str>>,
        delegation_merge: Option<Arc<DelegationMerge>>,
    ) -> Option<Box<Self>> {
        let has_some = unknown.is_some() || delegation_merge.is_some();
        has_some.then(|| {
            Box::new(Self {
                unknown,
                delegation_merge,
                rejected_merge: None,
            })
        })
    }
}

/// All policies of one kind along a path, from the least to the most specific.
pub type Stack = Vec<StackLevel>;

// === impl StackLevel ===

impl StackLevel {
    /// This level, as the merge reads it.
    pub(in crate::effective) fn folded(&self) -> MergeLevel<'_> {
        MergeLevel {
            level: self.step.level,
            policies: &self.policies,
            delegations: self.step.delegations,
            delegation_merge: self.delegation_merge(),
        }
    }

    /// Members of the targets whose meaning is unknown.
    pub(super) fn unknown(&self) -> Option<&Arc<str>> {
        self.rare_facts.as_ref()?.unknown.as_ref()
    }

    /// Why controllers reject the settings that its policy has after the merge with those above. It is not in force then.
    pub fn rejected_merge(&self) -> Option<&Arc<str>> {
        self.rare_facts.as_ref()?.rejected_merge.as_ref()
    }

    /// Whether its policies count in the merge.
    fn is_folded(&self) -> bool {
        self.rejected_merge().is_none()
    }

    pub(super) fn reject_merge(&mut self, why: Arc<str>) {
        let rare_facts = self.rare_facts.get_or_insert_default();
        rare_facts.rejected_merge = Some(why);
    }

    /// The strategy by which its policies merge with those of the routes below.
    pub(super) fn delegation_merge(&self) -> Option<&DelegationMerge> {
        self.rare_facts.as_ref()?.delegation_merge.as_deref()
    }
}

/// The strategy by which the policies of a route that delegates merge with those of the routes below, if the route states it.
pub(super) fn delegation_merge(
    snapshot: &Snapshot,
    profile: &Profile,
    step: &Step,
) -> Option<Arc<DelegationMerge>> {
    if step.delegations == 0 {
        return None;
    }
    let by = profile.merging.delegation_merge.value.as_ref()?;
    by.merge_of(snapshot.get(&step.place.object)?).cloned()
}

/// The policy that takes the place of others of the same route, because it is more specific and merges only with policies
/// above the routes, and the levels of these others.
pub(in crate::effective) fn passed_over<'a>(
    profile: &Profile,
    stack: &'a Stack,
) -> Option<(&'a Policy, impl Iterator<Item = &'a StackLevel>)> {
    if *profile.merging.merge_with != MergeWith::NearestAboveRoutes {
        return None;
    }
    let counts = |level: &&StackLevel| level.is_folded() && !level.step.level.is_above_routes();
    let mut passed = stack.iter().filter(counts);
    let policy = passed.next_back()?.policies.first()?;
    passed.clone().next()?;
    Some((policy, passed))
}

/// The levels that are folded. If the more specific policy decides and merges only with policies above the routes,
/// the other policies of the route are overridden. A policy that is rejected after the merge is not in force.
pub(in crate::effective) fn folded_levels<'a>(
    profile: &Profile,
    stack: &'a Stack,
) -> impl Iterator<Item = &'a StackLevel> + Clone {
    let passes_over = *profile.merging.merge_with == MergeWith::NearestAboveRoutes;
    let last = stack.iter().rposition(StackLevel::is_folded);
    let last = last.unwrap_or_default();
    let levels = stack.iter().enumerate();
    levels
        .filter(|(_, level)| level.is_folded())
        .filter(move |(i, level)| !passes_over || *i == last || level.step.level.is_above_routes())
        .map(|(_, level)| level)
}

/// Whether targets on a path differ in members of unknown meaning. Then it is unknown which requests the policies
/// have in common, and how the policies combine.
pub(super) fn differs_in_unknown(stack: &Stack) -> bool {
    let mut pairs = stack.iter().zip(stack.iter().skip(1));
    pairs.any(|(one, next)| one.unknown() != next.unknown())
}
