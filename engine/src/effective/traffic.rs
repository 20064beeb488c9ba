//! Changes of traffic: routes that attach to other listeners than before, and backends that routes no longer reach.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::effective::renames::Renames;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::object::{BackendRef, Node, Object, is_route};
use crate::state::grants::routes_into;
use crate::state::snapshot::{Snapshot, class_key};
use crate::topology::delegation::delegated_to;
use crate::topology::{
    ListenerEndpoint, ParentAttachment, RouteKindConflicts, all_in_common, delegated,
    gateways_around, listener_acceptance, listener_endpoint, missing_class, not_usable, owners_of,
    parent_attachment, routes_in_conflict_at, unreached,
};

mod hostnames_of_new_listeners;

use hostnames_of_new_listeners::{HostnamesTaken, NewListeners};

/// The effect of a change on the requests of routes that remain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Routes that no listener accepts any more.
    pub detached: BTreeSet<ObjectKey>,
    /// Routes that some listeners no longer accept while others still do, with the lost listeners.
    pub reduced: BTreeMap<ObjectKey, BTreeSet<Place>>,
    /// Listeners that accept the same routes at another port or hostname, with these routes.
    pub moved: BTreeMap<Moved, BTreeSet<ObjectKey>>,
    /// New listeners that take hostnames from unchanged routes of other listeners.
    pub taken: BTreeMap<Place, HostnamesTaken>,
    /// Unchanged routes that additional listeners accept, with these listeners.
    pub gained: BTreeMap<ObjectKey, BTreeSet<Place>>,
    /// Routes that additional listeners accept, changed or not, beside those that accepted them before.
    pub opened: OpenedRoutes,
    /// Gateways that no controller serves any more, with the `GatewayClass` that is missing.
    pub unserved: BTreeMap<ObjectKey, ObjectKey>,
    /// Whether some routes were not examined because there are too many.
    pub is_cut: bool,
}

/// Routes that get requests through additional listeners.
pub type OpenedRoutes = BTreeMap<ObjectKey, Opened>;

/// The listeners by which requests come to a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Those by which they came before the change.
    pub before: BTreeSet<Place>,
    /// Those by which they come only after it.
    pub new: BTreeSet<Place>,
}

/// A listener whose port or hostname changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moved {
    /// The listener.
    pub listener: Place,
    /// Its port and hostname before.
    pub before: (u16, Option<Arc<str>>),
    /// Its port and hostname afterwards.
    pub after: (u16, Option<Arc<str>>),
}

// === impl Moved ===

/// `at port 8080, no longer at port 80`, and the same for hostnames.
impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = |host: &Option<Arc<str>>| match host {
            Some(name) => format!("for {name}"),
            None => "for every host".to_owned(),
        };
        let ((former_port, former_host), (port, hostname)) = (&self.before, &self.after);
        let mut former = Vec::new();
        let mut current = Vec::new();
        if former_port != port {
            former.push(format!("at port {former_port}"));
            current.push(format!("at port {port}"));
        }
        if former_host != hostname {
            former.push(host(former_host));
            current.push(host(hostname));
        }
        write!(f, "{}, no longer {}", current.join(" "), former.join(" "))
    }
}

