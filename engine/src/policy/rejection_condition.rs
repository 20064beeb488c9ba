//! Conditions of controllers against a policy: that they reject it, or that it is not in force.

use super::Policy;
use crate::kinds::profile::Profile;
use crate::model::object::status::{Condition, ENFORCEMENT, StatusEntry};

/// The condition by which a controller reports that a policy is not in force: that it rejects the
/// policy, or that it does not enforce it. A policy that waits for objects to apply to has none.
pub(crate) fn condition_against<'a>(
    profile: &Profile,
    entry: &'a StatusEntry,
) -> Option<&'a Condition> {
    let counts = |condition: &&Condition| {
        profile.in_force.contains(&condition.name)
            && !profile
                .nothing_to_apply_to
                .iter()
                .any(|listed| listed.covers(condition))
    };
    let not_enforced = || entry.not_enforced().find(counts);
    // A condition that the profile names by itself counts whatever its reason.
    let named = || {
        let mut conditions = entry.conditions.iter();
        conditions.find(|condition| {
            let is_general = ENFORCEMENT.contains(&&*condition.name);
            !is_general && condition.is_current && !condition.holds && counts(condition)
        })
    };
    entry.rejection().or_else(not_enforced).or_else(named)
}

// === impl Policy ===

impl Policy {
    /// Whether other objects are needed to know where a policy is rejected.
    pub(crate) fn may_be_rejected_on_some_paths(&self) -> bool {
        let entries = self.object.reported.as_ref().map(|r| &*r.entries);
        let entries = entries.unwrap_or_default();
        let mut all = entries.iter();
        all.any(|entry| condition_against(&self.profile, entry).is_some())
            && (entries.len() > 1 || self.targets.len() > 1)
    }
}
