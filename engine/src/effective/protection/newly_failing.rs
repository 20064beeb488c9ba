//! Requests that get an error after a change because a policy that was in force on their path is rejected: they do not pass without
//! its protections.

use std::collections::BTreeMap;

use crate::effective::impact::EffectiveChange;
use crate::model::ids::ObjectKey;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// The policies that are asked about, each once: there may be many paths.
pub(super) struct NewlyFailing<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
    known: BTreeMap<ObjectKey, bool>,
}

// === impl NewlyFailing ===

impl<'a> NewlyFailing<'a> {
    pub(super) fn new([before, after]: [&'a Snapshot; 2]) -> Self {
        Self {
            before,
            after,
            known: BTreeMap::new(),
        }
    }

    /// Whether the requests on the path of a change get an error after it, because of a policy that is not in force there any more.
    pub(super) fn fails_at(&mut self, change: &EffectiveChange) -> bool {
        let still = change.after.policies();
        let gone = change.before.policies().into_iter();
        gone.filter(|policy| !still.contains(policy))
            .any(|policy| self.fails(&policy))
    }

    fn fails(&mut self, key: &ObjectKey) -> bool {
        if let Some(known) = self.known.get(key) {
            return *known;
        }
        // Of several targets, it may be rejected at another one.
        let fails = |policy: &Policy, snapshot: &Snapshot| {
            policy.targets.len() == 1 && policy.requests_fail(snapshot)
        };
        let [old, new] = [self.before, self.after].map(|snapshot| snapshot.policy(key));
        let newly = new.is_some_and(|new| fails(new, self.after))
            && !old.is_some_and(|old| fails(old, self.before));
        self.known.insert(key.clone(), newly);
        newly
    }
}
