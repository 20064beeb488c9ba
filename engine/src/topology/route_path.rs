//! The lower half of a path: from the Namespace of a route to a rule or a backend.

use std::sync::Arc;

use super::{controller, controller_facts};
use crate::kinds::profile::RejectedServices;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::level::{Level, Step};
use crate::model::object::{BackendRef, Node, Object, ParentRef, PortProtocol};
use crate::model::section;
use crate::state::grants::granted;
use crate::state::snapshot::{Snapshot, namespace_key};

/// A route path: everything below the listener.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutePath {
    /// The places, from the least to the most specific.
    pub steps: Vec<Step>,
    /// Whether it reaches the level at which paths of the kind end: the backend exists and may be used.
    pub complete: bool,
}

// === impl RoutePath ===

impl RoutePath {
    /// Whether an object is on the path.
    pub fn has(&self, key: &ObjectKey) -> bool {
        self.steps.iter().any(|step| step.place.object == *key)
    }

    /// The effective target: the last place.
    pub fn target(&self) -> Option<&Place> {
        self.steps.last().map(|step| &step.place)
    }
}

/// The paths to the rules of a route, in the order of the rules. Rules with the same name share one path. Rules that
/// delegate to other routes serve no requests themselves; a route with no others has one incomplete path.
///
/// `namespace` is the key of the route's Namespace, which many routes share.
pub fn to_rules(namespace: &ObjectKey, route: &Object) -> Vec<RoutePath> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    if rules.is_empty() {
        return vec![route_path(to_route(namespace, route), true)];
    }
    if route.delegates() {
        return vec![route_path(to_route(namespace, route), false)];
    }
    let mut labels: Vec<Arc<str>> = Vec::with_capacity(rules.len());
    for (i, _) in rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| !rule.delegates())
    {
        let label = section::rule_label(route, i);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let paths = labels.into_iter().map(|label| {
        let mut steps = to_route(namespace, route);
        steps.push(Step::new(Level::Rule, route.key.section(label)));
        route_path(steps, true)
    });
    paths.collect()
}

/// The paths through a route to the ports of its backends; sorted, without duplicates.
pub fn to_backends(snapshot: &Snapshot, namespace: &ObjectKey, route: &Object) -> Vec<RoutePath> {
    let Node::Route { rules, .. } = &route.node else {
        return Vec::new();
    };
    let mut paths = Vec::with_capacity(rules.len());
    for (i, rule) in rules.iter().enumerate() {
        let mut steps = to_route(namespace, route);
        let label = section::rule_label(route, i);
        steps.push(Step::new(Level::Rule, route.key.section(label)));
        let before = paths.len();
        for reference in &rule.backends {
            if let Some(more) = to_backend(snapshot, route, reference) {
                let steps = steps.iter().cloned().chain(more).collect();
                paths.push(route_path(steps, true));
            }
        }
        if paths.len() == before {
            paths.push(route_path(steps, false));
        }
    }
    if rules.is_empty() {
        paths.push(route_path(to_route(namespace, route), false));
    }
    paths.sort();
    paths.dedup();
    paths
}

/// The steps to a route, with capacity for one more.
pub fn to_route(namespace: &ObjectKey, route: &Object) -> Vec<Step> {
    let mut steps = Vec::with_capacity(3);
    steps.push(Step::new(Level::RouteNamespace, namespace.whole()));
    steps.push(Step::new(Level::Route, route.key.whole()));
    steps
}

/// The paths that begin at a backend without a route, or at any other object that is neither above the routes nor a
/// route: one for the whole object, one for each port. They begin at its Namespace if `below_namespace`.
pub fn backend(snapshot: &Snapshot, key: &ObjectKey, below_namespace: bool) -> Vec<RoutePath> {
    let mut base = Vec::new();
    if below_namespace && !key.namespace.is_empty() {
        let namespace = namespace_key(&key.namespace).whole();
        base.push(Step::new(Level::BackendNamespace, namespace));
    }
    base.push(Step::new(Level::Backend, key.whole()));
    let ports = snapshot.get(key).map(|o| section::labels(o));
    let mut paths: Vec<RoutePath> = ports
        .into_iter()
        .flatten()
        .map(|label| {
            let mut steps = base.clone();
            steps.push(Step::new(Level::Port, key.section(label)));
            route_path(steps, true)
        })
        .collect();
    if paths.is_empty() {
        paths.push(route_path(base, true));
    }
    paths
}

fn route_path(steps: Vec<Step>, complete: bool) -> RoutePath {
    RoutePath { steps, complete }
}

/// Why a backend reference does not resolve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreached {
    /// The kind cannot receive requests.
    Kind,
    /// The backend does not exist.
    Missing,
    /// The Service has no port with this number.
    NoPort(u16),
    /// The controllers of the route send no requests to backends of the kind; others do.
    OtherKind,
    /// The Service has the type `ExternalName`, and the controllers of the route send no requests to those.
    ExternalName,
    /// The port of the Service with this number is for another protocol than that of the route.
    OtherProtocol(u16),
    /// No `ReferenceGrant` covers the reference.
    NotGranted,
    /// It stands for routes, and none of them takes the requests of the rule.
    NotDelegated,
    /// Another backend of the rule stands for routes, which get all its requests.
    BesideDelegation,
}