/// The effect of a change of `objects` on the requests of routes that exist before and after. Examines the first
/// `limit` routes.
pub fn traffic(states: [&Snapshot; 2], objects: &[ObjectKey], limit: usize) -> Traffic {
    let mut routes: BTreeSet<&ObjectKey> = BTreeSet::new();
    let [before, after] = states;
    for key in objects {
        for snapshot in states {
            add_routes(snapshot, key, limit, &mut routes);
        }
    }
    // If there are too many, those of the objects themselves come first.
    for owner in owners_concerned(states, objects) {
        for snapshot in states {
            add_routes(snapshot, &owner, limit, &mut routes);
        }
    }
    for snapshot in states {
        routes.extend(routes_kept_out(snapshot, objects, limit));
    }
    let mut traffic = Traffic {
        is_cut: routes.len() > limit,
        ..Traffic::default()
    };
    let (mut conflicts_before, mut conflicts_after) = (
        RouteKindConflicts::new(before),
        RouteKindConflicts::new(after),
    );
    let new_listeners = NewListeners::between(before, after, objects);
    for key in routes.into_iter().take(limit) {
        let (Some(old), Some(new)) = (before.get(key), after.get(key)) else {
            continue;
        };
        let (endpoints_before, endpoints_after) = (
            endpoints(&mut conflicts_before, old),
            endpoints(&mut conflicts_after, new),
        );
        if endpoints_after.is_empty() {
            if !endpoints_before.is_empty() {
                traffic.detached.insert(key.clone());
            }
            continue;
        }
        traffic.open(key, &endpoints_before, &endpoints_after);
        // A route that was edited itself changes its parents on purpose.
        if !objects.contains(key) {
            traffic.compare([old, new], &endpoints_before, &endpoints_after);
            new_listeners.take(
                new,
                [&endpoints_before, &endpoints_after],
                &mut traffic.taken,
            );
        }
    }
    let edited = objects.iter().filter(|key| is_route(&key.gk)).take(limit);
    for key in edited {
        if let (Some(old), Some(new)) = (before.get(key), after.get(key)) {
            traffic.open(
                key,
                &endpoints(&mut conflicts_before, old),
                &endpoints(&mut conflicts_after, new),
            );
        }
    }
    traffic.unserved = unserved([before, after], Renames::NONE, objects, limit);
    traffic
}

/// The Gateways among `objects` and of classes among them whose class is there before and not after.
fn unserved(
    [before, after]: [&Snapshot; 2],
    renames: &Renames,
    objects: &[ObjectKey],
    limit: usize,
) -> BTreeMap<ObjectKey, ObjectKey> {
    let is_gateway = |key: &&ObjectKey| key.gk.is_gateway_api("Gateway");
    let of_classes = objects.iter().flat_map(|key| after.below(key));
    let of_classes = of_classes.map(|object| &object.key).filter(is_gateway);
    let itself = objects.iter().filter(is_gateway);
    let missing = |snapshot: &Snapshot, key: &ObjectKey| {
        let gateway = snapshot.get(key)?;
        Some(missing_class(snapshot, gateway))
    };
    // Without any class left, the states leave them to others. The change itself says more.
    let last_class = |key: &ObjectKey| {
        let Node::Gateway { class, .. } = &after.get(key)?.node else {
            return None;
        };
        let class = class_key(class);
        let is_deleted = before.get(&class).is_some() && after.lacks(&class);
        (is_deleted && !after.creates_class(&class.name)).then_some(class)
    };
    let unserved = itself.chain(of_classes).take(limit).filter_map(|key| {
        let was_served = missing(before, &renames.former(key)?)?.is_none();
        let class = missing(after, key)?.or_else(|| last_class(key))?;
        was_served.then(|| (key.clone(), class))
    });
    unserved.collect()
}

/// The differences between the requests that routes get in two states. All names are the later ones.
pub fn between(before: &Snapshot, after: &Snapshot, renames: &Renames) -> Traffic {
    let mut traffic = Traffic::default();
    let (mut conflicts_before, mut conflicts_after) = (
        RouteKindConflicts::new(before),
        RouteKindConflicts::new(after),
    );
    let routes: BTreeMap<&ObjectKey, &Arc<Object>> = routes_in(after).collect();
    for (key, new) in routes {
        let former = renames.former(key);
        let Some(old) = former.and_then(|key| before.get(&key)) else {
            continue;
        };
        let endpoints_before = endpoints(&mut conflicts_before, old).into_iter();
        let endpoints_before = endpoints_before.map(|(endpoint, place)| {
            let endpoint = renames.later_endpoint(endpoint);
            (endpoint, renames.later_place(&place))
        });
        let (endpoints_before, endpoints_after) = (
            endpoints_before.collect(),
            endpoints(&mut conflicts_after, new),
        );
        if endpoints_after.is_empty() && !BTreeMap::is_empty(&endpoints_before) {
            traffic.detached.insert(key.clone());
        } else {
            traffic.open(key, &endpoints_before, &endpoints_after);
            traffic.compare([old, new], &endpoints_before, &endpoints_after);
        }
    }
    let gateways = after.objects(&GroupKind::gateway_api("Gateway"));
    let gateways: Vec<ObjectKey> = gateways.map(|gateway| gateway.key.clone()).collect();
    traffic.unserved = unserved([before, after], renames, &gateways, usize::MAX);
    traffic
}

