//! What holds on the paths of a group: which facts, which settings of a policy, and which policies are merged.

use super::Group;
use super::stack::taking_part;
use crate::engine::merge;
use crate::engine::policy::Policy;
use crate::engine::profile::Profile;

// === impl Group ===

impl Group {
    /// The profile that holds on these paths; none where no policy is attached.
    pub(super) fn facts(&self) -> Option<&Profile> {
        let mut policies = self.stack.iter().flat_map(|level| level.policies.iter());
        policies.next().map(|policy| &*policy.profile)
    }

    /// A policy that stands on these paths, with the settings that act there.
    pub fn as_here<'a>(&'a self, policy: &'a Policy) -> &'a Policy {
        let mut policies = self.stack.iter().flat_map(|level| level.policies.iter());
        let here = policies.find(|here| here.key() == policy.key());
        here.map_or(policy, |here| here)
    }

    /// The policies that a strategy merges here, whatever is left of each.
    pub fn merges(&self) -> Vec<&Policy> {
        self.facts().map_or_else(Vec::new, |profile| {
            let levels = taking_part(profile, &self.stack).map(|level| &*level.policies);
            merge::put_together(profile, &levels.collect::<Vec<_>>())
        })
    }
}
