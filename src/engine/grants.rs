//! `ReferenceGrants`: who may refer to objects of another namespace.

use super::ids::{GroupKind, ObjectKey};
use super::object::Node;
use super::snapshot::Snapshot;

/// Whether a reference from objects of a kind in a namespace to this object is covered. References
/// within a namespace need no cover.
pub fn granted(snapshot: &Snapshot, gk: &GroupKind, namespace: &str, to: &ObjectKey) -> bool {
    *to.namespace == *namespace
        || snapshot
            .grants(&to.namespace)
            .any(|grant| covers(&grant.node, gk, namespace, to))
}

/// Whether this grant covers a reference.
pub fn covers(grant: &Node, gk: &GroupKind, namespace: &str, to: &ObjectKey) -> bool {
    let Node::ReferenceGrant { from, to: allowed } = grant else {
        return false;
    };
    from.iter()
        .any(|f| f.gk == *gk && *f.namespace == *namespace)
        && allowed
            .iter()
            .any(|t| t.gk == to.gk && t.name.as_ref().is_none_or(|name| *name == to.name))
}
