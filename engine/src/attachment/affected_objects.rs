//! The objects whose policies may be rejected, or accepted again, when another object changes.

use std::collections::BTreeSet;

use super::by_controller::depends_on_routes_to;
use super::rejection::routes_named;
use crate::kinds::profile::{RejectedIf, RejectionCause};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Node, Object, Paths, is_route};
use crate::state::snapshot::Snapshot;
use crate::topology::{gateway_of, sets_of};

/// The objects whose policies of a kind may be rejected, or accepted again, when objects change that their settings do not name.
pub fn affected_objects(
    snapshot: &Snapshot,
    kind: &GroupKind,
    objects: &[&Object],
) -> BTreeSet<ObjectKey> {
    let mut affected = BTreeSet::new();
    let Some(profile) = snapshot.profile(kind) else {
        return affected;
    };
    for object in objects {
        affected.extend(by_routes(snapshot, kind, object));
    }
    for cause in profile.rejected_because.iter() {
        if *cause == RejectionCause::RoutesSharePath {
            affected.extend(by_shared_paths(snapshot, kind, objects));
        }
        for object in objects {
            affected.extend(by_cause(snapshot, *cause, object));
        }
    }
    affected
}

/// The objects whose policies may be rejected for a cause when an object changes.
fn by_cause(snapshot: &Snapshot, cause: RejectionCause, object: &Object) -> BTreeSet<ObjectKey> {
    let mut affected = BTreeSet::new();
    match (cause, &object.node) {
        (RejectionCause::PlainListenersSharePort, Node::Gateway { .. }) => {
            affected.extend(sets_of(snapshot, &object.key).map(|set| set.key.clone()));
        }
        (RejectionCause::PlainListenersSharePort, Node::ListenerSet { parent, .. }) => {
            let sets = sets_of(snapshot, &parent.object);
            affected.extend(sets.map(|set| set.key.clone()));
            affected.insert(parent.object.clone());
        }
        (RejectionCause::BackendsOfOneRule, Node::Service { .. }) => {
            let routes = snapshot.using(&object.key);
            let backends = routes.flat_map(|route| route.backends());
            affected.extend(backends.map(|backend| backend.object.clone()));
        }
        _ => {}
    }
    affected
}

/// The routes that policies of a kind name together with one that shares a path with a changed route.
fn by_shared_paths(
    snapshot: &Snapshot,
    kind: &GroupKind,
    objects: &[&Object],
) -> BTreeSet<ObjectKey> {
    let changed = objects.iter().filter_map(|object| match &object.node {
        Node::Route { paths, .. } => Some(paths),
        _ => None,
    });
    let changed: Vec<&Paths> = changed.collect();
    let mut affected = BTreeSet::new();
    if changed.is_empty() {
        return affected;
    }
    let shares = |key: &ObjectKey| {
        let other = snapshot.get(key).map(|other| &other.node);
        let Some(Node::Route { paths: theirs, .. }) = other else {
            return false;
        };
        changed.iter().any(|paths| paths.meet(theirs))
    };
    for policy in snapshot.policies(kind) {
        let named = routes_named(policy);
        if named.iter().any(shares) {
            affected.extend(named);
        }
    }
    affected
}

/// The backends whose policies of a kind are accepted or not by the routes that lead to them and the controllers of their
/// Gateways, and to which a route, a Gateway or a class leads.
fn by_routes(snapshot: &Snapshot, kind: &GroupKind, object: &Object) -> BTreeSet<ObjectKey> {
    let mut affected = BTreeSet::new();
    let rejected_if = snapshot.profile(kind).map(|profile| &*profile.rejected_if);
    let Some(rejected_if) = rejected_if.filter(|all| !all.is_empty()) else {
        return affected;
    };
    let reads = |rejected: &RejectedIf| {
        let of_parents = rejected.of_parents.as_ref();
        of_parents.is_some_and(|fields| fields.kind == object.key.gk)
    };
    if rejected_if.iter().any(reads) {
        let routes = snapshot.below(&object.key);
        affected.extend(routes.map(|route| route.key.clone()));
    }
    if is_route(&object.key.gk) {
        let backends = object.backends().map(|backend| &backend.object);
        let depends = |backend: &&ObjectKey| {
            let mut policies = snapshot.policies_naming(backend);
            policies
                .any(|policy| policy.key().gk == *kind && depends_on_routes_to(policy, &backend.gk))
        };
        affected.extend(backends.filter(depends).cloned());
    }
    let is_above = |gateway: &ObjectKey| match &object.node {
        Node::Gateway { .. } => *gateway == object.key,
        Node::GatewayClass { .. } => {
            let gateway = snapshot.get(gateway).map(|gateway| &gateway.node);
            matches!(gateway, Some(Node::Gateway { class, .. }) if **class == *object.key.name)
        }
        _ => false,
    };
    if matches!(
        object.node,
        Node::Gateway { .. } | Node::GatewayClass { .. }
    ) {
        for policy in snapshot.policies(kind) {
            let own = &policy.key().namespace;
            let depending = policy
                .targets
                .iter()
                .filter(|target| depends_on_routes_to(policy, &target.gk));
            let named = depending.filter_map(|target| target.object(own));
            affected.extend(named.filter(|target| {
                let routes = snapshot.using(target);
                let mut parents = routes.flat_map(|route| route.parents());
                parents.any(|parent| is_above(gateway_of(snapshot, &parent.object)))
            }));
        }
    }
    affected
}
