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
        self.is_expected_before(snapshot, policy, target) == Some(false)
    }

    /// Whether the reason for which controllers reject a policy is gone with the change: the rejection is expected without the
    /// change, and not with it.
    pub(crate) fn is_resolved_by_change(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> bool {
        self.is_expected_before(snapshot, policy, target) == Some(true)
            && self.by_model(snapshot, policy, target).is_none()
    }

    /// Whether a rejection is expected in the state that controllers reported about. `None` if no change is assumed.
    fn is_expected_before(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<bool> {
        let seen = snapshot.observed_by_controllers()?;
        let before = self.before_change().by_model(seen, policy, target);
        Some(before.is_some())
    }

    /// The finder for the state that controllers reported about.
    pub(super) fn before_change(&self) -> &Self {
        self.before_change.get_or_init(|| {
            Box::new(Self {
                limit: self.limit,
                ..Self::default()
            })
        })
    }
}
