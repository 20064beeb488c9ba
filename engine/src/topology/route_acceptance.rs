//! The Gateway API's rules for attachment: which listeners accept which routes and `ListenerSets`.

use std::sync::Arc;

use super::controller_facts;
use super::isolation::ListenerHostname;
use crate::kinds::profile::{ControllerFile, UnsupportedFilterEffect};
use crate::model::ids::GroupKind;
use crate::model::listener_acceptance::{ListenerAcceptance, ListenerFault};
use crate::model::object::{From, Listener, NAMESPACE_NAME, Node, Object, ParentRef};
use crate::model::selector::Labels;
use crate::state::snapshot::{Snapshot, namespace_key};
use crate::topology::reports::{controller, of_route};

/// Why a listener does not accept a route that names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotAttachedReason {
    /// The controller attaches no routes to its Gateway, which is a waypoint.
    Waypoint,
    /// The protocol does not support routes of this kind.
    Protocol,
    /// The reference names another listener.
    Section,
    /// The reference names another port.
    Port,
    /// The listener does not allow routes of this kind.
    Kind,
    /// The hostnames do not intersect.
    Hostname,
    /// Other listeners on the port have more specific hostnames, and take the requests for those of the route.
    Isolated,
    /// The listener does not allow routes of this namespace.
    Namespace,
    /// The rule that decides whether the listener allows the route cannot be read.
    SelectorUnreadable,
    /// The listener itself is not accepted.
    ListenerNotAccepted(ListenerFault),
    /// The controller takes only routes of this kind that have exactly one rule.
    Rules,
    /// The controller does not support a filter of the route, and so serves none of its rules.
    Filter,
    /// The status of the route says that the parent does not accept it.
    Reported,
}

/// A listener with its Gateway or `ListenerSet`, and whether it is accepted.
#[derive(Clone, Debug)]
pub struct ListenerWithOwner<'a> {
    /// The Gateway or `ListenerSet`.
    pub owner: &'a Object,
    /// The listener.
    pub listener: &'a Listener,
    /// Why the listener is not accepted.
    pub fault: Option<ListenerFault>,
    /// The requests that it takes.
    pub hostname: ListenerHostname,
}

// === impl ListenerWithOwner ===

impl<'a> ListenerWithOwner<'a> {
    /// The listeners in the spec of a Gateway or `ListenerSet`, in their order.
    pub(super) fn all(
        snapshot: &Snapshot,
        owner: &'a Object,
        accepted: &ListenerAcceptance,
    ) -> impl Iterator<Item = Self> {
        let listeners = owner.listeners().iter().enumerate();
        listeners.map(move |(i, listener)| Self {
            owner,
            listener,
            fault: accepted.fault(i),
            hostname: ListenerHostname::for_listener(snapshot, owner, accepted, i),
        })
    }
}

/// Whether a listener of `owner` may accept a route with this reference: section, port, namespace and kind match.
/// [`ListenerHostname::takes`] decides the rest.
pub fn may_accept(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
    route: &Object,
    parent: &ParentRef,
) -> bool {
    unfit(snapshot, owner, listener, &route.key.gk, parent).is_none()
        && lets_in(
            snapshot,
            &listener.routes_from,
            &owner.key.namespace,
            &route.key.namespace,
        )
        && !has_too_many_rules(snapshot, owner, route)
        && rejected_filter(snapshot, owner, route).is_none()
        && of_route(snapshot, route, parent).is_none()
}

/// The first reason why a listener does not accept a route with this reference. `None` if it accepts the route,
/// unless an older route of another kind keeps it out.
pub fn why_not_attached(
    snapshot: &Snapshot,
    own: &ListenerWithOwner<'_>,
    route: &Object,
    parent: &ParentRef,
) -> Option<NotAttachedReason> {
    let ListenerWithOwner {
        owner, listener, ..
    } = own;
    let unfit = unfit(snapshot, owner, listener, &route.key.gk, parent);
    if unfit.is_some() {
        return unfit;
    }
    let hostnames = route.hostnames();
    if !own.hostname.takes(hostnames) {
        let is_common = own.hostname.intersects(hostnames);
        return Some(if is_common {
            NotAttachedReason::Isolated
        } else {
            NotAttachedReason::Hostname
        });
    }
    let (namespace, theirs) = (&owner.key.namespace, &route.key.namespace);
    if listener.routes_from == From::Unknown {
        return Some(NotAttachedReason::SelectorUnreadable);
    }
    if !lets_in(snapshot, &listener.routes_from, namespace, theirs) {
        return Some(NotAttachedReason::Namespace);
    }
    let reported = || of_route(snapshot, route, parent).map(|_| NotAttachedReason::Reported);
    let has_too_many = has_too_many_rules(snapshot, owner, route);
    let rules = has_too_many.then_some(NotAttachedReason::Rules);
    let filter = || rejected_filter(snapshot, owner, route).map(|_| NotAttachedReason::Filter);
    let conflict = own.fault.map(NotAttachedReason::ListenerNotAccepted);
    conflict.or(rules).or_else(filter).or_else(reported)
}

