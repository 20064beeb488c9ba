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
    pub(super) fn all(attachments: &'a [Attachment]) -> Option<Vec<Option<ObjectKey>>> {
        let first = attachments.first()?;
        if attachments
            .iter()
            .all(|attachment| attachment.unknown == first.unknown)
        {
            return Self::among(attachments).map(|meeting| meeting.rejected());
        }
        let mut alike: BTreeMap<_, (Vec<usize>, Vec<Attachment>)> = BTreeMap::new();
        for (i, attachment) in attachments.iter().enumerate() {
            let (places, group) = alike.entry(&attachment.unknown).or_default();
            places.push(i);
            group.push(attachment.clone());
        }
        let mut rejected_by = vec![None; attachments.len()];
        for (places, group) in alike.values() {
            let rejected = SectionConflicts::among(group).map(|meeting| meeting.rejected());
            for (place, by) in places.iter().zip(rejected.into_iter().flatten()) {
                if let Some(to) = rejected_by.get_mut(*place) {
                    *to = by;
                }
            }
        }
        Some(rejected_by)
    }

    /// `None` if policies conflict only on their own section.
    pub(super) fn among(attachments: &'a [Attachment]) -> Option<Self> {
        let meets = *attachments.first()?.policy.profile.conflict_scope;
        if attachments.len() < 2 || meets == ConflictScope::Section {
            return None;
        }
        let mut sections: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (i, attachment) in attachments.iter().enumerate() {
            let section = attachment
                .section
                .as_ref()
                .filter(|_| meets == ConflictScope::SectionAndTarget);
            sections.entry(section).or_default().push(i);
        }
        Some(Self {
            attachments,
            sections,
        })
    }

    fn policies(&self, at: &[usize]) -> impl Iterator<Item = &'a Arc<Policy>> {
        let attachments = at.iter().filter_map(|i| self.attachments.get(*i));
        attachments.map(|attachment| &attachment.policy)
    }

    fn on_whole_object(&self) -> &[usize] {
        self.sections.get(&None).map_or(&[], Vec::as_slice)
    }

    /// The cost of [`SectionConflicts::rejected`], in units of fuel. Policies on the whole object conflict with all others,
    /// and all others with them.
    pub(super) fn cost(&self) -> usize {
        let cost_of_whole = comparison_cost(self.policies(self.on_whole_object()));
        let each = self.sections.iter().map(|(section, own)| match section {
            None => comparison_cost(self.attachments.iter().map(|attachment| &attachment.policy)),
            Some(_) => cost_of_whole + comparison_cost(self.policies(own)),
        });
        each.sum()
    }

    /// For each attachment, the policy for which it is rejected.
    pub(super) fn rejected(&self) -> Vec<Option<ObjectKey>> {
        let mut rejected_by = vec![None; self.attachments.len()];
        for (section, own) in &self.sections {
            let mut compared: Vec<usize> = match section {
                None => (0..self.attachments.len()).collect(),
                Some(_) => self.on_whole_object().iter().chain(own).copied().collect(),
            };
            // The established first.
            compared.sort_unstable();
            let policies: Vec<Arc<Policy>> = self.policies(&compared).cloned().collect();
            for (i, by) in compared.into_iter().zip(rejected(&policies)) {
                if own.binary_search(&i).is_ok()
                    && let Some(to) = rejected_by.get_mut(i)
                {
                    *to = by.map(|by| by.key().clone());
                }
            }
        }
        rejected_by
    }
}
