//! The policies of one kind at one place of a path.

use std::sync::Arc;

use super::policy_list::PolicyList;
use crate::kinds::profile::{Inheritance, Profile};
use crate::merge::MergeLevel;
use crate::model::level::Step;
use crate::state::snapshot::Snapshot;

/// Policies of one kind at one place, the established first.
#[derive(Clone, Debug)]
pub struct StackLevel {
    /// The place.
    pub step: Step,
    /// Members of their targets whose meaning is unknown.
    pub unknown: Option<Arc<str>>,
    /// The policies.
    pub policies: PolicyList,
    /// How they merge with the policies of the routes below, for a route that delegates and says so.
    pub inheritance: Option<Arc<Inheritance>>,
}

/// All policies of one kind along a path, from the least to the most specific.
pub type Stack = Vec<StackLevel>;

// === impl StackLevel ===

impl StackLevel {
    /// It, for a merge.
    pub(super) fn folded(&self) -> MergeLevel<'_> {
        MergeLevel {
            level: self.step.level,
            policies: &self.policies,
            delegations: self.step.delegations,
            inheritance: self.inheritance.as_deref(),
        }
    }
}

/// How the policies of a route that delegates merge with those of the routes below, if the route says so.
pub(super) fn inheritance(
    snapshot: &Snapshot,
    profile: &Profile,
    step: &Step,
) -> Option<Arc<Inheritance>> {
    if step.delegations == 0 {
        return None;
    }
    let by = profile.merging.inheritance.value.as_ref()?;
    by.of(snapshot.get(&step.place.object)?).cloned()
}
