//! Routes that a listener keeps out for older ones.
//!
//! An `HTTPRoute` and a `GRPCRoute` with the same hostname on one listener: a controller may serve both, or accept
//! only the older one (Gateway API 1.7, `hostnames` of both kinds). Both are served, unless a fact about the controller says
//! otherwise: no controller whose source was looked at rejects one.
//!
//! Of several routes of TCP and TLS some controllers serve only the oldest on a listener (`oneRouteListeners`).

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::accepted_listeners::{listener_acceptance, listeners_of};
use super::hostnames::{above, intersect};
use super::isolation::ListenerHostname;
use super::route_acceptance::{ListenerWithOwner, why_not_attached};
use super::{DelegatedPaths, controller_facts};
use crate::model::ids::{GroupKind, ObjectKey, PrehashedBuildHasher};
use crate::model::maps;
use crate::model::object::{Listener, Node, Object};
use crate::policy::Precedence;
use crate::state::snapshot::Snapshot;

/// Routes that a listener keeps out, each with the older route of the other kind.
pub type KeptOut = HashMap<ObjectKey, Arc<Object>, PrehashedBuildHasher>;

const HTTP: &GroupKind = &GroupKind::HTTP_ROUTE;
const GRPC: &GroupKind = &GroupKind::GRPC_ROUTE;

/// The most routes at a Gateway that are compared for one of them.
const MOST_COMPARED: usize = 1024;
/// Longer names are not hostnames.
const MAX_HOSTNAME_LENGTH: usize = 253;

/// The hostnames of the routes of one kind, indexed for intersection.
#[derive(Debug, Default)]
struct HostnamesOfKind<'a, 'n> {
    some: Option<&'a Arc<Object>>,
    /// A route for every host.
    every: Option<&'a Arc<Object>>,
    names: HashMap<&'n str, &'a Arc<Object>>,
    /// Domains that contain hostnames of routes.
    under: HashMap<&'n str, &'a Arc<Object>>,
}

/// The route kind that may not share a hostname with this one.
fn other_kind(kind: &GroupKind) -> Option<&'static GroupKind> {
    if kind == HTTP {
        Some(GRPC)
    } else if kind == GRPC {
        Some(HTTP)
    } else {
        None
    }
}

/// Whether a Gateway or `ListenerSet` may keep out routes of this kind: routes of the other kind name it too, and its
/// controller accepts only one kind per hostname; or it serves only one route on some listeners. `false` if that is not known.
pub fn may_keep_out(snapshot: &Snapshot, owner: &Object, kind: &GroupKind) -> bool {
    if is_without_http(kind) {
        let facts = controller_facts(snapshot, &owner.key);
        return facts.is_some_and(|facts| !facts.one_route_listeners.is_empty());
    }
    serves_both(snapshot, owner) == Some(false) && has_other_kind(snapshot, owner, kind)
}

/// Whether a kind is one of routes of TCP or TLS.
fn is_without_http(kind: &GroupKind) -> bool {
    kind.is_gateway_api("TCPRoute") || kind.is_gateway_api("TLSRoute")
}

fn has_other_kind(snapshot: &Snapshot, owner: &Object, kind: &GroupKind) -> bool {
    other_kind(kind).is_some_and(|other| snapshot.naming_of(&owner.key, other).next().is_some())
}

/// Whether the controller of a Gateway or `ListenerSet` serves both kinds on one hostname, if that is known.
fn serves_both(snapshot: &Snapshot, owner: &Object) -> Option<bool> {
    controller_facts(snapshot, &owner.key)?.http_and_grpc_on_one_hostname
}

/// The routes that may keep a route out, or that it may keep out.
pub fn routes_in_conflict(snapshot: &Snapshot, route: &Object) -> Vec<ObjectKey> {
    let parents = route.parents().iter();
    let routes =
        parents.flat_map(|parent| routes_in_conflict_at(snapshot, &parent.object, &route.key.gk));
    let others = routes.filter(|other| other.key != route.key);
    others.map(|other| other.key.clone()).collect()
}

/// The routes at a Gateway or `ListenerSet` that may keep routes of a kind out, or be kept out for them.
pub fn routes_in_conflict_at<'a>(
    snapshot: &'a Snapshot,
    owner: &'a ObjectKey,
    kind: &'a GroupKind,
) -> impl Iterator<Item = &'a Arc<Object>> {
    let other = other_kind(kind);
    let may_conflict = other.is_some() || is_without_http(kind);
    let owner = snapshot.get(owner).filter(|_| may_conflict);
    let owner = owner.filter(|owner| may_keep_out(snapshot, owner, kind));
    let routes = owner
        .into_iter()
        .flat_map(|owner| snapshot.naming(&owner.key));
    routes.filter(move |one| match other {
        Some(other) => one.key.gk == *other,
        None => is_without_http(&one.key.gk),
    })
}

