//! The facts, the policy settings and the merged policies that apply to the paths of a group.

use super::Group;
use super::stack::taking_part;
use crate::engine::merge;
use crate::engine::policy::Policy;
use crate::engine::profile::Profile;

// === impl Group ===

impl Group {
    /// The profile that applies to these paths; `None` if no policy is attached.
    pub(super) fn facts(&self) -> Option<&Profile> {
        let mut policies = self.stack.iter().flat_map(|level| level.policies.iter());
        policies.next().map(|policy| &*policy.profile)
    }

    /// A policy attached to these paths, with the settings that apply there.
    pub fn as_here<'a>(&'a self, policy: &'a Policy) -> &'a Policy {
        let mut policies = self.stack.iter().flat_map(|level| level.policies.iter());
        let here = policies.find(|here| here.key() == policy.key());
        here.map_or(policy, |here| here)
    }

    /// The policies that a strategy merges here, even those of which no setting remains.
    pub fn merges(&self) -> Vec<&Policy> {
        self.facts().map_or_else(Vec::new, |profile| {
            let levels = taking_part(profile, &self.stack).map(|level| &*level.policies);
            merge::put_together(profile, &levels.collect::<Vec<_>>())
        })
    }
}
