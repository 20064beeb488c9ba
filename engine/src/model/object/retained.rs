//! The parts of objects that are retained because profiles need them.

use std::collections::BTreeSet;

use crate::model::ids::GroupKind;

/// The prefix of attache's own annotations.
const OWN_ANNOTATIONS: &str = "attache.dev/";

/// The parts of objects that are retained because profiles need them. Dropped parts are only available again once the
/// objects are listed again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetainedFields {
    /// Annotations by which policies are attached, those with the weight of a policy, and those of routes that
    /// delegate.
    pub(crate) annotations: BTreeSet<String>,
    /// Kinds with fields that policies control, or without which policies that name the objects are rejected; their whole spec is
    /// retained.
    pub(crate) specs: BTreeSet<GroupKind>,
    /// Whether the whole spec of every object is retained, for programs that show objects.
    pub(crate) all_specs: bool,
}

// === impl RetainedFields ===

impl RetainedFields {
    /// Whether the whole spec of objects of a kind is retained, because profiles need fields of it, or all are.
    pub fn spec(&self, gk: &GroupKind) -> bool {
        self.all_specs || self.specs.contains(gk)
    }

    /// Whether attache uses an annotation: its own, those by which policies are attached, and those with the weight
    /// of a policy.
    pub fn annotation(&self, key: &str) -> bool {
        key.starts_with(OWN_ANNOTATIONS) || self.annotations.contains(key)
    }
}