/// The routes that a listener keeps out for older ones: of the other kind, unless its controller serves both, or all but the oldest
/// if it serves one alone.
pub fn kept_out(snapshot: &Snapshot, own: &ListenerWithOwner<'_>) -> KeptOut {
    let facts = controller_facts(snapshot, &own.owner.key);
    let mut one_route = facts
        .into_iter()
        .flat_map(|facts| &facts.one_route_listeners);
    if one_route.any(|listeners| listeners.has(own.listener)) {
        let routes = accepted(snapshot, own, is_without_http);
        let others = routes.iter().skip(1);
        let oldest = routes.first().copied();
        let kept_out = others.filter_map(|route| Some((route.key.clone(), oldest?.clone())));
        return kept_out.collect();
    }
    match serves_both(snapshot, own.owner) {
        Some(false) => younger_of_other_kind(snapshot, own),
        _ => KeptOut::default(),
    }
}

/// The routes that a controller may keep out of a listener for older ones of the other kind, if it is not known whether it does.
pub fn perhaps_kept_out(snapshot: &Snapshot, own: &ListenerWithOwner<'_>) -> KeptOut {
    match serves_both(snapshot, own.owner) {
        None => younger_of_other_kind(snapshot, own),
        Some(_) => KeptOut::default(),
    }
}

/// The older route of the other kind because of which no listener may take a route, if its controllers are not known. `None` beyond
/// [`MOST_COMPARED`] routes.
pub fn perhaps_rejected_for(snapshot: &Snapshot, route: &Object) -> Option<Arc<Object>> {
    let mut older = None;
    for parent in route.parents() {
        let owner = snapshot.get(&parent.object)?;
        if !has_other_kind(snapshot, owner, &route.key.gk) || serves_both(snapshot, owner).is_some()
        {
            return None;
        }
        if snapshot.naming(&owner.key).take(MOST_COMPARED + 1).count() > MOST_COMPARED {
            return None;
        }
        let all = listener_acceptance(snapshot, owner)?;
        for own in ListenerWithOwner::all(snapshot, owner, &all) {
            if why_not_attached(snapshot, &own, route, parent).is_some() {
                continue;
            }
            older = Some(perhaps_kept_out(snapshot, &own).get(&route.key)?.clone());
        }
    }
    older
}

/// The routes that share a hostname of a listener with older ones of the other kind.
fn younger_of_other_kind(snapshot: &Snapshot, own: &ListenerWithOwner<'_>) -> KeptOut {
    let mut kinds = [HTTP, GRPC].into_iter();
    if !kinds.all(|kind| has_other_kind(snapshot, own.owner, kind)) {
        return KeptOut::default();
    }
    let routes = accepted(snapshot, own, |kind| other_kind(kind).is_some());
    conflicting_routes(own.listener, &routes)
}

/// The routes of some kinds that a listener accepts if it keeps none out, the oldest first.
fn accepted<'a>(
    snapshot: &'a Snapshot,
    own: &ListenerWithOwner<'a>,
    is_of_kinds: impl Fn(&GroupKind) -> bool,
) -> Vec<&'a Arc<Object>> {
    let routes = snapshot.naming(&own.owner.key);
    let routes = routes.filter(|route| is_of_kinds(&route.key.gk));
    let mut routes: Vec<&Arc<Object>> = routes
        .filter(|route| {
            let mut parents = route.parents_to(&own.owner.key);
            parents.any(|parent| why_not_attached(snapshot, own, route, parent).is_none())
        })
        .collect();
    let facts = controller_facts(snapshot, &own.owner.key);
    routes.sort_by_cached_key(|route| Precedence::for_controller(route, facts));
    routes
}

/// A message that an older route of another kind has a hostname in common, or that the listener serves its oldest route alone.
pub fn kept_out_by(winner: &Object) -> String {
    if is_without_http(&winner.key.gk) {
        return format!(
            "{} is older, and the listener serves only its oldest route",
            winner.key
        );
    }
    format!(
        "{} is older and has a hostname in common with it: its controller serves either HTTPRoutes or GRPCRoutes for a hostname, not both",
        winner.key
    )
}

/// Caches which routes listeners keep out, since many routes ask for each listener, and paths through delegation.
#[derive(Debug)]
pub struct RouteKindConflicts<'a> {
    snapshot: &'a Snapshot,
    pub(super) delegated: DelegatedPaths,
    /// By owner and index of the listener.
    known: maps::HashMap<(ObjectKey, usize), Rc<KeptOut>>,
}

// === impl RouteKindConflicts ===