fn routes_in(snapshot: &Snapshot) -> impl Iterator<Item = (&ObjectKey, &Arc<Object>)> {
    let routes = snapshot.all().filter(|object| is_route(&object.key.gk));
    routes.map(|route| (&route.key, route))
}

/// Whether a route was attached before a change, to a listener or to a Service of a mesh, and is not after it. The caches
/// are those of the states before and after it.
pub fn is_detached(
    [before, after]: &mut [RouteKindConflicts<'_>; 2],
    renames: &Renames,
    key: &ObjectKey,
) -> bool {
    if !is_route(&key.gk) {
        return false;
    }
    let has_doors = |route_kind_conflicts: &mut RouteKindConflicts<'_>, key: &ObjectKey| {
        let route = route_kind_conflicts.snapshot().get(key);
        route.map(|route| !endpoints(route_kind_conflicts, route).is_empty())
    };
    let was_attached = renames.former(key).and_then(|key| has_doors(before, &key));
    (was_attached, has_doors(after, key)) == (Some(true), Some(false))
}

// === impl Traffic ===

impl Traffic {
    /// Records the listeners by which requests come to a route only after the change, while others came before.
    fn open(
        &mut self,
        route: &ObjectKey,
        endpoints_before: &BTreeMap<ListenerEndpoint, Place>,
        endpoints_after: &BTreeMap<ListenerEndpoint, Place>,
    ) {
        let before: BTreeSet<Place> = endpoints_before.values().cloned().collect();
        let new = endpoints_after.iter().filter(|(endpoint, place)| {
            // A listener that only moves, or is only renamed, is the same.
            !endpoints_before.contains_key(*endpoint) && !before.contains(*place)
        });
        let new: BTreeSet<Place> = new.map(|(_, place)| place.clone()).collect();
        if !before.is_empty() && !new.is_empty() {
            let opened = Opened { before, new };
            self.opened.insert(route.clone(), opened);
        }
    }

    /// Records the listeners that a route loses and gains.
    fn compare(
        &mut self,
        [old, new_route]: [&Object; 2],
        endpoints_before: &BTreeMap<ListenerEndpoint, Place>,
        endpoints_after: &BTreeMap<ListenerEndpoint, Place>,
    ) {
        let route = &new_route.key;
        let is_new =
            |(endpoint, _): &(&ListenerEndpoint, &Place)| !endpoints_before.contains_key(*endpoint);
        let mut new: Vec<(&ListenerEndpoint, &Place)> =
            endpoints_after.iter().filter(is_new).collect();
        let lost = endpoints_before
            .iter()
            .filter(|(endpoint, _)| !endpoints_after.contains_key(*endpoint));
        for (endpoint, place) in lost {
            let moved = new.iter().position(|(_, new_place)| *new_place == place);
            let Some(((_, port, hostname), _)) = moved.map(|at| new.swap_remove(at)) else {
                let reduced = self.reduced.entry(route.clone()).or_default();
                reduced.insert(place.clone());
                continue;
            };
            let (_, had_port, had_hostname) = endpoint;
            let serves = |hostname: &Option<Arc<str>>, route: &Object| -> BTreeSet<Arc<str>> {
                let names = all_in_common(hostname.as_ref(), route.hostnames());
                names.into_iter().collect()
            };
            // The route had none of the hosts that the listener gained or lost.
            if had_port == port && serves(had_hostname, old) == serves(hostname, new_route) {
                continue;
            }
            let moved = Moved {
                listener: place.clone(),
                before: (*had_port, had_hostname.clone()),
                after: (*port, hostname.clone()),
            };
            self.moved.entry(moved).or_default().insert(route.clone());
        }
        if !new.is_empty() {
            let gained = self.gained.entry(route.clone()).or_default();
            gained.extend(new.into_iter().map(|(_, place)| place.clone()));
        }
    }
}