/// The filter of a route for which the controller of a listener serves none of its rules.
pub(super) fn rejected_filter<'a>(
    snapshot: &Snapshot,
    owner: &Object,
    route: &'a Object,
) -> Option<&'a Arc<str>> {
    let mut filters = route.filters().peekable();
    filters.peek()?;
    let facts = controller_facts(snapshot, &owner.key)?;
    let unsupported = facts.unsupported_filters.as_ref();
    let unsupported =
        unsupported.filter(|facts| facts.then == UnsupportedFilterEffect::RouteNotServed)?;
    filters.find_map(|filters| {
        let of_rule = unsupported.in_rule(&filters.types);
        of_rule.or_else(|| unsupported.on_backend(&filters.types_of_backends))
    })
}

/// Whether the controller of a listener serves routes of this kind only with exactly one rule, and the route has not.
fn has_too_many_rules(snapshot: &Snapshot, owner: &Object, route: &Object) -> bool {
    if route.has_one_rule() {
        return false;
    }
    let facts = controller_facts(snapshot, &owner.key);
    let of_one = facts.map_or(&[][..], |facts| &facts.one_rule_routes);
    of_one.iter().any(|kind| **kind == *route.key.gk.kind)
}

/// Whether the controller of a Gateway or `ListenerSet` attaches no routes to it.
fn is_without_routes(snapshot: &Snapshot, owner: &Object, facts: Option<&ControllerFile>) -> bool {
    let names = facts.map_or(&[][..], |facts| &facts.without_routes);
    !names.is_empty()
        && controller(snapshot, &owner.key)
            .is_some_and(|name| names.iter().any(|one| **one == **name))
}

fn unfit(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
    route: &GroupKind,
    parent: &ParentRef,
) -> Option<NotAttachedReason> {
    let facts = controller_facts(snapshot, &owner.key);
    if is_without_routes(snapshot, owner, facts) {
        return Some(NotAttachedReason::Waypoint);
    }
    if !fits_protocol(facts, listener, route) {
        return Some(NotAttachedReason::Protocol);
    }
    let section = parent.section.as_ref();
    if section.is_some_and(|name| *name != listener.name) {
        return Some(NotAttachedReason::Section);
    }
    if parent.port.is_some_and(|port| port != listener.port) {
        return Some(NotAttachedReason::Port);
    }
    // Among the kinds that the protocol supports, those that the listener names.
    let fits = listener.routes_of.is_empty() || listener.routes_of.contains(route);
    (!fits).then_some(NotAttachedReason::Kind)
}

/// Whether a reference to a Service matches one of its ports: port and section name an existing one, and the same one
/// if both are given.
pub fn fits_service(service: &Object, reference: &ParentRef) -> bool {
    let Node::Service { ports, .. } = &service.node else {
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

/// Whether a Gateway allows a `ListenerSet` (`spec.allowedListeners`).
pub(super) fn allows_listener_set(snapshot: &Snapshot, gateway: &Object, set: &Object) -> bool {
    let Node::Gateway { sets, .. } = &gateway.node else {
        return false;
    };
    let (own, theirs) = (&gateway.key.namespace, &set.key.namespace);
    lets_in(snapshot, sets, own, theirs)
}

/// Whether a listener allows objects of a namespace to name its Gateway. Without a listener, only objects in the Gateway's
/// namespace may.
pub fn allows_namespace(
    snapshot: &Snapshot,
    gateway: &Object,
    listener: Option<&Listener>,
    namespace: &Arc<str>,
) -> bool {
    let from = listener.map_or(&From::Same, |listener| &listener.routes_from);
    lets_in(snapshot, from, &gateway.key.namespace, namespace)
}

/// An unknown Namespace still has its name, which is one of its labels.
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

/// Whether the protocol of a listener supports routes of a kind; implementation-specific protocols support any.
pub(super) fn fits_protocol(
    facts: Option<&ControllerFile>,
    listener: &Listener,
    route: &GroupKind,
) -> bool {
    let takes_tcp = || facts.is_some_and(|facts| facts.tcp_routes_with_passthrough);
    let kinds: &[&str] = match &*listener.protocol {
        "HTTP" | "HTTPS" => &["HTTPRoute", "GRPCRoute"],
        // TLS is not terminated there, so there is no stream of TCP for other kinds (Gateway API, `TLSModeType`).
        "TLS" if listener.passes_tls_through && !takes_tcp() => &["TLSRoute"],
        "TLS" => &["TLSRoute", "TCPRoute"],
        "TCP" => &["TCPRoute"],
        "UDP" => &["UDPRoute"],
        _ => return true,
    };
    let takes = |few: &Vec<String>| few.iter().any(|kind| **kind == *route.kind);
    let takes_of = |facts: &ControllerFile| {
        let unless_named = listener
            .routes_of
            .is_empty()
            .then_some(&facts.default_route_kinds);
        let mut maps = unless_named.into_iter().chain([&facts.route_kinds]);
        maps.all(|kinds| kinds.get(&*listener.protocol).is_none_or(takes))
    };
    kinds.contains(&&*route.kind) && facts.is_none_or(takes_of)
}
