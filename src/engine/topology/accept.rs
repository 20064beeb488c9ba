//! Who lets whom attach: the Gateway API's rules for listeners, routes and `ListenerSets`.

use std::sync::Arc;

use super::conflicts::Conflict;
use super::hostnames::intersect;
use crate::engine::ids::GroupKind;
use crate::engine::object::{From, Listener, NAMESPACE_NAME, Node, Object, ParentRef};
use crate::engine::reports::of_route;
use crate::engine::selector::Labels;
use crate::engine::snapshot::{Snapshot, namespace_key};

/// Why a listener does not take a route that names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Routes of its kind do not fit the protocol.
    Protocol,
    /// The reference names another listener.
    Section,
    /// The reference names another port.
    Port,
    /// Routes of its kind are not allowed.
    Kind,
    /// They have no hostname in common.
    Hostname,
    /// Routes of its namespace are not allowed.
    Namespace,
    /// Whether they are cannot be read.
    Unread,
    /// It is not accepted itself.
    Conflict(Conflict),
    /// The status of the route says that the parent does not take it (ruling 36).
    Reported,
}

/// A listener, the Gateway or `ListenerSet` that it is of, and whether it is accepted.
#[derive(Clone, Copy, Debug)]
pub struct OwnListener<'a> {
    /// The Gateway or `ListenerSet`.
    pub owner: &'a Object,
    /// The listener.
    pub listener: &'a Listener,
    /// Why it is not accepted.
    pub conflict: Option<Conflict>,
}

/// Whether a listener of `owner` may take a route that names it by this reference: section, port, namespace and kind
/// fit, and [`takes_hostname`] decides.
pub fn may_accept(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
    route: &Object,
    parent: &ParentRef,
) -> bool {
    unfit(listener, &route.key.gk, parent).is_none()
        && lets_in(
            snapshot,
            &listener.routes_from,
            &owner.key.namespace,
            &route.key.namespace,
        )
        && of_route(snapshot, route, parent).is_none()
}

/// The first thing that keeps a listener from taking a route that names its owner by this reference; none where it
/// takes it, unless an older route of another kind keeps it out ([`super::kept_out`]).
pub fn refusal(
    snapshot: &Snapshot,
    here: &OwnListener<'_>,
    route: &Object,
    parent: &ParentRef,
) -> Option<Refusal> {
    let OwnListener {
        owner, listener, ..
    } = here;
    let unfit = unfit(listener, &route.key.gk, parent);
    if unfit.is_some() {
        return unfit;
    }
    let hostnames = match &route.node {
        Node::Route { hostnames, .. } => &**hostnames,
        _ => &[],
    };
    if !takes_hostname(listener.hostname.as_deref(), hostnames) {
        return Some(Refusal::Hostname);
    }
    let (own, theirs) = (&owner.key.namespace, &route.key.namespace);
    if listener.routes_from == From::Unknown {
        return Some(Refusal::Unread);
    }
    if !lets_in(snapshot, &listener.routes_from, own, theirs) {
        return Some(Refusal::Namespace);
    }
    let reported = || of_route(snapshot, route, parent).map(|_| Refusal::Reported);
    here.conflict.map(Refusal::Conflict).or_else(reported)
}

fn unfit(listener: &Listener, route: &GroupKind, parent: &ParentRef) -> Option<Refusal> {
    if !fits_protocol(listener, route) {
        return Some(Refusal::Protocol);
    }
    let section = parent.section.as_ref();
    if section.is_some_and(|name| *name != listener.name) {
        return Some(Refusal::Section);
    }
    if parent.port.is_some_and(|port| port != listener.port) {
        return Some(Refusal::Port);
    }
    // Of the kinds that fit, those that the listener names.
    let fits = listener.routes_of.is_empty() || listener.routes_of.contains(route);
    (!fits).then_some(Refusal::Kind)
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
pub(super) fn joins(snapshot: &Snapshot, gateway: &Object, set: &Object) -> bool {
    let Node::Gateway { sets, .. } = &gateway.node else {
        return false;
    };
    let (own, theirs) = (&gateway.key.namespace, &set.key.namespace);
    lets_in(snapshot, sets, own, theirs)
}

/// Whether the first listener of a protocol lets objects of a namespace name its Gateway; those of the Gateway's own where
/// there is no such listener.
pub fn lets_name(
    snapshot: &Snapshot,
    gateway: &Object,
    protocol: &str,
    namespace: &Arc<str>,
) -> bool {
    let Node::Gateway { listeners, .. } = &gateway.node else {
        return false;
    };
    let mut listeners = listeners.iter();
    let listener = listeners.find(|listener| *listener.protocol == *protocol);
    let from = listener.map_or(&From::Same, |listener| &listener.routes_from);
    lets_in(snapshot, from, &gateway.key.namespace, namespace)
}

/// Of a Namespace that is not known its name is known, which is a label of it.
fn lets_in(snapshot: &Snapshot, from: &From, own: &Arc<str>, theirs: &Arc<str>) -> bool {
    match from {
        From::All => true,
        From::None | From::Unknown => false,
        From::Same => own == theirs,
        From::Selector(selector) => {
            if let Some(namespace) = snapshot.get(&namespace_key(theirs)) {
                selector.selects(&namespace.meta.labels)
            } else {
                let mut labels = Labels::default();
                let unnamed = selector.selects(&labels);
                labels.insert(NAMESPACE_NAME.into(), theirs.clone());
                !unnamed && selector.selects(&labels)
            }
        }
    }
}

/// Whether routes of a kind fit the protocol of a listener; protocols of implementations take any
/// kind.
fn fits_protocol(listener: &Listener, route: &GroupKind) -> bool {
    let kinds: &[&str] = match &*listener.protocol {
        "HTTP" | "HTTPS" => &["HTTPRoute", "GRPCRoute"],
        "TLS" => &["TLSRoute", "TCPRoute"],
        "TCP" => &["TCPRoute"],
        "UDP" => &["UDPRoute"],
        _ => return true,
    };
    kinds.contains(&&*route.kind)
}

/// Whether a listener with a hostname, or without, takes a route with some, or with none.
pub fn takes_hostname(theirs: Option<&str>, ours: &[Arc<str>]) -> bool {
    let Some(theirs) = theirs else {
        return true;
    };
    ours.is_empty() || ours.iter().any(|ours| intersect(theirs, ours))
}
