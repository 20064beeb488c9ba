//! Paths from the top of the hierarchy down to where requests end.
//!
//! A path has two halves: the [`AncestorPath`] from the `GatewayClass` to the listener that accepts the requests, and the
//! [`RoutePath`] from the route's Namespace to the rule or the backend.

use std::rc::Rc;
use std::sync::Arc;

use crate::kinds::profile::ControllerFile;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::level::{Level, Step};
use crate::model::object::{Node, Object, ParentRef};
use crate::state::snapshot::{Snapshot, class_key, namespace_key};
use crate::topology::reports::controller;

mod accepted_listeners;
mod ancestor_paths;
mod attached_kinds;
mod client_certificates;
mod conflicts;
mod delegated_matches;
mod delegated_paths;
pub mod delegation;
mod expected;
mod hostnames;
mod isolation;
mod listener_owners;
mod not_accepted_reason;
mod not_attached_reason;
mod parent_attachment;
mod policies_by_hostname;
pub mod reports;
mod route_acceptance;
mod route_kinds;
mod route_path;
mod route_paths;

pub use crate::model::listener_acceptance::{
    GatewayListeners, ListenerAcceptance, ListenerFault, SetRejection,
};
pub use accepted_listeners::{
    ListenerEndpoint, NotAccepted, listener_acceptance, listener_at, listener_endpoint,
    listeners_of, of_gateway as acceptance_of, unaccepted,
};
pub use ancestor_paths::AncestorPaths;
pub(crate) use ancestor_paths::SharedAncestorPaths;
pub use attached_kinds::attached_of_own_kind;
pub use client_certificates::{
    ClientCertificateField, GatewayClientCertificates, gateway_client_certificates,
};
pub use conflicts::TrafficType;
pub use delegated_paths::{DelegatedPaths, OwnPaths};
pub(crate) use hostnames::{all_in_common, in_common, intersect};
pub use isolation::{ListenerHostname, may_keep_apart};
pub use listener_owners::{gateways_around, listener_owners_around, owners_of};
pub use not_accepted_reason::{
    not_there, reason_for_all_listeners, why_not_joined, why_unaccepted,
};
pub use not_attached_reason::not_attached_at;
pub use parent_attachment::{
    DelegatedEntry, ParentAttachment, delegated, parent_attachment, parent_attachment_cost,
    too_many_delegations, unusable, unusable_by,
};
pub use policies_by_hostname::PoliciesByHostname;
pub use route_acceptance::{
    ListenerWithOwner, NotAttachedReason, allows_namespace, fits_service, may_accept,
    why_not_attached,
};
pub use route_kinds::{
    KeptOut, RouteKindConflicts, kept_out, kept_out_by, may_keep_out, perhaps_kept_out,
    perhaps_rejected_for, routes_in_conflict, routes_in_conflict_at,
};
pub use route_path::{
    RoutePath, Unreached, backend, is_of_other_kind, not_usable, to_backends, to_route, to_rules,
    unreached, why_rejected,
};
pub use route_paths::RoutePaths;

/// An ancestor path: everything above the routes, down to one listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AncestorPath {
    /// The places, from the least to the most specific; empty for a route that is not attached.
    pub steps: Vec<Step>,
    /// The only namespace whose requests take this path (mesh, consumer scope).
    pub consumer: Option<Arc<str>>,
}

// === impl AncestorPath ===

impl AncestorPath {
    /// Whether an object is on the path.
    pub fn has(&self, key: &ObjectKey) -> bool {
        self.steps.iter().any(|step| step.place.object == *key)
    }

    /// Its most specific place above the routes: the listener, unless the Gateway has none.
    pub fn last(&self) -> Option<&Place> {
        let above = self
            .steps
            .iter()
            .rev()
            .find(|step| step.level.is_above_routes());
        above.map(|step| &step.place)
    }

    /// The rules on it that delegate, from the top down.
    pub fn delegating(&self) -> Vec<&Place> {
        let rules = self.steps.iter().filter(|step| step.level == Level::Rule);
        rules.map(|step| &step.place).collect()
    }

    /// Whether routes on it delegate to the route below.
    pub fn is_delegated(&self) -> bool {
        self.steps
            .last()
            .is_some_and(|step| !step.level.is_above_routes())
    }
}

/// The places of a path, each once: a Namespace that holds both the Gateway and the route counts as
/// the Gateway's.
pub fn places<'a>(
    ancestor_path: &'a AncestorPath,
    route_path: Option<&'a RoutePath>,
) -> Vec<&'a Place> {
    let lower = route_path
        .into_iter()
        .flat_map(|route_path| &route_path.steps);
    let mut places: Vec<&Place> = Vec::new();
    for step in ancestor_path.steps.iter().chain(lower) {
        if !places.contains(&&step.place) {
            places.push(&step.place);
        }
    }
    places
}

/// An ancestor path through a listener, with the listener's index in the spec of its owner; `None` if the owner has
/// no listeners.
pub type ListenerPath = (Option<usize>, Rc<AncestorPath>);

