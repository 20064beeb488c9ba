//! The places at which each parentRef of a route attaches, or the reason why it does not.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::accept::{
    NotAttachedReason, OwnListener, fits_service, rejected_filter, why_not_attached,
};
use super::acceptance::{listeners, listeners_of};
use super::delegation::{self, Unfollowed};
use super::not_accepted_reason::{conflict, no_parent, not_joined, not_there};
use super::route_kinds::{RouteKindConflicts, kept_out_by, may_keep_out};
use super::route_path::{Unreached, unreached};
use super::{AncestorPath, OwnPaths, through_listeners};
use crate::kinds::profile::DelegationFile;
use crate::model::acceptance::{Listeners, SetRejection};
use crate::model::hint::nearest;
use crate::model::ids::{GATEWAY_API, GATEWAY_API_X, GroupKind, Place};
use crate::model::level::Level;
use crate::model::object::{BackendRef, From, Listener, Node, Object, ParentRef, is_route};
use crate::policy::fuel;
use crate::state::snapshot::{Snapshot, namespace_key};
use crate::topology::reports::of_route;

/// The result of a parentRef.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParentAttachment {
    /// The listeners, or the mesh Service, that accept the route.
    Attached(Vec<Place>),
    /// Another route delegates to the route.
    Delegated(Vec<DelegatedEntry>),
    /// The parent may exist, but nothing is known of it.
    Unknown(String),
    /// Nothing accepts the route.
    NotAttached {
        /// The listener that the parentRef names, otherwise the object.
        at: Place,
        /// The reason.
        why: String,
    },
}

/// The entry of requests to a route that another one delegates to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DelegatedEntry {
    /// The rule that delegates.
    pub rule: Place,
    /// The listener at which the requests arrive.
    pub listener: Place,
}

/// Resolves a parentRef of a route.
pub fn attachment(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
    parent: &ParentRef,
) -> ParentAttachment {
    let snapshot = route_kind_conflicts.snapshot();
    let key = &parent.object;
    let refused = |why| ParentAttachment::NotAttached {
        at: key.whole(),
        why,
    };
    let Some(owner) = snapshot.get(key) else {
        let why = not_there(snapshot, key);
        return if snapshot.lacks(key) {
            refused(why)
        } else {
            ParentAttachment::Unknown(why)
        };
    };
    match &owner.node {
        Node::Service { .. } if fits_service(owner, parent) => {
            ParentAttachment::Attached(vec![key.whole()])
        }
        Node::Service { .. } => refused(format!("{key} has no such port")),
        Node::Route { .. } => below_route(route_kind_conflicts, route, owner),
        Node::Gateway { .. } | Node::ListenerSet { .. } => {
            let Some(accepted) = listeners(snapshot, owner) else {
                return refused(no_parent(key));
            };
            match accepted.rejection() {
                Some(SetRejection::Unknown) => {
                    ParentAttachment::Unknown(not_joined(snapshot, owner))
                }
                Some(_) => refused(not_joined(snapshot, owner)),
                None => at_listeners(route_kind_conflicts, (owner, &accepted), route, parent),
            }
        }
        _ if is_of_a_project(&key.gk) => ParentAttachment::Unknown(format!(
            "whether a {} takes requests is for its own controller to say",
            key.gk
        )),
        _ => refused(no_parent(key)),
    }
}

/// Whether a kind comes from neither Kubernetes nor the Gateway API, which leaves to implementations what else can be a parent:
/// Linkerd takes a Server.
fn is_of_a_project(gk: &GroupKind) -> bool {
    gk.group.contains('.') && ![GATEWAY_API, GATEWAY_API_X].contains(&&*gk.group)
}

/// The cost of resolving all parentRefs of a route, in units of fuel.
pub fn attachment_cost(snapshot: &Snapshot, route: &Object) -> usize {
    let Node::Route {
        parents, hostnames, ..
    } = &route.node
    else {
        return 0;
    };
    let owners = parents.iter().filter_map(|p| snapshot.get(&p.object));
    let of_one = |owner: &Arc<Object>| {
        let compared = listeners_of(owner).len() * hostnames.len().max(1);
        let others = if may_keep_out(snapshot, owner, &route.key.gk) {
            snapshot.naming(&owner.key).count()
        } else {
            0
        };
        compared / fuel::HOSTNAMES + others / fuel::GROUPS
    };
    owners.map(of_one).sum()
}

