//! Routes that a change takes off their listeners, and backends that it takes from them: requests that they served fail
//! from then on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::grants::routes_into;
use super::ids::{ObjectKey, Place};
use super::object::{Node, Object, is_route};
use super::snapshot::Snapshot;
use super::topology::{
    Attachment, Door, OneKind, attachment, door, gateway_of, not_usable, sets_of, unreached,
};

/// What a change takes from routes that stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Routes that no listener takes any more.
    pub detached: BTreeSet<ObjectKey>,
    /// Routes that some listeners take no more, and others do; with the listeners that they lose.
    pub reduced: BTreeMap<ObjectKey, BTreeSet<Place>>,
    /// Whether there are more routes than were looked at.
    pub is_cut: bool,
}

/// What a change of these objects takes from routes that are there before and after; the first `most` routes are
/// looked at.
pub fn traffic(before: &Snapshot, after: &Snapshot, objects: &[ObjectKey], most: usize) -> Traffic {
    let mut routes: BTreeSet<&ObjectKey> = BTreeSet::new();
    for key in objects {
        add_routes(before, key, most, &mut routes);
    }
    let mut traffic = Traffic {
        is_cut: routes.len() > most,
        ..Traffic::default()
    };
    let (mut was, mut is) = (OneKind::new(before), OneKind::new(after));
    for key in routes.into_iter().take(most) {
        let (Some(old), Some(new)) = (before.get(key), after.get(key)) else {
            continue;
        };
        let had = doors(&mut was, old);
        if had.is_empty() {
            continue;
        }
        let has = doors(&mut is, new);
        if has.is_empty() {
            traffic.detached.insert(key.clone());
            continue;
        }
        let lost = had.iter().filter(|(door, _)| !has.contains_key(*door));
        let lost: BTreeSet<Place> = lost.map(|(_, place)| place.clone()).collect();
        // A route that itself names other parents leaves by itself.
        if !lost.is_empty() && !objects.contains(key) {
            traffic.reduced.insert(key.clone(), lost);
        }
    }
    traffic
}

/// Backends that routes which stay no longer reach, with the reason, after a change of these objects: grants, and
/// backends themselves.
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
    let mut found = BTreeSet::new();
    for key in routes {
        let (Some(old), Some(new)) = (before.get(&key), after.get(&key)) else {
            continue;
        };
        let had: BTreeSet<&ObjectKey> = old
            .backends()
            .filter(|reference| unreached(before, old, reference).is_none())
            .map(|reference| &reference.object)
            .collect();
        for reference in new.backends().filter(|r| had.contains(&r.object)) {
            if let Some(why) = unreached(after, new, reference) {
                let why = not_usable(why, &key, &reference.object);
                found.insert((key.clone(), reference.object.clone(), why));
            }
        }
    }
    found
}

/// The routes whose attachment may depend on an object: those that name it or a `ListenerSet` of it; of a Namespace those
/// in it, and those of the `ListenerSets` in it.
fn add_routes<'a>(
    snapshot: &'a Snapshot,
    key: &ObjectKey,
    most: usize,
    routes: &mut BTreeSet<&'a ObjectKey>,
) {
    let is_namespace = key.gk.is_core("Namespace");
    let is_parent = key.gk.is_gateway_api("Gateway") || key.gk.is_listener_set();
    if !is_parent && !is_namespace {
        return;
    }
    // Sets of one Gateway take ports from one another.
    let top = gateway_of(snapshot, key);
    let sets = sets_of(snapshot, top);
    let owners: BTreeSet<&ObjectKey> = sets.map(|set| &set.key).chain([top, key]).collect();
    for owner in owners {
        let here = snapshot.below(owner).filter(|o| is_route(&o.key.gk));
        let room = most.saturating_add(1).saturating_sub(routes.len());
        routes.extend(here.take(room).map(|route| &route.key));
    }
}

/// Where the requests that a route takes come in. What is not known may be there.
fn doors(one_kind: &mut OneKind<'_>, route: &Arc<Object>) -> BTreeMap<Door, Place> {
    let Node::Route { parents, .. } = &route.node else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for parent in parents {
        let places = match attachment(one_kind, route, parent) {
            Attachment::Attached(places) => places,
            Attachment::Unknown(_) => vec![parent.object.whole()],
            Attachment::Refused { .. } => continue,
        };
        for place in places {
            let door = door(one_kind.snapshot(), &place);
            let nameless = || (place.object.clone(), 0, None);
            found.insert(door.unwrap_or_else(nameless), place);
        }
    }
    found
}
