//! The part of the topology that paths through one object run in.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::memo;
use crate::engine::attach::standing;
use crate::engine::ids::{ByKey, GroupKind, ObjectKey};
use crate::engine::level::Level;
use crate::engine::maps;
use crate::engine::object::{Listener, Node, Object, ParentRef, is_route};
use crate::engine::snapshot::Snapshot;
use crate::engine::topology::{
    Upper, accepts, fits_service, through_gateway, through_hidden, through_service, through_set,
};

/// The ways in that a route takes; routes that are accepted alike share one list.
pub(super) type Ways = Rc<[Rc<Upper>]>;

/// Routes with their ways in, and what no route reaches.
#[derive(Debug, Default)]
pub(super) struct Region {
    /// Each once, parent by parent.
    pub(super) routes: Vec<(Arc<Object>, Ways)>,
    /// Ways in through the object, used or not.
    pub(super) uppers: Vec<Rc<Upper>>,
    /// Backends and other objects in it.
    pub(super) backends: BTreeSet<ObjectKey>,
}

/// Finds regions; remembers what it met.
#[derive(Debug)]
pub(super) struct Regions<'a> {
    snapshot: &'a Snapshot,
    parents: HashMap<ObjectKey, Rc<Parent>, ByKey>,
    accepted: maps::HashMap<Alike, Ways>,
    /// Equal lists are one, whatever they were accepted by.
    lists: maps::HashMap<Vec<*const Upper>, Ways>,
}

/// A Gateway or `ListenerSet`, with its ways in.
#[derive(Debug)]
pub(super) struct Parent {
    object: Arc<Object>,
    ways: Vec<Rc<Upper>>,
    /// Whether any listener looks at hostnames.
    hostnames: bool,
}

/// What acceptance depends on: routes that are alike in this are accepted by the same listeners.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Alike {
    gk: GroupKind,
    namespace: Arc<str>,
    parents: Vec<(ObjectKey, Option<Arc<str>>, Option<u16>)>,
    /// Left out where no listener asks.
    hostnames: Vec<Arc<str>>,
    /// Policies on a route of a mesh make ways of their own: such a route is like no other.
    mesh: Option<ObjectKey>,
}

// === impl Parent ===

impl Parent {
    fn find(snapshot: &Snapshot, key: &ObjectKey) -> Option<Self> {
        let object = snapshot.get(key)?;
        let ways = match &object.node {
            Node::Gateway { .. } => through_gateway(object),
            Node::ListenerSet { .. } => through_set(snapshot, object),
            Node::Service { .. } => Vec::new(),
            _ => return None,
        };
        Some(Self {
            object: object.clone(),
            ways,
            hostnames: listeners(object).iter().any(|l| l.hostname.is_some()),
        })
    }
}

// === impl Regions ===