/// The entries by which requests reach a route to which others delegate, sorted.
pub fn delegated(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
) -> Vec<DelegatedEntry> {
    let mut search = std::mem::take(&mut route_kind_conflicts.delegated);
    let paths = search.paths_to(route_kind_conflicts, route);
    route_kind_conflicts.delegated = search;
    let delegated_entries = paths.iter().filter_map(|path| {
        Some(DelegatedEntry {
            rule: path.steps.last()?.place.clone(),
            listener: path.last()?.clone(),
        })
    });
    let delegated_entries: BTreeSet<DelegatedEntry> = delegated_entries.collect();
    delegated_entries.into_iter().collect()
}

impl OwnPaths for RouteKindConflicts<'_> {
    fn snapshot(&self) -> &Snapshot {
        RouteKindConflicts::snapshot(self)
    }

    fn own_paths(&mut self, route: &Arc<Object>) -> Vec<Rc<AncestorPath>> {
        let mut open_paths = Vec::new();
        for parent in route.parents() {
            let snapshot = RouteKindConflicts::snapshot(self);
            let owner = snapshot.get(&parent.object);
            let owner = owner.filter(|owner| Level::is_kind_above_routes(&owner.key.gk));
            if let Some(owner) = owner
                && let ParentAttachment::Attached(places) = attachment(self, route, parent)
            {
                let paths = through_listeners(snapshot, owner).into_iter();
                let paths = paths.map(|(_, path)| path);
                open_paths.extend(paths.filter(|p| p.last().is_some_and(|at| places.contains(at))));
            }
        }
        open_paths
    }
}

/// Whether a route delegates to another that names it as its parent.
fn below_route(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
    parent: &Arc<Object>,
) -> ParentAttachment {
    let snapshot = route_kind_conflicts.snapshot();
    let above = &parent.key;
    let refused = |why| ParentAttachment::NotAttached {
        at: above.whole(),
        why,
    };
    let mut delegated_entries = delegated(route_kind_conflicts, route);
    delegated_entries.retain(|delegated_entry| delegated_entry.rule.object == *above);
    if !delegated_entries.is_empty() {
        return ParentAttachment::Delegated(delegated_entries);
    }
    match delegation::unfollowed(snapshot, parent) {
        Some(Unfollowed::NoDelegation) => refused(no_parent(above)),
        Some(Unfollowed::UnknownController) => ParentAttachment::Unknown(format!(
            "which controller runs the Gateway of {above} is not known"
        )),
        None => refused(delegation::why_not(snapshot, parent, route)),
    }
}

fn at_listeners(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    (owner, accepted): (&Object, &Listeners),
    route: &Arc<Object>,
    parent: &ParentRef,
) -> ParentAttachment {
    // The reason of the listener that comes closest to accepting the route.
    let mut nearest: Option<(bool, NotAttachedReason, &Listener)> = None;
    let mut winner: Option<Arc<Object>> = None;
    let mut taken = Vec::new();
    for (i, own) in OwnListener::all(route_kind_conflicts.snapshot(), owner, accepted).enumerate() {
        let listener = own.listener;
        match why_not_attached(route_kind_conflicts.snapshot(), &own, route, parent) {
            None if may_keep_out(route_kind_conflicts.snapshot(), owner, &route.key.gk) => {
                let (kept_out, _) = route_kind_conflicts.kept_out(owner, i);
                match kept_out.get(&route.key) {
                    None => taken.push(owner.key.section(listener.name.clone())),
                    Some(other) => winner = Some(other.clone()),
                }
            }
            None => taken.push(owner.key.section(listener.name.clone())),
            Some(why) => {
                let refused = (is_named(parent, listener), why, listener);
                if nearest.is_none_or(|(named, other, _)| (refused.0, why) > (named, other)) {
                    nearest = Some(refused);
                }
            }
        }
    }
    if !taken.is_empty() {
        return ParentAttachment::Attached(taken);
    }
    let nearest = nearest.map(|(_, why, listener)| (why, listener));
    let why = match winner {
        Some(winner) => kept_out_by(&winner),
        None => not_attached(
            route_kind_conflicts.snapshot(),
            nearest,
            owner,
            route,
            parent,
        ),
    };
    let named = nearest.filter(|(_, listener)| is_named(parent, listener));
    let at = match named.and(parent.section.as_ref()) {
        Some(section) => owner.key.section(section.clone()),
        None => owner.key.whole(),
    };
    ParentAttachment::NotAttached { at, why }
}

fn is_named(parent: &ParentRef, listener: &Listener) -> bool {
    parent.section.as_ref() == Some(&listener.name)
}