/// The ancestor paths through the accepted listeners of a Gateway or `ListenerSet`. If the owner has no listeners,
/// the only path ends at the owner.
///
/// The listeners of a `ListenerSet` are siblings of the Gateway's own listeners, not their descendants.
pub fn through_listeners(snapshot: &Snapshot, owner: &Object) -> Vec<ListenerPath> {
    let Some(accepted) = listener_acceptance(snapshot, owner) else {
        return Vec::new();
    };
    if !accepted.is_accepted() {
        return Vec::new();
    }
    let base = match &owner.node {
        Node::ListenerSet { parent, .. } => {
            let Some(gateway) = snapshot.get(&parent.object) else {
                return Vec::new();
            };
            let mut base = to_gateway(gateway);
            base.push(Step::new(Level::ListenerSet, owner.key.whole()));
            base
        }
        _ => to_gateway(owner),
    };
    let ancestor_path = |steps| {
        Rc::new(AncestorPath {
            steps,
            consumer: None,
        })
    };
    let all = listeners_of(owner);
    if all.is_empty() {
        return vec![(None, ancestor_path(base))];
    }
    let open = all.iter().enumerate();
    let open = open.filter(|(i, _)| accepted.fault(*i).is_none());
    open.map(|(i, listener)| {
        let mut steps = base.clone();
        let place = owner.key.section(listener.name.clone());
        steps.push(Step::new(Level::Listener, place));
        (Some(i), ancestor_path(steps))
    })
    .collect()
}

/// The ancestor paths of a route that is attached to a Service: for all requests if both are in one namespace,
/// otherwise for those from the route's namespace. Each namespace in `consumers` gets a path of its own.
pub fn through_service(
    service: &ObjectKey,
    route: &ObjectKey,
    consumers: &[Arc<str>],
) -> Vec<Rc<AncestorPath>> {
    let steps = vec![
        Step::new(
            Level::GatewayNamespace,
            namespace_key(&service.namespace).whole(),
        ),
        Step::new(Level::Frontend, service.whole()),
    ];
    let path = |consumer| {
        Rc::new(AncestorPath {
            steps: steps.clone(),
            consumer,
        })
    };
    if route.namespace == service.namespace {
        let consumers = consumers.iter().filter(|c| **c != service.namespace);
        std::iter::once(None)
            .chain(consumers.map(|c| Some(c.clone())))
            .map(path)
            .collect()
    } else {
        vec![path(Some(route.namespace.clone()))]
    }
}

/// The ancestor path through a Gateway or `ListenerSet` that may not be read. The reference is assumed to be allowed;
/// nothing is known above the parent.
pub fn through_hidden(reference: &ParentRef) -> Option<Rc<AncestorPath>> {
    let key = &reference.object;
    let level = if key.gk.is_gateway_api("Gateway") {
        Level::Gateway
    } else if key.gk.is_listener_set() {
        Level::ListenerSet
    } else {
        return None;
    };
    let namespace = namespace_key(&key.namespace).whole();
    let section = reference.section.iter();
    let listener = section.map(|name| Step::new(Level::Listener, key.section(name.clone())));
    let steps = [
        Step::new(Level::GatewayNamespace, namespace),
        Step::new(level, key.whole()),
    ];
    Some(Rc::new(AncestorPath {
        steps: steps.into_iter().chain(listener).collect(),
        consumer: None,
    }))
}

/// The Gateway that a `ListenerSet` names; any other object is returned as it is.
pub fn gateway_of<'a>(snapshot: &'a Snapshot, owner: &'a ObjectKey) -> &'a ObjectKey {
    match snapshot.get(owner).map(|owner| &owner.node) {
        Some(Node::ListenerSet { parent, .. }) => &parent.object,
        _ => owner,
    }
}

/// The facts about the controller of a Gateway, or of the Gateway that a `ListenerSet` names. `None` if the controller
/// is not known, or nothing is known of it.
pub fn controller_facts<'a>(
    snapshot: &'a Snapshot,
    owner: &ObjectKey,
) -> Option<&'a ControllerFile> {
    snapshot.controller_facts(controller(snapshot, owner)?)
}

/// The `ListenerSets` that name a Gateway, whether the Gateway allows them or not.
pub fn sets_of<'a>(
    snapshot: &'a Snapshot,
    gateway: &'a ObjectKey,
) -> impl Iterator<Item = &'a Arc<Object>> {
    const KINDS: &[GroupKind] = &GroupKind::LISTENER_SETS;
    let sets = KINDS
        .iter()
        .flat_map(|kind| snapshot.naming_of(gateway, kind));
    sets.filter(|object| matches!(object.node, Node::ListenerSet { .. }))
}

/// A Gateway and the `ListenerSets` that name it, whether it allows them or not.
pub fn with_sets<'a>(
    snapshot: &'a Snapshot,
    gateway: &'a Arc<Object>,
) -> impl Iterator<Item = &'a Arc<Object>> {
    std::iter::once(gateway).chain(sets_of(snapshot, &gateway.key))
}

/// Whether a `GatewayClass` does not exist, and others do. Manifests without any class leave them to the cluster, and
/// those that controllers create themselves are in no manifest.
pub fn lacks_class(snapshot: &Snapshot, class: &ObjectKey) -> bool {
    snapshot.lacks(class) && snapshot.has_any(&class.gk) && !snapshot.creates_class(&class.name)
}

/// The `GatewayClass` of a Gateway if it does not exist, so that no controller runs the Gateway.
pub fn missing_class(snapshot: &Snapshot, gateway: &Object) -> Option<ObjectKey> {
    let Node::Gateway { class, .. } = &gateway.node else {
        return None;
    };
    Some(class_key(class)).filter(|class| lacks_class(snapshot, class))
}

/// The steps from the top of the hierarchy down to a Gateway.
pub fn to_gateway(gateway: &Object) -> Vec<Step> {
    let mut steps = Vec::with_capacity(5);
    if let Node::Gateway { class, .. } = &gateway.node {
        steps.push(Step::new(Level::GatewayClass, class_key(class).whole()));
    }
    let namespace = namespace_key(&gateway.key.namespace).whole();
    steps.push(Step::new(Level::GatewayNamespace, namespace));
    steps.push(Step::new(Level::Gateway, gateway.key.whole()));
    steps
}
