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
    /// The policies.
    pub policies: PolicyList,
    /// The facts that only few levels have, boxed because there are many levels.
    pub(super) rare: Option<Box<Rare>>,
}

/// Facts that only few levels have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rare {
    /// Members of the targets whose meaning is unknown.
    unknown: Option<Arc<str>>,
    /// How the policies merge with those of the routes below, for a route that delegates and says so.
    inheritance: Option<Arc<Inheritance>>,
}

// === impl Rare ===

impl Rare {
    pub(super) fn of(
        unknown: Option<Arc<str>>,
        inheritance: Option<Arc<Inheritance>>,
    ) -> Option<Box<Self>> {
        let has_some = unknown.is_some() || inheritance.is_some();
        has_some.then(|| {
            Box::new(Self {
                unknown,
                inheritance,
            })
        })
    }
}

/// All policies of one kind along a path, from the least to the most specific.
pub type Stack = Vec<StackLevel>;

// === impl StackLevel ===

impl StackLevel {
    /// This level, as the merge reads it.
    pub(super) fn folded(&self) -> MergeLevel<'_> {
        MergeLevel {
            level: self.step.level,
            policies: &self.policies,
            delegations: self.step.delegations,
            inheritance: self.inheritance(),
        }
    }

    /// Members of the targets whose meaning is unknown.
    pub(super) fn unknown(&self) -> Option<&Arc<str>> {
        self.rare.as_ref()?.unknown.as_ref()
    }

    /// How its policies merge with those of the routes below.
    pub(super) fn inheritance(&self) -> Option<&Inheritance> {
        self.rare.as_ref()?.inheritance.as_deref()
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
    by.inheritance_of(snapshot.get(&step.place.object)?)
        .cloned()
}