impl<'a> RouteKindConflicts<'a> {
    /// An empty cache for a snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            delegated: DelegatedPaths::default(),
            known: maps::HashMap::default(),
        }
    }

    /// The snapshot that it answers from.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The routes that a listener keeps out if it is accepted, and the number of routes read to find them.
    pub fn kept_out(&mut self, owner: &Object, index: usize) -> (Rc<KeptOut>, usize) {
        let key = (owner.key.clone(), index);
        if let Some(known) = self.known.get(&key) {
            return (known.clone(), 0);
        }
        let kept_out_routes = listeners_of(owner).get(index).map(|listener| {
            let all = listener_acceptance(self.snapshot, owner);
            let hostname =
                all.map(|all| ListenerHostname::for_listener(self.snapshot, owner, &all, index));
            let own = ListenerWithOwner {
                owner,
                listener,
                fault: None,
                hostname: hostname.unwrap_or_default(),
            };
            Rc::new(kept_out(self.snapshot, &own))
        });
        let kept_out_routes = kept_out_routes.unwrap_or_default();
        self.known.insert(key, kept_out_routes.clone());
        (kept_out_routes, self.snapshot.naming(&owner.key).count())
    }
}

/// The routes that share a hostname with an older route of the other kind. `routes` are those that the listener would
/// accept, the oldest first.
fn conflicting_routes(listener: &Listener, routes: &[&Arc<Object>]) -> KeptOut {
    let names = routes.iter().map(|route| hostnames(listener, route));
    let names: Vec<Vec<String>> = names.collect();
    let (mut http, mut grpc) = (HostnamesOfKind::default(), HostnamesOfKind::default());
    let mut kept_out = KeptOut::default();
    for (route, names) in routes.iter().copied().zip(&names) {
        let (own, other) = if route.key.gk == *HTTP {
            (&mut http, &grpc)
        } else {
            (&mut grpc, &http)
        };
        match other.conflicting(names) {
            Some(winner) => drop(kept_out.insert(route.key.clone(), winner.clone())),
            None => own.add(route, names),
        }
    }
    kept_out
}

/// The hostnames of a route that intersect the listener's, in lower case; an empty list means every host.
fn hostnames(listener: &Listener, route: &Object) -> Vec<String> {
    let Node::Route { hostnames, .. } = &route.node else {
        return Vec::new();
    };
    let theirs = listener.hostname.as_ref();
    let counts = |ours: &&Arc<str>| theirs.is_none_or(|theirs| intersect(theirs, ours));
    let count = hostnames.iter().filter(counts);
    count.map(|name| name.to_ascii_lowercase()).collect()
}

// === impl HostnamesOfKind ===

impl<'a, 'n> HostnamesOfKind<'a, 'n> {
    fn add(&mut self, route: &'a Arc<Object>, names: &'n [String]) {
        self.some.get_or_insert(route);
        if names.is_empty() {
            self.every.get_or_insert(route);
        }
        for name in names
            .iter()
            .filter(|name| name.len() <= MAX_HOSTNAME_LENGTH)
        {
            self.names.entry(name).or_insert(route);
            for above in above(name) {
                self.under.entry(above).or_insert(route);
            }
        }
    }

    /// A route that has a host in common with these names.
    fn conflicting(&self, names: &[String]) -> Option<&'a Arc<Object>> {
        if names.is_empty() {
            return self.some;
        }
        let of_name = |name: &str| {
            let same = self.names.get(name);
            let wider = || above(name).find_map(|above| self.names.get(&*format!("*.{above}")));
            let narrower = || self.under.get(name.strip_prefix("*.")?);
            same.or_else(wider).or_else(narrower).copied()
        };
        let short = names
            .iter()
            .filter(|name| name.len() <= MAX_HOSTNAME_LENGTH);
        let mut conflicting = short.filter_map(|name| of_name(name));
        self.every.or_else(|| conflicting.next())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::HostnamesOfKind;
    use crate::model::ids::GroupKind;
    use crate::model::object::Object;
    use crate::topology::hostnames::intersect;

    #[test]
    fn names_share_a_host_where_they_intersect() {
        let route = to_raw_value(&json!({"metadata": {"name": "r", "namespace": "n"}})).unwrap();
        let route = Object::from_json(&GroupKind::gateway_api("HTTPRoute"), &route).unwrap();
        let route = Arc::new(route);
        let all = [
            "a.example.com",
            "b.a.example.com",
            "example.com",
            "com",
            "*.a.example.com",
            "*.example.com",
            "*.com",
            "*.xample.com",
            "other.org",
        ];
        for one in all {
            for other in all {
                let names = [one.to_owned()];
                let mut taken = HostnamesOfKind::default();
                taken.add(&route, &names);
                let winner = taken.conflicting(&[other.to_owned()]);
                assert_eq!(winner.is_some(), intersect(one, other), "{one} {other}");
            }
            let (names, none) = ([one.to_owned()], []);
            let mut taken = HostnamesOfKind::default();
            assert!(taken.conflicting(&none).is_none());
            taken.add(&route, &names);
            assert!(taken.conflicting(&none).is_some());
            let mut every = HostnamesOfKind::default();
            every.add(&route, &none);
            assert!(every.conflicting(&names).is_some());
        }
    }
}
