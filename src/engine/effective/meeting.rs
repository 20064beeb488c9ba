//! Conflicts between policies of one kind on different sections of one object.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::attach::Stand;
use crate::engine::ids::ObjectKey;
use crate::engine::policy::Policy;
use crate::engine::profile::Meets;
use crate::engine::rivals::{compared, rejected};

/// The attachments of one kind whose policies also conflict across sections.
pub(super) struct Meeting<'a> {
    stands: &'a [Stand],
    /// By section; a single entry if all sections conflict with each other.
    sections: BTreeMap<Option<&'a Arc<str>>, Vec<usize>>,
}

// === impl Meeting ===

impl<'a> Meeting<'a> {
    /// For each attachment of one kind, the policy for which it is rejected; `None` if policies conflict only on
    /// their own section. Policies whose targets differ in members of unknown meaning do not conflict.
    pub(super) fn all(stands: &'a [Stand]) -> Option<Vec<Option<ObjectKey>>> {
        let first = stands.first()?;
        if stands.iter().all(|stand| stand.unknown == first.unknown) {
            return Self::of(stands).map(|meeting| meeting.rejected());
        }
        let mut alike: BTreeMap<_, (Vec<usize>, Vec<Stand>)> = BTreeMap::new();
        for (i, stand) in stands.iter().enumerate() {
            let (places, group) = alike.entry(&stand.unknown).or_default();
            places.push(i);
            group.push(stand.clone());
        }
        let mut found = vec![None; stands.len()];
        for (places, group) in alike.values() {
            let rejected = Meeting::of(group).map(|meeting| meeting.rejected());
            for (place, by) in places.iter().zip(rejected.into_iter().flatten()) {
                if let Some(to) = found.get_mut(*place) {
                    *to = by;
                }
            }
        }
        Some(found)
    }

    /// `None` if policies conflict only on their own section.
    pub(super) fn of(stands: &'a [Stand]) -> Option<Self> {
        let meets = *stands.first()?.policy.profile.meets;
        if stands.len() < 2 || meets == Meets::SameSection {
            return None;
        }
        let mut sections: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (i, stand) in stands.iter().enumerate() {
            let section = stand.section.as_ref().filter(|_| meets == Meets::WholeToo);
            sections.entry(section).or_default().push(i);
        }
        Some(Self { stands, sections })
    }

    fn policies(&self, at: &[usize]) -> impl Iterator<Item = &'a Arc<Policy>> {
        let stands = at.iter().filter_map(|i| self.stands.get(*i));
        stands.map(|stand| &stand.policy)
    }

    fn whole(&self) -> &[usize] {
        self.sections.get(&None).map_or(&[], Vec::as_slice)
    }

    /// The cost of [`Meeting::rejected`], in units of fuel. Policies on the whole object conflict with all others,
    /// and all others with them.
    pub(super) fn work(&self) -> usize {
        let whole = compared(self.policies(self.whole()));
        let each = self.sections.iter().map(|(section, own)| match section {
            None => compared(self.stands.iter().map(|stand| &stand.policy)),
            Some(_) => whole + compared(self.policies(own)),
        });
        each.sum()
    }

    /// For each attachment, the policy for which it is rejected.
    pub(super) fn rejected(&self) -> Vec<Option<ObjectKey>> {
        let mut found = vec![None; self.stands.len()];
        for (section, own) in &self.sections {
            let mut met: Vec<usize> = match section {
                None => (0..self.stands.len()).collect(),
                Some(_) => self.whole().iter().chain(own).copied().collect(),
            };
            // The established first.
            met.sort_unstable();
            let here: Vec<Arc<Policy>> = self.policies(&met).cloned().collect();
            for (i, by) in met.into_iter().zip(rejected(&here)) {
                if own.binary_search(&i).is_ok()
                    && let Some(to) = found.get_mut(i)
                {
                    *to = by.map(|by| by.key().clone());
                }
            }
        }
        found
    }
}
