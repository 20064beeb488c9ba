//! Who lets whom attach: the Gateway API's rules for listeners, routes and `ListenerSets`.

use std::sync::Arc;

use super::hostnames::intersect;
use crate::engine::ids::GroupKind;
use crate::engine::object::{From, Listener, Node, Object, ParentRef};
use crate::engine::snapshot::{Snapshot, namespace_key};

/// Why a listener does not take a route. The later one stands, the nearer the route came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The reference names another listener.
    Section,
    /// The reference names another port.
    Port,
    /// The kind does not fit the listener.
    Kind,
    /// They have no hostname in common.
    Hostname,
    /// Routes of the namespace may not attach.
    Namespace,
}

/// Whether a listener of `owner` takes a route that names it by this reference: section, port,
/// namespace, kind and hostname must all fit.
pub fn accepts(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
    route: &Object,
    parent: &ParentRef,
) -> bool {
    refusal(snapshot, owner, listener, route, parent).is_none()
}

/// Why a listener of `owner` does not take a route that names it by this reference; none when it does.
pub fn refusal(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
    route: &Object,
    parent: &ParentRef,
) -> Option<Refusal> {
    let section = parent.section.as_ref();
    let (own, theirs) = (&owner.key.namespace, &route.key.namespace);
    if section.is_some_and(|name| *name != listener.name) {
        Some(Refusal::Section)
    } else if parent.port.is_some_and(|port| port != listener.port) {
        Some(Refusal::Port)
    } else if !takes_kind(listener, &route.key.gk) {
        Some(Refusal::Kind)
    } else if !takes_hostname(listener, route) {
        Some(Refusal::Hostname)
    } else if !lets_in(snapshot, &listener.routes_from, own, theirs) {
        Some(Refusal::Namespace)
    } else {
        None
    }
}

/// Whether a reference to a Service fits its ports: port and section name one that is there, the same
/// one if both are given.
pub fn fits_service(service: &Object, reference: &ParentRef) -> bool {
    let Node::Service { ports } = &service.node else {
        return false;
    };
    let (section, number) = (&reference.section, reference.port);
    (section.is_none() && number.is_none())
        || ports.iter().any(|port| {
            section
                .as_ref()
                .is_none_or(|name| port.name.as_ref() == Some(name))
                && number.is_none_or(|number| number == port.number)
        })
}

/// Whether a Gateway lets a `ListenerSet` join (`spec.allowedListeners`).
pub fn joins(snapshot: &Snapshot, gateway: &Object, set: &Object) -> bool {
    let Node::Gateway { sets, .. } = &gateway.node else {
        return false;
    };
    let (own, theirs) = (&gateway.key.namespace, &set.key.namespace);
    lets_in(snapshot, sets, own, theirs)
}

/// A Namespace that is not known has no labels to select.
fn lets_in(snapshot: &Snapshot, from: &From, own: &Arc<str>, theirs: &Arc<str>) -> bool {
    match from {
        From::All => true,
        From::None => false,
        From::Same => own == theirs,
        From::Selector(selector) => snapshot
            .get(&namespace_key(theirs))
            .is_some_and(|namespace| selector.selects(&namespace.meta.labels)),
    }
}

/// The kinds that fit the protocol of a listener, and of these the ones that it names; protocols of
/// implementations take any kind.
fn takes_kind(listener: &Listener, route: &GroupKind) -> bool {
    if !listener.routes_of.is_empty() && !listener.routes_of.contains(route) {
        return false;
    }
    let kinds: &[&str] = match &*listener.protocol {
        "HTTP" | "HTTPS" => &["HTTPRoute", "GRPCRoute"],
        "TLS" => &["TLSRoute", "TCPRoute"],
        "TCP" => &["TCPRoute"],
        "UDP" => &["UDPRoute"],
        _ => return true,
    };
    kinds.contains(&&*route.kind)
}

fn takes_hostname(listener: &Listener, route: &Object) -> bool {
    let (Some(theirs), Node::Route { hostnames, .. }) = (&listener.hostname, &route.node) else {
        return true;
    };
    hostnames.is_empty() || hostnames.iter().any(|ours| intersect(theirs, ours))
}