impl<'a> Regions<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        Self {
            snapshot,
            parents: HashMap::default(),
            accepted: maps::HashMap::default(),
            lists: maps::HashMap::default(),
        }
    }

    /// The region of an object.
    pub(super) fn around(&mut self, key: &ObjectKey) -> Region {
        let mut routes: Vec<Arc<Object>> = Vec::new();
        let mut met: HashSet<ObjectKey, ByKey> = HashSet::default();
        let mut region = Region::default();
        let snapshot = self.snapshot;
        let mut add = |object: &Arc<Object>| {
            if is_route(&object.key.gk) && met.insert(object.key.clone()) {
                routes.push(object.clone());
            }
        };
        let mut parents: VecDeque<Arc<Object>> = VecDeque::new();
        if key.gk.is_gateway_api("GatewayClass") || key.gk.is_core("Namespace") {
            for object in snapshot.below(key) {
                match &object.node {
                    Node::Gateway { .. } => parents.push_back(object.clone()),
                    Node::Route { .. } => add(object),
                    Node::ListenerSet { .. } | Node::ReferenceGrant { .. } => {}
                    node => {
                        let mut routes = snapshot.using(&object.key).peekable();
                        let is_service = matches!(node, Node::Service { .. });
                        if is_service || routes.peek().is_some() {
                            region.backends.insert(object.key.clone());
                        }
                        routes.for_each(&mut add);
                        // Those of a mesh are attached to it, wherever they are.
                        if is_service {
                            snapshot.below(&object.key).for_each(&mut add);
                        }
                    }
                }
            }
        } else if let Some(object) = snapshot.get(key) {
            match &object.node {
                Node::Gateway { .. } | Node::ListenerSet { .. } => {
                    parents.push_back(object.clone());
                }
                _ => add(object),
            }
        } else {
            // It is gone; routes may still name it.
            snapshot.below(key).for_each(&mut add);
        }
        if Level::is_of_backend(&key.gk) {
            region.backends.insert(key.clone());
            snapshot.using(key).for_each(&mut add);
            snapshot.below(key).for_each(&mut add);
        }
        while let Some(parent) = parents.pop_front() {
            // Sets join Gateways and nothing else: no circle can keep this going.
            let is_gateway = matches!(parent.node, Node::Gateway { .. });
            for object in snapshot.below(&parent.key) {
                match &object.node {
                    Node::ListenerSet { .. } if is_gateway => parents.push_back(object.clone()),
                    _ => add(object),
                }
            }
            let parent = self.parent(&parent.key);
            region
                .uppers
                .extend(parent.iter().flat_map(|p| p.ways.iter().cloned()));
        }
        region.uppers.sort();
        region.routes = self.with_ways(routes.into_iter());
        region
    }

    /// The region of these routes and nothing else.
    pub(super) fn of(&mut self, routes: &BTreeSet<ObjectKey>) -> Region {
        let snapshot = self.snapshot;
        let routes = routes.iter().filter_map(|key| snapshot.get(key)).cloned();
        Region {
            routes: self.with_ways(routes),
            ..Region::default()
        }
    }

    fn with_ways(&mut self, routes: impl Iterator<Item = Arc<Object>>) -> Vec<(Arc<Object>, Ways)> {
        let mut found: Vec<(Arc<Object>, Ways)> = Vec::new();
        // Whether the parents of the last one look at hostnames.
        let mut asks = true;
        for route in routes {
            let known = match found.last() {
                Some((last, ways)) if are_alike(last, &route, asks) => Some(ways.clone()),
                _ => None,
            };
            let ways = known.unwrap_or_else(|| {
                asks = self.asks(&route);
                self.ways(&route)
            });
            found.push((route, ways));
        }
        found
    }

    /// Whether a listener that a route may come by looks at hostnames.
    fn asks(&mut self, route: &Object) -> bool {
        let Node::Route { parents, .. } = &route.node else {
            return false;
        };
        let mut parents = parents.iter();
        parents.any(|p| self.parent(&p.object).is_some_and(|p| p.hostnames))
    }

    /// The ways in that a route takes; one that leads from nowhere when it is attached to nothing.
    pub(super) fn ways(&mut self, route: &Object) -> Ways {
        let Node::Route { parents, .. } = &route.node else {
            return Rc::from([]);
        };
        let alike = Alike {
            gk: route.key.gk.clone(),
            namespace: route.key.namespace.clone(),
            parents: parents
                .iter()
                .map(|p| (p.object.clone(), p.section.clone(), p.port))
                .collect(),
            hostnames: match &route.node {
                Node::Route { hostnames, .. } if self.asks(route) => hostnames.to_vec(),
                _ => Vec::new(),
            },
            mesh: parents
                .iter()
                .any(|p| p.object.gk.is_core("Service"))
                .then(|| route.key.clone()),
        };
        if let Some(known) = self.accepted.get(&alike) {
            return known.clone();
        }
        let mut found: Vec<Rc<Upper>> = Vec::new();
        for parent in parents {
            found.extend(self.ways_by(route, parent));
        }
        found.sort();
        found.dedup();
        if found.is_empty() {
            found.push(Rc::default());
        }
        let name = found.iter().map(Rc::as_ptr).collect();
        let ways = self.lists.entry(name).or_insert_with(|| found.into());
        let ways = ways.clone();
        self.accepted.insert(alike, ways.clone());
        ways
    }

    fn ways_by(&mut self, route: &Object, reference: &ParentRef) -> Vec<Rc<Upper>> {
        let Some(parent) = self.parent(&reference.object) else {
            let hidden = self.snapshot.hides(&reference.object);
            return hidden
                .then(|| through_hidden(reference))
                .into_iter()
                .flatten()
                .collect();
        };
        if matches!(parent.object.node, Node::Service { .. }) {
            if !fits_service(&parent.object, reference) {
                return Vec::new();
            }
            let consumers = self.consumers(&[&reference.object, &route.key]);
            return through_service(&reference.object, &route.key, &consumers);
        }
        let listeners = listeners(&parent.object).iter().zip(&parent.ways);
        listeners
            .filter(|(listener, _)| {
                accepts(self.snapshot, &parent.object, listener, route, reference)
            })
            .map(|(_, way)| way.clone())
            .collect()
    }

    /// Other namespaces whose policies act on requests from there, to what stands here.
    fn consumers(&self, objects: &[&ObjectKey]) -> Vec<Arc<str>> {
        let stands = objects.iter().flat_map(|key| standing(self.snapshot, key));
        let consumers: BTreeSet<Arc<str>> = stands
            .filter(|stand| stand.consumer)
            .map(|stand| stand.policy.key().namespace.clone())
            .collect();
        consumers.into_iter().collect()
    }

    fn parent(&mut self, key: &ObjectKey) -> Option<Rc<Parent>> {
        if let Some(known) = self.parents.get(key) {
            return Some(known.clone());
        }
        let found = || Parent::find(self.snapshot, key).map(Rc::new);
        let parent = if memo::is_above_routes(&key.gk) {
            memo::parent(self.snapshot.era(), key, found)?
        } else {
            found()?
        };
        self.parents.insert(key.clone(), parent.clone());
        Some(parent)
    }
}

/// Whether the same listeners take both, which look at hostnames if `asks`. Services of a mesh look at the route
/// itself.
fn are_alike(one: &Object, other: &Object, asks: bool) -> bool {
    let (
        Node::Route {
            parents, hostnames, ..
        },
        Node::Route {
            parents: other_parents,
            hostnames: other_hostnames,
            ..
        },
    ) = (&one.node, &other.node)
    else {
        return false;
    };
    one.key.namespace == other.key.namespace
        && parents == other_parents
        && (!asks || hostnames == other_hostnames)
        && one.key.gk == other.key.gk
        && !parents.iter().any(|p| p.object.gk.is_core("Service"))
}

fn listeners(object: &Object) -> &[Listener] {
    match &object.node {
        Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. } => listeners,
        _ => &[],
    }
}
