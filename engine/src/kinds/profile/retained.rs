//! The parts of objects that are retained because profiles need them.

use std::collections::BTreeSet;

use super::OWN_ANNOTATIONS;
use super::caveats::CaveatFile;
use super::file::ProfileFile;
use crate::model::ids::GroupKind;

/// The parts of objects that are retained because profiles need them. Dropped parts are only available again once the
/// objects are listed again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetainedFields {
    /// Annotations by which policies are attached, those with the weight of a policy, and those of routes that
    /// delegate.
    pub(super) annotations: BTreeSet<String>,
    /// Kinds with fields that policies control; their whole spec is retained.
    specs: BTreeSet<GroupKind>,
    /// Whether the whole spec of every object is retained, for programs that show objects.
    pub(super) all_specs: bool,
}

// === impl RetainedFields ===

impl RetainedFields {
    pub(super) fn of<'a>(profiles: impl Iterator<Item = &'a ProfileFile>) -> Self {
        let mut keeps = Self::default();
        for profile in profiles {
            let annotation = profile.targets.annotation.as_ref();
            keeps.annotations.extend(annotation.map(|a| a.key.clone()));
            keeps.annotations.extend(profile.conflict.weight.clone());
            let inheritance = profile.merge.inheritance.as_ref();
            keeps
                .annotations
                .extend(inheritance.map(|by| by.annotation.clone()));
            let caveats = profile.caveats.iter().flatten();
            keeps.annotations.extend(caveats.flat_map(CaveatFile::keys));
            let weaknesses = profile.weakened_by.iter().flatten();
            keeps
                .annotations
                .extend(weaknesses.flat_map(|weakness| weakness.annotated.keys().cloned()));
            let controlled = profile.controls.iter().map(|c| c.target.gk());
            keeps.specs.extend(controlled);
        }
        keeps
    }

    /// Whether the whole spec of objects of a kind is retained, because policies control fields of it, or all are.
    pub fn spec(&self, gk: &GroupKind) -> bool {
        self.all_specs || self.specs.contains(gk)
    }

    /// Whether attache uses an annotation: its own, those by which policies are attached, and those with the weight
    /// of a policy.
    pub fn annotation(&self, key: &str) -> bool {
        key.starts_with(OWN_ANNOTATIONS) || self.annotations.contains(key)
    }
}
