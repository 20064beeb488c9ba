//! A protection that objects, or sections of them, lose.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::LostSources;
use crate::effective::impact::EffectiveChange;
use crate::model::ids::{ObjectKey, Place};
use crate::model::section;
use crate::state::snapshot::Snapshot;

/// A protection that some paths lose.
#[derive(Clone, Debug)]
pub struct ProtectionLoss {
    /// The name for users: `authentication`.
    pub protection: Arc<str>,
    /// The effective targets of these paths.
    pub objects: BTreeSet<ObjectKey>,
    /// The sections of these objects that lose it, of those of which others do not.
    sections: BTreeSet<Place>,
    /// The listeners, Services or delegating rules through which requests reach these targets only
    /// after the change, without the protection, while all earlier paths had it. Empty if paths
    /// that were there before lose it.
    pub opened: BTreeSet<Place>,
    /// The lost protection: its former sources, and the policies in their place.
    pub lost: LostSources,
}

// === impl ProtectionLoss ===

impl ProtectionLoss {
    pub(super) fn named(protection: &str) -> Self {
        Self {
            protection: protection.into(),
            objects: BTreeSet::new(),
            sections: BTreeSet::new(),
            opened: BTreeSet::new(),
            lost: LostSources::nothing(),
        }
    }

    /// The loss of one object.
    pub(super) fn of_object(protection: &str, object: &ObjectKey, lost: LostSources) -> Self {
        Self {
            objects: BTreeSet::from([object.clone()]),
            lost,
            ..Self::named(protection)
        }
    }

    /// Records sections of its objects that lose it.
    pub(super) fn add_sections(&mut self, sections: impl IntoIterator<Item = Place>) {
        self.sections.extend(sections);
    }

    pub(super) fn add(&mut self, object: &ObjectKey, change: &EffectiveChange) {
        if !self.objects.contains(object) {
            self.objects.insert(object.clone());
        }
        for target in change.paths.targets() {
            let is_section = target.object == *object && target.section.is_some();
            if is_section && !self.sections.contains(target) {
                self.sections.insert(target.clone());
            }
        }
        if change.on_replaced_paths.is_some() {
            let ancestors = change.paths.ancestors.iter();
            let entries = ancestors.filter_map(|path| path.delegating().pop().or(path.last()));
            for entry in entries {
                if !self.opened.contains(entry) {
                    self.opened.insert(entry.clone());
                }
            }
        }
    }

    /// Forgets the sections of objects all of whose sections lose it.
    pub(super) fn join_sections(&mut self, snapshot: &Snapshot) {
        let sections = &self.sections;
        let is_partial = |place: &Place| {
            let object = snapshot.get(&place.object);
            let labels = object.map_or_else(Vec::new, |object| section::labels(object));
            labels.into_iter().any(|label| {
                let other = place.object.section(label);
                !sections.contains(&other)
            })
        };
        let partial: BTreeSet<Place> = sections
            .iter()
            .filter(|one| is_partial(one))
            .cloned()
            .collect();
        self.sections = partial;
    }

    /// The objects that lose it; of objects that keep it elsewhere the sections that lose it.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.objects
            .iter()
            .flat_map(|object| self.places_of(object))
    }

    /// The sections of an object that lose it, or the object as a whole.
    pub fn places_of(&self, object: &ObjectKey) -> Vec<Place> {
        let sections = self.sections.iter();
        let own: Vec<Place> = sections
            .filter(|place| place.object == *object)
            .cloned()
            .collect();
        if own.is_empty() {
            return vec![object.whole()];
        }
        own
    }
}
