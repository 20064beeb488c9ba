//! Policies that are rejected at a place, because of other objects or because another policy wins.

use std::sync::Arc;

use super::Stacks;
use super::object_attachments::ObjectAttachments;
use crate::attachment::Attachment;
use crate::attachment::conflict::{comparison_cost, conflict_winner};
use crate::attachment::rejection::Rejection;
use crate::attachment::reported_rejections::{Rejected, rejected};
use crate::model::ids::{ObjectKey, Place};
use crate::policy::Policy;

impl Stacks<'_> {
    /// Why the policy's controllers reject it at a place because of other objects; `None` once the fuel is used up.
    pub(in crate::effective) fn rejection_at(
        &self,
        policy: &Policy,
        place: &Place,
    ) -> Option<Rejection> {
        let rejection = self.rejections.rejection_of(self.snapshot, policy, place);
        self.fuel.spend(self.rejections.fuel_used());
        rejection.filter(|_| !self.fuel.is_spent())
    }

    /// The conflict winner: the policy for which another is rejected at a place; `None` once the fuel is used up.
    pub(in crate::effective) fn conflict_winner(
        &mut self,
        policy: &Policy,
        place: &Place,
    ) -> Option<ObjectKey> {
        let at = self.at(&place.object);
        let key = policy.key();
        let is_mine = |attachment: &Attachment| {
            attachment.policy.key() == key && attachment.section == place.section
        };
        if self.fuel.is_spent() {
            return None;
        }
        let Some((mine, by)) = at.each().find(|(attachment, _)| is_mine(attachment)) else {
            return self.conflict_winner_of_rejected(policy, &at, place);
        };
        if by.is_some() {
            return by.cloned();
        }
        let mut places = at.at_section(&key.gk, place.section.as_ref());
        let own_place = places.find(|place| place.has(mine))?;
        self.fuel.spend(comparison_cost(&*own_place.policies));
        if self.fuel.is_spent() {
            return None;
        }
        conflict_winner(&own_place.policies, policy).map(|winner| winner.key().clone())
    }

    /// Like [`Stacks::conflict_winner`], for a policy that is not attached because its controllers reject it.
    fn conflict_winner_of_rejected(
        &self,
        policy: &Policy,
        at: &ObjectAttachments,
        place: &Place,
    ) -> Option<ObjectKey> {
        if rejected(self.snapshot, policy) == Rejected::Nowhere {
            return None;
        }
        let key = policy.key();
        let others = at.at_section(&key.gk, place.section.as_ref());
        let others = others.flat_map(|place| place.policies.iter().cloned());
        let mut compared: Vec<Arc<Policy>> = others.collect();
        compared.extend(self.snapshot.policy(key).cloned());
        compared.sort_by(|a, b| a.precedence().cmp(b.precedence()));
        self.fuel.spend(comparison_cost(&compared));
        if self.fuel.is_spent() {
            return None;
        }
        conflict_winner(&compared, policy).map(|winner| winner.key().clone())
    }
}
