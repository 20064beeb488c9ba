//! Selects the objects needed to find the policies that apply to a route: its parents, its backends, and the objects that
//! these refer to.

use std::collections::BTreeSet;

use crate::engine::model::ids::{GATEWAY_API_X, GroupKind, ObjectKey};
use crate::engine::model::object::{Node, Object, is_route};
use crate::engine::state::snapshot::{class_key, namespace_key};

/// Whether few objects are needed for these, so that no kind has to be listed completely. This is true of routes only:
/// to find what refers to a Gateway, Service or Namespace, everything has to be read.
pub(super) fn is_little(keys: &[ObjectKey]) -> bool {
    keys.iter().all(|key| is_route(&key.gk))
}

/// The kinds that routes need whole: grants, `ListenerSets`, which compete for ports, and the routes of a kind that
/// cannot share a hostname with these.
pub(super) fn needed_whole(keys: &[ObjectKey]) -> BTreeSet<GroupKind> {
    let mut kinds: BTreeSet<GroupKind> = ["ReferenceGrant", "ListenerSet"]
        .map(GroupKind::gateway_api)
        .into();
    kinds.insert(GroupKind::new(GATEWAY_API_X, "XListenerSet"));
    for [one, other] in [["HTTPRoute", "GRPCRoute"], ["GRPCRoute", "HTTPRoute"]] {
        if keys.iter().any(|key| key.gk.is_gateway_api(one)) {
            kinds.insert(GroupKind::gateway_api(other));
        }
    }
    kinds
}

/// The keys needed for an object that may not exist: itself and its Namespace.
pub(super) fn needed_for(key: &ObjectKey) -> Vec<ObjectKey> {
    let namespace = (!key.namespace.is_empty()).then(|| namespace_key(&key.namespace));
    std::iter::once(key.clone()).chain(namespace).collect()
}

/// The objects that paths through an object need in addition to it.
pub(super) fn referenced_objects(object: &Object) -> BTreeSet<ObjectKey> {
    let mut named: Vec<&ObjectKey> = Vec::new();
    let mut needed = BTreeSet::new();
    match &object.node {
        Node::Route { parents, .. } => {
            named.extend(parents.iter().map(|parent| &parent.object));
            named.extend(object.backends().map(|backend| &backend.object));
        }
        Node::ListenerSet { parent, .. } => named.push(&parent.object),
        Node::Gateway { class, .. } => {
            needed.insert(class_key(class));
        }
        _ => {}
    }
    for key in named.into_iter().filter(|key| is_looked_at(&key.gk)) {
        needed.extend(needed_for(key));
    }
    needed
}

/// Whether paths need the objects of a kind. Backends of other kinds count as existing.
fn is_looked_at(gk: &GroupKind) -> bool {
    gk.is_core("Service") || gk.has_listeners()
}