/// Backends that remaining routes no longer reach after a change of `objects` (grants or backends), each with the
/// reason.
pub fn backends(
    before: &Snapshot,
    after: &Snapshot,
    objects: &[ObjectKey],
) -> BTreeSet<(ObjectKey, ObjectKey, String)> {
    let mut routes: BTreeSet<ObjectKey> = BTreeSet::new();
    for key in objects {
        if let Some(Node::ReferenceGrant { from, .. }) = before.get(key).map(|o| &o.node) {
            let into = from
                .iter()
                .flat_map(|f| routes_into(before, f, &key.namespace));
            routes.extend(into.map(|(route, _)| route));
        } else {
            routes.extend(before.using(key).map(|route| route.key.clone()));
        }
    }
    cut_off([before, after], Renames::NONE, &routes)
}

/// Backends that routes of both states reach in the first and not in the second, though they name them in both. All
/// names are the later ones.
pub fn backends_between(
    before: &Snapshot,
    after: &Snapshot,
    renames: &Renames,
) -> BTreeSet<(ObjectKey, ObjectKey, String)> {
    let routes = routes_in(after).map(|(key, _)| key.clone()).collect();
    cut_off([before, after], renames, &routes)
}

fn cut_off(
    [before, after]: [&Snapshot; 2],
    renames: &Renames,
    routes: &BTreeSet<ObjectKey>,
) -> BTreeSet<(ObjectKey, ObjectKey, String)> {
    let mut unusable = BTreeSet::new();
    for key in routes {
        let former = renames.former(key);
        let old = former.and_then(|key| before.get(&key));
        let (Some(old), Some(new)) = (old, after.get(key)) else {
            continue;
        };
        let (reached, unreached_before): (Vec<&BackendRef>, Vec<_>) = old
            .backends()
            .partition(|reference| unreached(before, old, reference).is_none());
        let reached = reached.into_iter();
        let reached: BTreeSet<ObjectKey> = reached.map(|old| renames.later(&old.object)).collect();
        let unreached_before: BTreeSet<(ObjectKey, Option<u16>)> = unreached_before
            .into_iter()
            .map(|old| (renames.later(&old.object), old.port))
            .collect();
        let is_lost = |reference: &&BackendRef| {
            reached.contains(&reference.object)
                && !unreached_before.contains(&(reference.object.clone(), reference.port))
        };
        for reference in new.backends().filter(is_lost) {
            if let Some(why) = unreached(after, new, reference) {
                let why = not_usable(why, key, &reference.object);
                unusable.insert((key.clone(), reference.object.clone(), why));
            }
        }
    }
    unusable
}

/// Adds the routes below a Gateway, a `ListenerSet` or a Namespace, with those that they delegate to; for a route, these alone.
fn add_routes<'a>(
    snapshot: &'a Snapshot,
    key: &ObjectKey,
    limit: usize,
    routes: &mut BTreeSet<&'a ObjectKey>,
) {
    let mut delegating: Vec<&'a Arc<Object>> = Vec::new();
    if is_route(&key.gk) {
        delegating.extend(snapshot.get(key));
    } else {
        let below = snapshot.below(key).filter(|one| is_route(&one.key.gk));
        delegating.extend(below.take(remaining(limit, routes)));
        routes.extend(delegating.iter().map(|route| &route.key));
    }
    for route in delegated_to(snapshot, delegating, remaining(limit, routes)) {
        routes.extend(snapshot.get(&route.key).map(|route| &route.key));
    }
}

/// The number of routes that may be added: one more than are examined, which shows that there are more.
fn remaining(limit: usize, routes: &BTreeSet<&ObjectKey>) -> usize {
    limit.saturating_add(1).saturating_sub(routes.len())
}

