//! The extent of the paths through an object before and after a change.

use std::collections::BTreeSet;

use crate::effective::renames::Renames;
use crate::effective::{PathScope, Resolver};
use crate::model::ids::{GroupKind, ObjectKey};

/// An object and how far the paths of a kind through it extend on either side.
pub(super) struct ComparedScope<'a> {
    pub(super) key: &'a ObjectKey,
    pub(super) scope: PathScope,
    /// Its name and the same extent before the change.
    pub(super) former: Option<(ObjectKey, PathScope)>,
}

/// The extent of the paths of a kind through objects. Both sides use one extent, so that paths which only differ in
/// length are the same path.
pub(super) fn extents<'a>(
    earlier: &mut Resolver<'_>,
    later: &mut Resolver<'_>,
    renames: &Renames,
    kind: &GroupKind,
    objects: &'a BTreeSet<ObjectKey>,
) -> Vec<ComparedScope<'a>> {
    let extents = objects.iter().map(|key| {
        let former = renames.former(key);
        let before = former
            .as_ref()
            .map(|former| renames.later_scope(former, earlier.scope(former, kind)));
        let scope = before.unwrap_or_default().union(later.scope(key, kind));
        let former = former.map(|former| {
            let former_scope = renames.former_scope(key, scope.clone());
            (former, former_scope)
        });
        ComparedScope { key, scope, former }
    });
    extents.collect()
}