/// Why no listener of an object accepts a route.
fn not_attached(
    snapshot: &Snapshot,
    closest: Option<(NotAttachedReason, &Listener)>,
    owner: &Object,
    route: &Object,
    parent: &ParentRef,
) -> String {
    let (owner_object, owner) = (owner, &owner.key);
    let Some((why, listener)) = closest else {
        return format!("{owner} has no listener");
    };
    let name = &listener.name;
    match (why, &parent.section, parent.port) {
        (NotAttachedReason::Waypoint, ..) => waypoint(owner_object),
        (_, Some(section), _) if section != name => {
            let names = listeners_of(owner_object)
                .iter()
                .map(|listener| &*listener.name);
            let near = nearest(section, &names.collect::<Vec<_>>());
            let near = near.map(|name| format!("; did you mean {name}?"));
            let near = near.unwrap_or_default();
            format!("{owner} has no listener {section}{near}")
        }
        (NotAttachedReason::Port, None, Some(port)) => {
            format!("{owner} has no listener on port {port}")
        }
        (NotAttachedReason::Section | NotAttachedReason::Port, ..) => {
            format!("listener {name} has port {}", listener.port)
        }
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
            takes_none_of(snapshot, owner_object, listener, &route.key.namespace)
        }
        (NotAttachedReason::SelectorUnreadable, ..) => format!(
            "the namespace selector of listener {name} cannot be read, so attache does not know from which namespaces it takes routes"
        ),
        (NotAttachedReason::ListenerNotAccepted(why), ..) => {
            let why = conflict(snapshot, why, owner_object, name);
            format!("listener {name} is not accepted: {why}")
        }
        (NotAttachedReason::Rules, ..) => one_rule(&route.key.gk),
        (NotAttachedReason::Filter, ..) => unsupported_filter(snapshot, owner_object, route),
        (NotAttachedReason::Reported, ..) => {
            let report = of_route(snapshot, route, parent);
            let report = report.map_or_else(String::new, ToString::to_string);
            format!("the controller of {owner} reports {report}")
        }
    }
}

/// The message that a waypoint takes no routes.
pub fn waypoint(owner: &Object) -> String {
    format!(
        "{} is a waypoint, which takes no routes: name the Service as the parent",
        owner.key
    )
}

/// The message that a controller serves only routes of a kind that have one rule.
pub fn one_rule(kind: &GroupKind) -> String {
    format!(
        "its controller serves only {}s with exactly one rule",
        kind.kind
    )
}

/// The message that a controller serves no rule of a route because of a filter that it does not support.
pub fn unsupported_filter(snapshot: &Snapshot, owner: &Object, route: &Object) -> String {
    let filter = rejected_filter(snapshot, owner, route).map_or("", |filter| filter);
    format!("its controller does not support the filter {filter}, and serves none of its rules")
}

/// The message that a listener takes no routes of a namespace, with those that it takes. Without the Namespace it is not
/// known which labels it has.
pub fn takes_none_of(
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

/// Why a backend gets no requests from a route; `None` if it may. In a mesh, a reference to another namespace needs
/// no grant (GEP-1426).
pub fn unusable(snapshot: &Snapshot, route: &Object, reference: &BackendRef) -> Option<Unreached> {
    if let Some(facts) = delegation::facts_of(snapshot, route) {
        if facts.has_kind(&reference.object.gk) {
            return dead_end(snapshot, facts, route, reference);
        }
        if delegation::is_in_delegating_rule(facts, route, reference) {
            return Some(Unreached::BesideDelegation);
        }
    }
    let why = unreached(snapshot, route, reference)?;
    let Node::Route { parents, .. } = &route.node else {
        return Some(why);
    };
    let in_mesh = !parents.is_empty() && parents.iter().all(|p| p.object.gk.is_core("Service"));
    match why {
        Unreached::Kind if is_route(&reference.object.gk) => {
            let unfollowed = delegation::unfollowed(snapshot, route);
            (unfollowed == Some(Unfollowed::NoDelegation)).then_some(why)
        }
        Unreached::NotGranted if delegation::may_stand_for_routes(snapshot, route, reference) => {
            None
        }
        Unreached::NotGranted if in_mesh => snapshot
            .lacks(&reference.object)
            .then_some(Unreached::Missing),
        why => Some(why),
    }
}

/// Why no route gets the requests that a rule delegates by a reference; `None` if one may.
fn dead_end(
    snapshot: &Snapshot,
    facts: &DelegationFile,
    route: &Object,
    reference: &BackendRef,
) -> Option<Unreached> {
    let key = &reference.object;
    if delegation::names_one(key) && snapshot.get(key).is_none() {
        return snapshot.lacks(key).then_some(Unreached::Missing);
    }
    let takes = delegation::takes_requests(snapshot, facts, route, reference);
    (!takes).then_some(Unreached::NotDelegated)
}
