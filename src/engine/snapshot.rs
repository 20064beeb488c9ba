//! Everything known at one moment. Immutable: a change makes a new snapshot that shares the rest.

use std::sync::Arc;

use super::ids::{GroupKind, ObjectKey};
use super::object::Object;
use super::profile::ProfileRules;

/// What can happen to the state. Informer events, the what-if of a review and files are all this.
#[derive(Clone, Debug)]
pub enum Change {
    /// An object is there, new or changed.
    Applied(Box<Object>),
    /// An object is gone.
    Deleted(ObjectKey),
    /// The objects of a kind are these and no others (the end of a list).
    Listed(GroupKind, Vec<Object>),
    /// The kind is gone with everything in it.
    Gone(GroupKind),
}

/// Everything known at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {}

impl Snapshot {
    /// An empty snapshot that reads policy kinds by these rules (configuration over built-in).
    pub fn new(_rules: Arc<ProfileRules>) -> Self {
        todo!()
    }
    /// The snapshot after a change.
    #[must_use]
    pub fn apply(&self, _change: Change) -> Self {
        todo!()
    }
    /// An object, if it is known.
    pub fn get(&self, _key: &ObjectKey) -> Option<&Arc<Object>> {
        todo!()
    }
    /// Whether the objects of a kind are known: it was listed and is not gone.
    pub fn knows(&self, _gk: &GroupKind) -> bool {
        todo!()
    }
    /// How many objects of a kind are known.
    pub fn count(&self, _gk: &GroupKind) -> usize {
        todo!()
    }
    /// Policy kinds and their profiles, sorted.
    pub fn policy_kinds(&self) -> impl Iterator<Item = &GroupKind> {
        std::iter::empty()
    }
}