/// The other Gateways and `ListenerSets` whose routes a change may concern: those of a changed class, those that compete with a
/// changed one for ports and hostnames, and those whose listeners differ because of a changed Namespace or `ReferenceGrant`.
fn owners_concerned(states: [&Snapshot; 2], objects: &[ObjectKey]) -> BTreeSet<ObjectKey> {
    let changed: BTreeSet<&ObjectKey> = objects.iter().collect();
    let (mut competing, mut others) = (BTreeSet::new(), BTreeSet::new());
    for key in objects {
        if key.gk == GroupKind::GATEWAY_CLASS {
            let below = states.into_iter().flat_map(|snapshot| snapshot.below(key));
            competing.extend(below.map(|gateway| gateway.key.clone()));
            continue;
        }
        let gateways = states.map(|snapshot| gateways_around(snapshot, key));
        let gateways = gateways.into_iter().flatten();
        if key.gk.has_listeners() {
            competing.extend(gateways);
        } else {
            others.extend(gateways);
        }
    }
    let [before, after] = states;
    let differs = |owner: &ObjectKey| {
        let known = |snapshot: &Snapshot| listener_acceptance(snapshot, snapshot.get(owner)?);
        known(before) != known(after)
    };
    let mut concerned = BTreeSet::new();
    for gateway in competing.union(&others) {
        let owners = states.map(|snapshot| owners_of(snapshot, gateway));
        let owners: BTreeSet<ObjectKey> = owners.into_iter().flatten().collect();
        let counts = |owner: &ObjectKey| {
            !changed.contains(owner) && (competing.contains(gateway) || differs(owner))
        };
        concerned.extend(owners.into_iter().filter(counts));
    }
    concerned
}

/// The routes that changed ones, or those of changed Namespaces, keep out of a listener, or that keep them out.
fn routes_kept_out<'a>(
    snapshot: &'a Snapshot,
    objects: &[ObjectKey],
    limit: usize,
) -> BTreeSet<&'a ObjectKey> {
    let routes = objects.iter().flat_map(|key| {
        let own = snapshot.get(key).filter(|_| is_route(&key.gk));
        let is_namespace = key.gk.is_core("Namespace");
        let within = is_namespace.then(|| snapshot.below(key));
        let within = within.into_iter().flatten();
        let within = within.filter(|one| is_route(&one.key.gk));
        own.into_iter().chain(within)
    });
    let parents = routes.flat_map(|route| {
        let parents = route.parents().iter();
        parents.map(|parent| (&parent.object, &route.key.gk))
    });
    let parents: BTreeSet<(&ObjectKey, &GroupKind)> = parents.collect();
    let in_conflict = parents
        .into_iter()
        .flat_map(|(parent, kind)| routes_in_conflict_at(snapshot, parent, kind));
    in_conflict
        .map(|route| &route.key)
        .take(limit.saturating_add(1))
        .collect()
}

/// The endpoints at which a route receives requests. A parent of which nothing is known counts as one.
fn endpoints(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
) -> BTreeMap<ListenerEndpoint, Place> {
    let Node::Route { parents, .. } = &route.node else {
        return BTreeMap::new();
    };
    let mut by_endpoint = BTreeMap::new();
    for parent in parents {
        let places = match parent_attachment(route_kind_conflicts, route, parent) {
            ParentAttachment::Attached(places) => places,
            ParentAttachment::Unknown(_) => vec![parent.object.whole()],
            ParentAttachment::Delegated(_) | ParentAttachment::NotAttached { .. } => continue,
        };
        for place in places {
            let endpoint = listener_endpoint(route_kind_conflicts.snapshot(), &place);
            let nameless = || (place.object.clone(), 0, None);
            by_endpoint.insert(endpoint.unwrap_or_else(nameless), place);
        }
    }
    for delegated_entry in delegated(route_kind_conflicts, route) {
        let place = delegated_entry.listener;
        if let Some(endpoint) = listener_endpoint(route_kind_conflicts.snapshot(), &place) {
            by_endpoint.entry(endpoint).or_insert(place);
        }
    }
    by_endpoint
}
