//! `ReferenceGrants`: which objects may refer to objects of another namespace.

use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{GrantFrom, Node};
use crate::state::snapshot::{Snapshot, namespace_key};

/// Whether a grant covers a reference from objects of a kind in a namespace to this object. References within a
/// namespace need no grant.
pub fn granted(snapshot: &Snapshot, gk: &GroupKind, namespace: &str, to: &ObjectKey) -> bool {
    *to.namespace == *namespace
        || snapshot
            .grants(&to.namespace)
            .any(|grant| covers(&grant.node, gk, namespace, to))
}

/// The routes that an entry of a grant covers, each with a backend in the grant's namespace that it sends requests
/// to.
pub fn routes_into(
    snapshot: &Snapshot,
    entry: &GrantFrom,
    namespace: &str,
) -> Vec<(ObjectKey, ObjectKey)> {
    let holder = namespace_key(&entry.namespace);
    let there = snapshot.below(&holder);
    let routes = there.filter(|object| object.key.gk == entry.gk);
    let references = routes.flat_map(|route| route.backends().map(move |backend| (route, backend)));
    let into = references.filter(|(_, backend)| *backend.object.namespace == *namespace);
    into.map(|(route, backend)| (route.key.clone(), backend.object.clone()))
        .collect()
}

/// The Gateways or `ListenerSets` that an entry of a grant covers, each with a certificate in the grant's namespace.
pub fn certificates_into(
    snapshot: &Snapshot,
    entry: &GrantFrom,
    namespace: &str,
) -> Vec<(ObjectKey, ObjectKey)> {
    if !entry.gk.has_listeners() {
        return Vec::new();
    }
    let objects = snapshot.objects(&entry.gk);
    let there = objects.filter(|object| object.key.namespace == entry.namespace);
    let references = there.flat_map(|owner| {
        let certificates = owner.listeners().iter();
        let certificates = certificates.flat_map(|one| &one.foreign_certificates);
        certificates.map(|certificate| (owner.key.clone(), certificate.clone()))
    });
    references
        .filter(|(_, certificate)| *certificate.namespace == *namespace)
        .collect()
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
