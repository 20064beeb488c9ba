//! Why a listener does not take a route, in words.

use std::sync::Arc;

use super::accepted_listeners::listeners_of;
use super::not_accepted_reason::conflict;
use super::reports::of_route;
use super::route_acceptance::{NotAttachedReason, rejected_filter};
use crate::model::hint::nearest;
use crate::model::ids::GroupKind;
use crate::model::object::{From, Listener, Object, ParentRef};
use crate::state::snapshot::{Snapshot, namespace_key};

/// Why no listener of an object accepts a route. `closest` is the one that comes closest to accepting it.
pub(super) fn not_attached(
    snapshot: &Snapshot,
    closest: Option<(NotAttachedReason, &Listener)>,
    owner: &Object,
    route: &Object,
    parent: &ParentRef,
) -> String {
    let Some((why, listener)) = closest else {
        return format!("{} has no listener", owner.key);
    };
    match &parent.section {
        Some(section) if *section != listener.name && why != NotAttachedReason::Waypoint => {
            let names = listeners_of(owner).iter().map(|listener| &*listener.name);
            let near = nearest(section, &names.collect::<Vec<_>>());
            let near = near.map(|name| format!("; did you mean {name}?"));
            let near = near.unwrap_or_default();
            format!("{} has no listener {section}{near}", owner.key)
        }
        _ => not_attached_at(snapshot, (owner, listener), route, parent, why),
    }
}

/// Why a listener of an object does not take a route.
pub fn not_attached_at(
    snapshot: &Snapshot,
    (owner, listener): (&Object, &Listener),
    route: &Object,
    parent: &ParentRef,
    why: NotAttachedReason,
) -> String {
    let name = &listener.name;
    match (why, &parent.section, parent.port) {
        (NotAttachedReason::Waypoint, ..) => waypoint(owner),
        (NotAttachedReason::Port, None, Some(port)) => {
            format!("{} has no listener on port {port}", owner.key)
        }
        (NotAttachedReason::Section | NotAttachedReason::Port, ..) => {
            format!("listener {name} has port {}", listener.port)
        }
        (NotAttachedReason::Protocol, ..) if !listener.protocol.is_empty() => format!(
            "listener {name} has the protocol {}, which takes no {}",
            listener.protocol, route.key.gk.kind
        ),
        (NotAttachedReason::Kind | NotAttachedReason::Protocol, ..) => {
            format!("listener {name} takes no {}", route.key.gk.kind)
        }
        (NotAttachedReason::Hostname, ..) => {
            let own = listener.hostname.as_deref().unwrap_or_default();
            format!("listener {name} has hostname {own}, which matches no hostname of the route")
        }
        (NotAttachedReason::Isolated, ..) => {
            let own = listener.hostname.as_deref().unwrap_or("every host");
            format!(
                "listener {name} serves {own}, but leaves the hostnames of the route to listeners on its port with more specific hostnames"
            )
        }
        (NotAttachedReason::Namespace, ..) => {
            takes_none_of(snapshot, owner, listener, &route.key.namespace)
        }
        (NotAttachedReason::SelectorUnreadable, ..) => format!(
            "the namespace selector of listener {name} cannot be read, so attache does not know from which namespaces it takes routes"
        ),
        (NotAttachedReason::ListenerNotAccepted(why), ..) => {
            let why = conflict(snapshot, why, owner, name);
            format!("listener {name} is not accepted: {why}")
        }
        (NotAttachedReason::Rules, ..) => one_rule(&route.key.gk),
        (NotAttachedReason::Filter, ..) => unsupported_filter(snapshot, owner, route),
        (NotAttachedReason::Reported, ..) => {
            let report = of_route(snapshot, route, parent);
            let report = report.map_or_else(String::new, ToString::to_string);
            format!("the controller of {} reports {report}", owner.key)
        }
    }
}

/// The message that a waypoint takes no routes.
fn waypoint(owner: &Object) -> String {
    format!(
        "{} is a waypoint, which takes no routes: name the Service as the parent",
        owner.key
    )
}

/// The message that a controller serves only routes of a kind that have one rule.
fn one_rule(kind: &GroupKind) -> String {
    format!(
        "its controller serves only {}s with exactly one rule",
        kind.kind
    )
}

/// The message that a controller serves no rule of a route because of a filter that it does not support.
fn unsupported_filter(snapshot: &Snapshot, owner: &Object, route: &Object) -> String {
    let filter = rejected_filter(snapshot, owner, route).map_or("", |filter| filter);
    format!("its controller does not support the filter {filter}, and serves none of its rules")
}

/// The message that a listener takes no routes of a namespace, with those that it takes. Without the Namespace it is not
/// known which labels it has.
fn takes_none_of(
    snapshot: &Snapshot,
    owner: &Object,
    listener: &Listener,
    namespace: &Arc<str>,
) -> String {
    let name = &listener.name;
    let from = match &listener.routes_from {
        From::Selector(selector) if snapshot.get(&namespace_key(namespace)).is_none() => format!(
            ", unless Namespace {namespace}, which attache does not know, has the labels that it selects: {selector}"
        ),
        From::Selector(selector) => {
            format!(", only of namespaces with the labels that it selects: {selector}")
        }
        From::Same => format!(
            ", only of its own namespace {} (allowedRoutes.namespaces.from: Same, the default)",
            owner.key.namespace
        ),
        From::None => ": allowedRoutes.namespaces.from is None".to_owned(),
        From::All | From::Unknown => String::new(),
    };
    format!("listener {name} takes no routes of namespace {namespace}{from}")
}
