//! A CRD that no longer defines a policy kind after a change: it is deleted, or lost what made the kind one. Guardrails are
//! judged as if its policies were deleted and the kind stayed.

use std::collections::BTreeSet;

use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::object::Node;
use attache_engine::state::deleted_with::{deleted_with, without};
use attache_engine::state::snapshot::Snapshot;

/// The policies of a kind that is none after a change.
pub(crate) struct RemovedKind {
    policies: BTreeSet<ObjectKey>,
}

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

// === impl RemovedKind ===

impl RemovedKind {
    /// The policies of the kind that the change of a CRD removes.
    pub(crate) fn find(states: [&Snapshot; 2], crd: &ObjectKey) -> Option<Self> {
        removed_kind(states, crd)?;
        let policies = deleted_with(states[0], &BTreeSet::from([crd.clone()]));
        Some(Self { policies })
    }

    /// The policies, which do nothing any more.
    pub(crate) fn policies(&self) -> &BTreeSet<ObjectKey> {
        &self.policies
    }

    /// The state after the change, with the kind and without its policies.
    pub(crate) fn after(&self, before: &Snapshot) -> Snapshot {
        without(before.clone(), &self.policies)
    }
}
