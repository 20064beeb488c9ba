//! Conflicts between policies of one kind on different sections of one object.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::attachment::Attachment;
use crate::attachment::conflict::{comparison_cost, rejected};
use crate::kinds::profile::ConflictScope;
use crate::model::ids::ObjectKey;
use crate::policy::Policy;

/// The attachments of one kind whose policies also conflict across sections.
pub(super) struct SectionConflicts<'a> {
    attachments: &'a [Attachment],
    /// By section; a single entry if all sections conflict with each other.
    sections: BTreeMap<Option<&'a Arc<str>>, Vec<usize>>,
}

// === impl SectionConflicts ===

impl<'a> SectionConflicts<'a> {
    /// For each attachment of one kind, the policy for which it is rejected; `None` if policies conflict only on
    /// their own section. Policies whose targets differ in members of unknown meaning do not conflict.
    pub(super) fn all(stands: &'a [Attachment]) -> Option<Vec<Option<ObjectKey>>> {
        let first = stands.first()?;
        if stands.iter().all(|stand| stand.unknown == first.unknown) {
            return Self::of(stands).map(|meeting| meeting.rejected());
        }
        let mut alike: BTreeMap<_, (Vec<usize>, Vec<Attachment>)> = BTreeMap::new();
        for (i, stand) in stands.iter().enumerate() {
            let (places, group) = alike.entry(&stand.unknown).or_default();
            places.push(i);
            group.push(stand.clone());
        }
        let mut found = vec![None; stands.len()];
        for (places, group) in alike.values() {
            let rejected = SectionConflicts::of(group).map(|meeting| meeting.rejected());
            for (place, by) in places.iter().zip(rejected.into_iter().flatten()) {
                if let Some(to) = found.get_mut(*place) {
                    *to = by;
                }
            }
        }
        Some(found)
    }

    /// `None` if policies conflict only on their own section.
    pub(super) fn of(stands: &'a [Attachment]) -> Option<Self> {
        let meets = *stands.first()?.policy.profile.conflict_scope;
        if stands.len() < 2 || meets == ConflictScope::Section {
            return None;
        }
        let mut sections: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (i, stand) in stands.iter().enumerate() {
            let section = stand
                .section
                .as_ref()
                .filter(|_| meets == ConflictScope::SectionAndTarget);
            sections.entry(section).or_default().push(i);
        }
        Some(Self {
            attachments: stands,
            sections,
        })
    }

    fn policies(&self, at: &[usize]) -> impl Iterator<Item = &'a Arc<Policy>> {
        let stands = at.iter().filter_map(|i| self.attachments.get(*i));
        stands.map(|stand| &stand.policy)
    }

    fn whole(&self) -> &[usize] {
        self.sections.get(&None).map_or(&[], Vec::as_slice)
    }

    /// The cost of [`SectionConflicts::rejected`], in units of fuel. Policies on the whole object conflict with all others,
    /// and all others with them.
    pub(super) fn work(&self) -> usize {
        let whole = comparison_cost(self.policies(self.whole()));
        let each = self.sections.iter().map(|(section, own)| match section {
            None => comparison_cost(self.attachments.iter().map(|stand| &stand.policy)),
            Some(_) => whole + comparison_cost(self.policies(own)),
        });
        each.sum()
    }

    /// For each attachment, the policy for which it is rejected.
    pub(super) fn rejected(&self) -> Vec<Option<ObjectKey>> {
        let mut found = vec![None; self.attachments.len()];
        for (section, own) in &self.sections {
            let mut met: Vec<usize> = match section {
                None => (0..self.attachments.len()).collect(),
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
