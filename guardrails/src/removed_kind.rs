//! A CRD that no longer defines a policy kind after a change: it is deleted, or lost what made the kind one.

use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::object::Node;
use attache_engine::state::snapshot::Snapshot;

/// The policy kind that a CRD defines before a change of it, but not after it.
pub(crate) fn removed_kind<'a>(
    [before, after]: [&'a Snapshot; 2],
    crd: &ObjectKey,
) -> Option<&'a GroupKind> {
    let Node::Crd(definition) = &before.get(crd)?.node else {
        return None;
    };
    let kind = &definition.gk;
    let is_removed = before.profile(kind).is_some() && after.profile(kind).is_none();
    is_removed.then_some(kind)
}
