//! The policies attached to one object, and which of them are rejected because of a conflict.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::policy_list::PolicyList;
use super::section_conflicts::SectionConflicts;
use crate::attachment::Attachment;
use crate::kinds::profile::Profile;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::policy::Policy;
use crate::policy::fuel;

/// The policies attached to one object.
#[derive(Debug)]
pub(in crate::effective) struct ObjectAttachments {
    pub(in crate::effective) attachments: Rc<[Attachment]>,
    /// Their kinds, sorted.
    pub(super) kinds: Vec<GroupKind>,
    /// Whether some of them apply to only a part of the requests that arrive here.
    pub(super) depends_on_requests: bool,
    /// The cost of finding these attachments, in units of fuel.
    pub(super) cost: usize,
    rejected_and_places: OnceCell<RejectedAndPlaces>,
}

/// Computed on first use.
#[derive(Debug)]
struct RejectedAndPlaces {
    /// For each attachment, the policy for which it is rejected, for kinds whose policies conflict across sections;
    /// empty if no such kind is attached.
    rejected: Vec<Option<ObjectKey>>,
    /// Sorted by kind and section.
    places: Vec<AttachedPolicies>,
}

/// The policies of one kind at one section of an object, or at the whole object.
#[derive(Debug)]
pub(super) struct AttachedPolicies {
    /// Its index among those of the object.
    pub(super) index: usize,
    kind: GroupKind,
    section: Option<Arc<str>>,
    /// Members of their targets whose meaning is unknown.
    pub(super) unknown: Option<Arc<str>>,
    /// Whether they are attached to every Namespace.
    pub(super) in_every_namespace: bool,
    pub(super) policies: PolicyList,
}

// === impl ObjectAttachments ===

impl ObjectAttachments {
    /// Takes the attachments, and the number of targets that were compared with the object to find them.
    pub(super) fn new(attachments: Vec<Attachment>, asked: usize) -> Self {
        let kinds = attachments.chunk_by(|a, b| a.policy.key().gk == b.policy.key().gk);
        let meeting = kinds.clone().filter_map(SectionConflicts::among);
        let cost: usize = meeting.map(|meeting| meeting.cost()).sum();
        let kinds = kinds.filter_map(|of_kind| of_kind.first());
        let sorted = attachments.len() * attachments.len().max(1).ilog2() as usize;
        Self {
            kinds: kinds
                .map(|attachment| attachment.policy.key().gk.clone())
                .collect(),
            depends_on_requests: attachments.iter().any(Attachment::is_partial),
            cost: cost
                + asked / fuel::SELECTED
                + attachments.len() / fuel::FOUND
                + sorted / fuel::SORTED,
            attachments: attachments.into(),
            rejected_and_places: OnceCell::new(),
        }
    }

    /// The policies of one kind at a section or at the whole object, without rejected ones. Policies attached to
    /// every Namespace come before those attached to this one, which are more specific.
    pub(super) fn at_section(
        &self,
        kind: &GroupKind,
        section: Option<&Arc<str>>,
    ) -> impl Iterator<Item = &AttachedPolicies> {
        /// Lists up to this length are scanned.
        const MAX_SCANNED: usize = 16;
        let mut places = &*self.rejected_and_places().places;
        if places.len() > MAX_SCANNED {
            let asked = (kind, section);
            let from = places.partition_point(|place| place.name() < asked);
            let to = places.partition_point(|place| place.name() <= asked);
            places = places.get(from..to).unwrap_or_default();
        }
        let places = places.iter();
        places.filter(move |place| place.section.as_ref() == section && place.kind == *kind)
    }

    /// Each attachment with the policy for which it is rejected, for kinds whose policies conflict across sections.
    pub(in crate::effective) fn each(
        &self,
    ) -> impl Iterator<Item = (&Attachment, Option<&ObjectKey>)> {
        let rejected = &self.rejected_and_places().rejected;
        let attachments = self.attachments.iter().enumerate();
        attachments.map(|(i, attachment)| (attachment, rejected.get(i).and_then(Option::as_ref)))
    }

