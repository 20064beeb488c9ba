//! Objects that the API server deletes together with others.

use std::collections::BTreeSet;

use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Node;
use crate::state::snapshot::{Change, Snapshot};

/// The maximum number of objects that a Namespace, or the CRD of a kind, takes with it and that are compared one by one.
pub const MOST_DELETED: usize = 1_000;

/// The objects that are deleted with these: those in a deleted Namespace, and those of a kind whose
/// CRD is deleted.
pub fn deleted_with(snapshot: &Snapshot, deleted: &BTreeSet<ObjectKey>) -> BTreeSet<ObjectKey> {
    let mut namespaces = BTreeSet::new();
    let mut kinds: BTreeSet<GroupKind> = BTreeSet::new();
    for key in deleted {
        if key.gk.is_core("Namespace") {
            namespaces.insert(key.name.clone());
        }
        if let Some(Node::Crd(crd)) = snapshot.get(key).map(|object| &object.node) {
            kinds.insert(crd.gk.clone());
        }
    }
    if namespaces.is_empty() && kinds.is_empty() {
        return BTreeSet::new();
    }
    let all = snapshot.all().map(|object| &object.key);
    let goes = |key: &&ObjectKey| {
        let held = !key.namespace.is_empty() && namespaces.contains(&key.namespace);
        (held || kinds.contains(&key.gk)) && !deleted.contains(*key)
    };
    all.filter(goes).cloned().collect()
}

/// A state without these objects.
pub fn without<'a>(state: Snapshot, gone: impl IntoIterator<Item = &'a ObjectKey>) -> Snapshot {
    gone.into_iter().fold(state, |state, key| {
        state.with_change(Change::Deleted(key.clone()))
    })
}