/// Why a backend reference of a route does not resolve; `None` if it does. Backends of kinds that are not watched are
/// assumed to exist.
pub fn unreached(snapshot: &Snapshot, route: &Object, reference: &BackendRef) -> Option<Unreached> {
    let key = &reference.object;
    if !Level::is_of_backend(&key.gk) {
        Some(Unreached::Kind)
    } else if !granted(snapshot, &route.key.gk, &route.key.namespace, key) {
        // Checked first: without a grant, the existence of the backend must not be disclosed.
        Some(Unreached::NotGranted)
    } else if is_of_other_kind(snapshot, route, &key.gk) {
        Some(Unreached::OtherKind)
    } else if snapshot.lacks(key) {
        Some(Unreached::Missing)
    } else {
        let no_port = no_port(snapshot, reference).map(Unreached::NoPort);
        no_port.or_else(|| why_rejected(snapshot, route, reference))
    }
}

/// Whether the controllers of a route send no requests to backends of a kind, as far as that is known of all of them.
pub fn is_of_other_kind(snapshot: &Snapshot, route: &Object, kind: &GroupKind) -> bool {
    let rejects = |parent: &ParentRef| {
        let name = controller(snapshot, &parent.object);
        name.is_some_and(|name| snapshot.rejects_backends(name, kind))
    };
    let parents = route.parents();
    !kind.is_core("Service") && !parents.is_empty() && parents.iter().all(rejects)
}

/// Why the controllers of a route send no requests to an existing Service, as far as that is known of all of them.
pub fn why_rejected(
    snapshot: &Snapshot,
    route: &Object,
    reference: &BackendRef,
) -> Option<Unreached> {
    let node = snapshot.get(&reference.object).map(|object| &object.node);
    let Some(Node::Service {
        ports,
        is_external_name,
        ..
    }) = node
    else {
        return None;
    };
    let rejects = |what| {
        let rejects = |parent: &ParentRef| {
            let facts = controller_facts(snapshot, &parent.object);
            facts.is_some_and(|facts| facts.rejected_services.contains(&what))
        };
        !route.parents().is_empty() && route.parents().iter().all(rejects)
    };
    if *is_external_name && rejects(RejectedServices::ExternalName) {
        return Some(Unreached::ExternalName);
    }
    let number = reference.port?;
    let protocol = match &*route.key.gk.kind {
        "UDPRoute" => PortProtocol::Udp,
        _ => PortProtocol::Tcp,
    };
    let mut there = ports.iter().filter(|port| port.number == number).peekable();
    let is_other = there.peek().is_some() && there.all(|port| port.protocol != protocol);
    let is_rejected = is_other && rejects(RejectedServices::OtherProtocol);
    is_rejected.then_some(Unreached::OtherProtocol(number))
}

/// The port of a reference to a Service that has other ports only.
fn no_port(snapshot: &Snapshot, reference: &BackendRef) -> Option<u16> {
    let number = reference.port?;
    let node = snapshot.get(&reference.object).map(|object| &object.node);
    let Some(Node::Service { ports, .. }) = node else {
        return None;
    };
    let is_other = !ports.is_empty() && ports.iter().all(|port| port.number != number);
    is_other.then_some(number)
}

/// The steps from a rule to a backend; `None` if the reference does not resolve.
fn to_backend(snapshot: &Snapshot, route: &Object, reference: &BackendRef) -> Option<Vec<Step>> {
    if unreached(snapshot, route, reference).is_some() {
        return None;
    }
    let key = &reference.object;
    let object = snapshot.get(key);
    let mut steps = vec![
        Step::new(
            Level::BackendNamespace,
            namespace_key(&key.namespace).whole(),
        ),
        Step::new(Level::Backend, key.whole()),
    ];
    let port = object.zip(reference.port);
    if let Some(label) = port.and_then(|(object, port)| section::backend_label(object, port)) {
        steps.push(Step::new(Level::Port, key.section(label)));
    }
    Some(steps)
}

/// A message that a backend reference of a route does not resolve.
pub fn not_usable(why: Unreached, route: &ObjectKey, backend: &ObjectKey) -> String {
    match why {
        Unreached::Kind => format!("{} cannot be a backend", backend.gk),
        Unreached::OtherKind => {
            format!(
                "the controller of {route} sends no requests to a {}",
                backend.gk
            )
        }
        Unreached::Missing => format!("{backend} does not exist"),
        Unreached::NoPort(number) => format!("{backend} has no port {number}"),
        Unreached::ExternalName => {
            format!(
                "{backend} has the type ExternalName, which the controller of {route} does not take"
            )
        }
        Unreached::OtherProtocol(number) => {
            let protocol = if *route.gk.kind == *"UDPRoute" {
                "UDP"
            } else {
                "TCP"
            };
            format!("port {number} of {backend} is not for {protocol}")
        }
        Unreached::NotDelegated => format!(
            "{route} delegates to {backend}, but no HTTPRoute there takes the requests of the rule. Such a route must have no hostnames, must have only matches within those of the rule, and must name {route} in parentRefs or have no parentRefs"
        ),
        Unreached::BesideDelegation => "its rule delegates all requests to routes".to_owned(),
        Unreached::NotGranted => format!(
            "no ReferenceGrant in namespace {} covers {}s of namespace {}",
            backend.namespace, route.gk.kind, route.namespace
        ),
    }
}
