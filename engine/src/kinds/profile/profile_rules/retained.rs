//! The parts of objects that profiles need.

use crate::kinds::profile::file::ProfileFile;
use crate::kinds::profile::{Caveat, Reference};
use crate::model::object::RetainedFields;

/// The parts of objects that profiles need.
pub(super) fn retained<'a>(profiles: impl Iterator<Item = &'a ProfileFile>) -> RetainedFields {
    let mut keeps = RetainedFields::default();
    for profile in profiles {
        let annotation = profile.targets.annotation.as_ref();
        keeps
            .annotations
            .extend(annotation.map(|a| a.key.to_string()));
        let weight = profile.conflict.weight.as_ref();
        keeps.annotations.extend(weight.map(ToString::to_string));
        let delegation_merge = profile.merge.delegation_merge.as_ref();
        keeps
            .annotations
            .extend(delegation_merge.map(|by| by.annotation.clone()));
        let replacing = profile.merge.replaced_by_filters.iter().flatten();
        keeps
            .filters
            .extend(replacing.map(|replacing| replacing.filter.clone()));
        let caveats = profile.caveats.iter().flatten();
        keeps.annotations.extend(caveats.flat_map(Caveat::keys));
        let rejected = profile.rejected_if.iter().flatten();
        keeps
            .annotations
            .extend(rejected.flat_map(|rejected| rejected.annotated.keys().cloned()));
        let rejected = profile.rejected_if.iter().flatten();
        let named = rejected.flat_map(|one| one.of_target.iter().chain(&one.of_parents));
        keeps.specs.extend(named.map(|object| object.kind.clone()));
        let weaknesses = profile.weakened_by.iter().flatten();
        keeps
            .annotations
            .extend(weaknesses.flat_map(|weakness| weakness.annotated.keys().cloned()));
        let controlled = profile.controls.iter().map(|c| c.target.clone());
        keeps.specs.extend(controlled);
        let alternatives = profile.alternatives.iter();
        let open = alternatives.flat_map(|alternatives| &alternatives.open_targets);
        keeps.specs.extend(open.map(|target| target.kind.clone()));
        let references = profile.references.iter().flatten();
        let named = references.filter_map(Reference::needs_spec_of);
        keeps.specs.extend(named);
    }
    keeps
}
