//! Rejections that a change brings about or takes away. Controllers have not seen the change, so what they reported before no
//! longer holds.

use super::RejectionFinder;
use crate::model::ids::Place;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

// === impl RejectionFinder ===

impl RejectionFinder {
    /// Whether a rejection follows from the change alone. If it is expected without the change, too, the controllers have
    /// accepted the policy in spite of it.
    pub(super) fn is_of_change(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> bool {
        snapshot.seen().is_some_and(|seen| {
            let before = self.before_change().by_model(seen, policy, target);
            before.is_none()
        })
    }

    /// Whether the reason for which controllers reject a policy is gone with the change: the rejection is expected without the
    /// change, and not with it.
    pub(crate) fn is_mended(&self, snapshot: &Snapshot, policy: &Policy, target: &Place) -> bool {
        snapshot.seen().is_some_and(|seen| {
            let before = self.before_change().by_model(seen, policy, target);
            before.is_some() && self.by_model(snapshot, policy, target).is_none()
        })
    }

    /// The finder for the state that controllers reported about.
    pub(super) fn before_change(&self) -> &Self {
        self.before_change.get_or_init(|| {
            Box::new(Self {
                most: self.most,
                ..Self::default()
            })
        })
    }
}