    /// Whether a policy of a kind is attached to a section.
    pub(in crate::effective) fn has_section_policies(&self, profile: &Profile) -> bool {
        let mut places = self.rejected_and_places().places.iter();
        places.any(|place| place.section.is_some() && place.kind == profile.gk)
    }

    fn rejected_and_places(&self) -> &RejectedAndPlaces {
        self.rejected_and_places.get_or_init(|| {
            let rejected = self.rejected();
            let places = places(&self.attachments, &rejected);
            RejectedAndPlaces { rejected, places }
        })
    }

    fn rejected(&self) -> Vec<Option<ObjectKey>> {
        let attachments = &self.attachments;
        let mut rejected_by = Vec::new();
        // Attachments are sorted by kind.
        let kinds = attachments.chunk_by(|a, b| a.policy.key().gk == b.policy.key().gk);
        let mut from = 0;
        for kind in kinds {
            let rejected = SectionConflicts::all(kind).or_else(|| one_with_no_target(kind));
            if let Some(rejected) = rejected {
                rejected_by.resize(attachments.len(), None);
                let there = rejected_by.iter_mut().skip(from);
                there.zip(rejected).for_each(|(to, by)| *to = by);
            }
            from += kind.len();
        }
        rejected_by
    }
}

/// For each attachment of one kind, the older policy for which it is rejected because neither has a target; `None` if
/// the kind takes several of these.
fn one_with_no_target(attachments: &[Attachment]) -> Option<Vec<Option<ObjectKey>>> {
    if !*attachments.first()?.policy.profile.one_with_no_target {
        return None;
    }
    let is_without = |at: &Attachment| at.policy.is_without_target();
    let oldest = |wide: bool| {
        let mut attachments_in_order = attachments.iter();
        attachments_in_order
            .find(|at| at.all_namespaces == wide && is_without(at))
            .map(|at| at.policy.key())
    };
    let (wide, narrow) = (oldest(true), oldest(false));
    let rejected = attachments.iter().map(|at| {
        let oldest = if at.all_namespaces { wide } else { narrow };
        let other = oldest.filter(|oldest| is_without(at) && *oldest != at.policy.key());
        other.cloned()
    });
    Some(rejected.collect())
}

/// The policies at each section, by kind, without rejected ones.
fn places(attachments: &[Attachment], rejected: &[Option<ObjectKey>]) -> Vec<AttachedPolicies> {
    let is_rejected = |i: usize| rejected.get(i).is_some_and(Option::is_some);
    let accepted = attachments
        .iter()
        .enumerate()
        .filter(|(i, _)| !is_rejected(*i));
    let mut sections: BTreeMap<_, Vec<Arc<Policy>>> = BTreeMap::new();
    for (_, attachment) in accepted {
        let kind = &attachment.policy.key().gk;
        let unknown = attachment.unknown.as_ref();
        let policies = sections.entry((
            kind,
            attachment.section.as_ref(),
            !attachment.all_namespaces,
            unknown,
        ));
        policies.or_default().push(attachment.policy.clone());
    }
    let places = sections.into_iter().enumerate();
    let places =
        places.map(
            |(index, ((kind, section, narrow, unknown), policies))| AttachedPolicies {
                index,
                kind: kind.clone(),
                section: section.cloned(),
                unknown: unknown.cloned(),
                in_every_namespace: !narrow,
                policies: policies.into(),
            },
        );
    places.collect()
}

// === impl AttachedPolicies ===

impl AttachedPolicies {
    fn name(&self) -> (&GroupKind, Option<&Arc<str>>) {
        (&self.kind, self.section.as_ref())
    }

    /// Whether an attachment that is not rejected is part of this list.
    pub(super) fn has(&self, attachment: &Attachment) -> bool {
        attachment.all_namespaces == self.in_every_namespace
            && attachment.section == self.section
            && attachment.unknown == self.unknown
            && attachment.policy.key().gk == self.kind
    }
}
