//! The places at which each parentRef of a route attaches, or the reason why it does not.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::accepted_listeners::{listener_acceptance, listeners_of};
use super::delegation::{self, Unfollowed};
use super::not_accepted_reason::{no_parent, not_joined, not_there};
use super::not_attached_reason::not_attached;
use super::route_acceptance::{
    ListenerWithOwner, NotAttachedReason, fits_service, why_not_attached,
};
use super::route_kinds::{RouteKindConflicts, kept_out_by, may_keep_out};
use super::route_path::{Unreached, unreached};
use super::{AncestorPath, OwnPaths, through_listeners};
use crate::kinds::profile::DelegationFile;
use crate::model::ids::{GATEWAY_API, GATEWAY_API_X, GroupKind, Place};
use crate::model::level::Level;
use crate::model::listener_acceptance::{ListenerAcceptance, SetRejection};
use crate::model::object::{BackendRef, Listener, Node, Object, ParentRef, is_route};
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;

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
pub fn parent_attachment(
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
            let Some(accepted) = listener_acceptance(snapshot, owner) else {
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
            "attache does not know whether a {} accepts routes",
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
pub fn parent_attachment_cost(snapshot: &Snapshot, route: &Object) -> usize {
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

/// Why it is not known whether a route gets requests through others; `None` if it is.
pub fn too_many_delegations(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
) -> Option<String> {
    let is_known = !delegated(route_kind_conflicts, route).is_empty()
        || !route_kind_conflicts.delegated.is_incomplete(&route.key);
    (!is_known).then(|| {
        let key = &route.key;
        format!("more routes delegate to {key}, directly or through others, than attache follows")
    })
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
                && let ParentAttachment::Attached(places) = parent_attachment(self, route, parent)
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
    if let Some(why) = too_many_delegations(route_kind_conflicts, route) {
        return ParentAttachment::Unknown(why);
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
    (owner, accepted): (&Object, &ListenerAcceptance),
    route: &Arc<Object>,
    parent: &ParentRef,
) -> ParentAttachment {
    // The reason of the listener that comes closest to accepting the route.
    let mut nearest: Option<(bool, NotAttachedReason, &Listener)> = None;
    let mut winner: Option<Arc<Object>> = None;
    let mut taken = Vec::new();
    for (i, own) in
        ListenerWithOwner::all(route_kind_conflicts.snapshot(), owner, accepted).enumerate()
    {
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

/// Why a backend gets no requests from a route; `None` if it may. In a mesh, a reference to another namespace needs
/// no grant (GEP-1426).
pub fn unusable(snapshot: &Snapshot, route: &Object, reference: &BackendRef) -> Option<Unreached> {
    let facts = delegation::facts_of(snapshot, route);
    unusable_by(snapshot, facts, route, reference)
}

/// Like [`unusable`], by the facts about delegation that apply to the route: to find them for each of its backends is too much.
pub fn unusable_by(
    snapshot: &Snapshot,
    facts: Option<&DelegationFile>,
    route: &Object,
    reference: &BackendRef,
) -> Option<Unreached> {
    if let Some(facts) = facts {
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
