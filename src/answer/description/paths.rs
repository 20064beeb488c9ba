//! The path groups through an object or section.

use crate::answer::effective::through;
use crate::engine::effective::{PathGroup, Resolver};
use crate::engine::kinds::profile::Profile;
use crate::engine::model::ids::{GroupKind, Place};
use crate::engine::state::snapshot::Snapshot;

/// The path groups through a place. A section without its own direct policies has those of the whole object.
pub(super) fn on(resolver: &mut Resolver<'_>, place: &Place, kind: &GroupKind) -> Vec<PathGroup> {
    let groups = resolver.paths_through(&place.object, kind);
    of_place(resolver.snapshot(), place, kind, groups)
}

/// The path groups of a kind through a place, also those without policies.
pub fn paths_at(resolver: &mut Resolver<'_>, place: &Place, kind: &GroupKind) -> Vec<PathGroup> {
    let groups = resolver.paths_even_without_policies(&place.object, kind);
    of_place(resolver.snapshot(), place, kind, groups)
}

/// Path groups of a kind for the requests that come on them. Policies of a direct kind apply to their target, whichever way requests
/// take.
pub fn for_requests(profile: Option<&Profile>, groups: Vec<PathGroup>) -> Vec<PathGroup> {
    if profile.is_some_and(|profile| !profile.is_inherited()) {
        return groups;
    }
    let reached = groups.into_iter().filter_map(PathGroup::for_requests);
    reached.collect()
}

/// The parts of the path groups of an object whose paths lead through a place in it.
fn of_place(
    snapshot: &Snapshot,
    place: &Place,
    kind: &GroupKind,
    groups: Vec<PathGroup>,
) -> Vec<PathGroup> {
    if place.section.is_none() {
        return groups;
    }
    let leading: Vec<PathGroup> = groups.iter().filter_map(|g| through(g, place)).collect();
    let inherits = snapshot.profile(kind).is_some_and(|p| p.is_inherited());
    if leading.is_empty() && !inherits {
        let whole_object = place.object.whole();
        let is_whole =
            |group: &&PathGroup| group.paths.targets().all(|target| *target == whole_object);
        return groups.iter().filter(is_whole).cloned().collect();
    }
    leading
}
