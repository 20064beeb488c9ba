//! Objects around which effective policies may change because the settings of policies name a changed object.

use std::collections::BTreeMap;

use super::{ObjectsToCompare, targets};
use crate::attachment::Dependents;
use crate::effective::Resolver;
use crate::model::ids::{GroupKind, ObjectKey};

/// Adds the targets of policies whose settings name one of these objects, or an object that names it in turn: controllers may reject
/// them now, or accept them again.
pub(super) fn add_targets_of_dependents(
    resolver: &Resolver<'_>,
    objects: &[ObjectKey],
    used: &[GroupKind],
    kinds: &mut BTreeMap<GroupKind, ObjectsToCompare>,
) {
    let snapshot = resolver.snapshot();
    let mut dependents = Dependents::of(snapshot, objects);
    for kind in used {
        let profile = snapshot.profile(kind);
        if profile.is_none_or(|profile| profile.references.is_empty()) {
            continue;
        }
        for policy in snapshot.policies(kind) {
            if dependents.has(policy) {
                let touched = kinds.entry(kind.clone()).or_default();
                touched.objects.extend(targets(resolver, policy));
            }
        }
    }
}
