//! What is needed to tell what acts on a route: its parents, its backends, and what these name in turn.

use std::collections::BTreeSet;

use crate::engine::ids::{GATEWAY_API_X, GroupKind, ObjectKey};
use crate::engine::object::{Node, Object, is_route};
use crate::engine::snapshot::{class_key, namespace_key};

/// Whether what lies around these objects is little: nothing has to be looked for among all objects of a
/// kind. What names a Gateway, a Service or a Namespace is only found by looking at everything.
pub(super) fn is_little(keys: &[ObjectKey]) -> bool {
    keys.iter().all(|key| is_route(&key.gk))
}

/// The kinds of which every object counts for routes: grants, `ListenerSets` that take ports from one another, and routes
/// of the kind with which one of these may not share a hostname.
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

/// What is needed of an object that may not be there.
pub(super) fn needed_for(key: &ObjectKey) -> Vec<ObjectKey> {
    let namespace = (!key.namespace.is_empty()).then(|| namespace_key(&key.namespace));
    std::iter::once(key.clone()).chain(namespace).collect()
}

/// What is needed beside an object, for paths through it.
pub(super) fn needed_beside(object: &Object) -> BTreeSet<ObjectKey> {
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

/// Whether paths look at objects of a kind: other backends count as there, whatever they are.
fn is_looked_at(gk: &GroupKind) -> bool {
    gk.is_core("Service") || gk.is_gateway_api("Gateway") || gk.is_listener_set()
}
