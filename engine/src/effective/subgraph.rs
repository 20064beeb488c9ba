//! The subgraph of the topology that is reachable from one object: routes with their ancestor paths, and backends. The files below find
//! the ancestor paths of one route: through listeners, through routes that delegate to it, and by hostname.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::paths::Routes;
use crate::attachment::rejection::{RejectionFinder, routes_of};
use crate::attachment::{attached_to, compared_targets};
use crate::model::ids::{GroupKind, ObjectKey, PrehashedBuildHasher};
use crate::model::level::Level;
use crate::model::maps;
use crate::model::object::{Node, Object, ParentRef, is_route};
use crate::policy::fuel::{self, Fuel};
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::delegated_to;
use crate::topology::reports::of_route;
use crate::topology::{
    AncestorPath, AncestorPaths, DelegatedPaths, ListenerHostname, ListenerPath,
    PoliciesByHostname, RouteKindConflicts, SharedAncestorPaths, fits_service, gateway_of,
    listener_acceptance, listeners_of, may_accept, may_keep_out, through_hidden, through_listeners,
    through_service,
};

mod candidate_listeners;
mod delegated_paths;
mod policies_by_hostname;

use candidate_listeners::{CandidateListener, CandidateListeners};
pub(super) use delegated_paths::RulesReached;

/// Routes with their ancestor paths, and objects that may have no route. Routes with equal
/// acceptance share one list.
#[derive(Debug, Default)]
pub(super) struct Subgraph {
    /// The routes, each once, grouped by parent.
    pub(super) routes: Vec<(Arc<Object>, AncestorPaths)>,
    /// The ancestor paths through the object, whether a route takes them or not.
    pub(super) ancestor_paths: Vec<Rc<AncestorPath>>,
    /// Backends and other objects in the subgraph.
    pub(super) backends: BTreeSet<ObjectKey>,
}

/// Finds subgraphs and caches their parts.
#[derive(Debug)]
pub(super) struct Subgraphs<'a> {
    snapshot: &'a Snapshot,
    delegated: DelegatedPaths,
    parents: HashMap<ObjectKey, Rc<ListenerOwner>, PrehashedBuildHasher>,
    candidates: maps::HashMap<AcceptanceKey, Rc<CandidateListeners>>,
    lists: SharedAncestorPaths,
    /// The ancestor paths of each route, cached because each policy kind asks for them.
    ancestors: HashMap<ObjectKey, AncestorPaths, PrehashedBuildHasher>,
    /// The paths that requests to a route take, if policies of other listeners apply to them.
    taken: HashMap<ObjectKey, AncestorPaths, PrehashedBuildHasher>,
    /// The namespaces that requests come from, by the object that they go to.
    consumers: HashMap<ObjectKey, Rc<[Arc<str>]>, PrehashedBuildHasher>,
    kept_out: RouteKindConflicts<'a>,
    rejections: Rc<RejectionFinder>,
    fuel: Fuel,
}

/// A Gateway or `ListenerSet`, with the ancestor paths through it.
#[derive(Debug)]
struct ListenerOwner {
    object: Arc<Object>,
    ancestor_paths: Vec<ListenerPath>,
    /// The hostname of each listener, in the order of the spec.
    hostnames: Vec<ListenerHostname>,
    /// The listeners whose policies apply to requests by hostname, if these need not be the listeners
    /// that the requests arrive at.
    by_hostname: Option<PoliciesByHostname>,
}

/// Everything but hostnames that acceptance depends on: routes that are equal in this have the same candidate
/// listeners.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AcceptanceKey {
    gk: GroupKind,
    namespace: Arc<str>,
    parents: Vec<(ObjectKey, Option<Arc<str>>, Option<u16>)>,
    /// Whether the status of the route reports that each parent rejects it; empty if nothing is reported.
    rejected: Vec<bool>,
    has_one_rule: bool,
    /// The types of the filters of its rules and of their backends.
    filters: (BTreeSet<Arc<str>>, BTreeSet<Arc<str>>),
    /// Policies on a mesh route add ancestor paths, one for each namespace that requests come from.
    consumers: Vec<Arc<str>>,
}

// === impl Subgraph ===

impl Subgraph {
    /// The ancestor paths of its routes and those through the object, without empty ones.
    pub(super) fn above(&self) -> impl Iterator<Item = &AncestorPath> {
        let routes = self.routes.iter().flat_map(|(_, paths)| paths.iter());
        let paths = routes.chain(&self.ancestor_paths);
        paths
            .map(|path| &**path)
            .filter(|path| !path.steps.is_empty())
    }
}

// === impl ListenerOwner ===

impl ListenerOwner {
    fn find(snapshot: &Snapshot, key: &ObjectKey) -> Option<Self> {
        let object = snapshot.get(key)?;
        let ancestor_paths = match &object.node {
            Node::Gateway { .. } | Node::ListenerSet { .. } => through_listeners(snapshot, object),
            Node::Service { .. } => Vec::new(),
            _ => return None,
        };
        let hostnames = listener_acceptance(snapshot, object).map_or_else(Vec::new, |all| {
            let indexes = 0..listeners_of(object).len();
            let hostname = |i| ListenerHostname::for_listener(snapshot, object, &all, i);
            indexes.map(hostname).collect()
        });
        let by_hostname =
            PoliciesByHostname::around(snapshot, key).filter(|_| !ancestor_paths.is_empty());
        Some(Self {
            object: object.clone(),
            ancestor_paths,
            hostnames,
            by_hostname,
        })
    }
}

// === impl Subgraphs ===

impl<'a> Subgraphs<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        rejections: Rc<RejectionFinder>,
        fuel: Fuel,
        lists: SharedAncestorPaths,
    ) -> Self {
        Self {
            snapshot,
            delegated: DelegatedPaths::default(),
            parents: HashMap::default(),
            candidates: maps::HashMap::default(),
            lists,
            ancestors: HashMap::default(),
            taken: HashMap::default(),
            consumers: HashMap::default(),
            kept_out: RouteKindConflicts::new(snapshot),
            rejections,
            fuel,
        }
    }

    /// The subgraph around an object.
    pub(super) fn subgraph_of(&mut self, key: &ObjectKey) -> Subgraph {
        let mut routes: Vec<Arc<Object>> = Vec::new();
        let mut met: HashSet<ObjectKey, PrehashedBuildHasher> = HashSet::default();
        let mut subgraph = Subgraph::default();
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
                            subgraph.backends.insert(object.key.clone());
                        }
                        routes.for_each(&mut add);
                        // Mesh routes attach to the Service from any namespace.
                        if is_service {
                            snapshot.below(&object.key).for_each(&mut add);
                        }
                    }
                }
            }
        } else if let Some(object) = snapshot.get(key) {
            match &object.node {
                Node::Gateway { .. } => parents.push_back(object.clone()),
                Node::ListenerSet { .. } => {
                    parents.push_back(object.clone());
                    // The routes of other listeners may take requests to which its policies apply.
                    if PoliciesByHostname::around(snapshot, key).is_some() {
                        routes_of(snapshot, gateway_of(snapshot, key)).for_each(&mut add);
                    }
                }
                _ => add(object),
            }
        } else {
            // The object does not exist, but routes may still name it.
            snapshot.below(key).for_each(&mut add);
        }
        if Level::is_of_backend(&key.gk) {
            subgraph.backends.insert(key.clone());
            snapshot.using(key).for_each(&mut add);
            snapshot.below(key).for_each(&mut add);
        }
        while let Some(parent) = parents.pop_front() {
            // A `ListenerSet` joins only a Gateway, so this loop terminates.
            let is_gateway = matches!(parent.node, Node::Gateway { .. });
            for object in snapshot.below(&parent.key) {
                match &object.node {
                    Node::ListenerSet { .. } if is_gateway => parents.push_back(object.clone()),
                    _ => add(object),
                }
            }
            let parent = self.parent(&parent.key);
            let ancestor_paths = parent.iter().flat_map(|parent| &parent.ancestor_paths);
            subgraph
                .ancestor_paths
                .extend(ancestor_paths.map(|(_, path)| path.clone()));
        }
        if !Level::is_of_backend(&key.gk) {
            let below = delegated_to(snapshot, &routes, usize::MAX);
            let below = below.into_iter();
            routes.extend(below.filter(|route| met.insert(route.key.clone())));
        }
        subgraph.ancestor_paths.sort();
        subgraph.routes = self.with_ancestor_paths(routes.into_iter());
        subgraph
    }

    /// The subgraph of these routes alone.
    pub(super) fn of_routes(&mut self, routes: &Routes) -> Subgraph {
        let snapshot = self.snapshot;
        let routes = routes.iter().filter_map(|key| snapshot.get(key)).cloned();
        Subgraph {
            routes: self.with_ancestor_paths(routes),
            ..Subgraph::default()
        }
    }

    fn with_ancestor_paths(
        &mut self,
        routes: impl Iterator<Item = Arc<Object>>,
    ) -> Vec<(Arc<Object>, AncestorPaths)> {
        let expected = routes.size_hint().0;
        let mut routes_with_paths: Vec<(Arc<Object>, AncestorPaths)> = Vec::with_capacity(expected);
        self.ancestors.reserve(expected);
        let mut candidate_listeners: Rc<CandidateListeners> = Rc::default();
        for route in routes {
            if self.fuel.is_spent() {
                break;
            }
            let last = routes_with_paths.last();
            if !last.is_some_and(|(last, _)| have_equal_paths(last, &route)) {
                candidate_listeners = self.candidate_listeners(&route);
            }
            let ancestor_paths = self.taken(
                &route,
                &candidate_listeners,
                last.map(|(_, ancestor_paths)| ancestor_paths),
            );
            routes_with_paths.push((route, ancestor_paths));
        }
        routes_with_paths
    }

    /// The ancestor paths, of the candidates, that a route takes; one without steps if the route is attached to
    /// nothing. They are often the same as those of the last route.
    fn taken(
        &mut self,
        route: &Arc<Object>,
        candidate_listeners: &CandidateListeners,
        last: Option<&AncestorPaths>,
    ) -> AncestorPaths {
        let Node::Route { hostnames, .. } = &route.node else {
            return AncestorPaths::from(Vec::new());
        };
        if let Some(known) = self.ancestors.get(&route.key) {
            return known.clone();
        }
        let closed = self.closed(route);
        let delegated = self.delegated_paths(route);
        let taken = if !(closed.is_empty() && delegated.is_empty()) {
            let fitting = candidate_listeners.fitting(hostnames);
            let paths: Vec<&Rc<AncestorPath>> = fitting
                .filter(|path| !closed.contains(*path))
                .chain(&delegated)
                .collect();
            self.list(&paths)
        } else if let Some(all) = candidate_listeners.all(hostnames, |paths| self.list(paths)) {
            all.clone()
        } else {
            // One route is cheap, whatever its hostnames: only further routes are charged.
            if last.is_some() {
                let compared = candidate_listeners.hostname_count() * hostnames.len();
                self.fuel.spend(compared / fuel::HOSTNAMES);
            }
            let paths: Vec<&Rc<AncestorPath>> = candidate_listeners.fitting(hostnames).collect();
            let same = |last: &&AncestorPaths| paths.iter().copied().eq(last.iter());
            last.filter(same)
                .cloned()
                .unwrap_or_else(|| self.list(&paths))
        };
        let taken = match self.by_hostname(route, &taken) {
            Some(paths) => {
                self.taken.insert(route.key.clone(), taken);
                self.list(&paths.iter().collect::<Vec<_>>())
            }
            None => taken,
        };
        self.ancestors.insert(route.key.clone(), taken.clone());
        taken
    }

    /// Ancestor paths that a route does not take because their listeners keep it out for older routes of another
    /// kind.
    fn closed(&mut self, route: &Arc<Object>) -> maps::HashSet<Rc<AncestorPath>> {
        let mut closed = maps::HashSet::default();
        let Node::Route { parents, .. } = &route.node else {
            return closed;
        };
        for reference in parents {
            let Some(parent) = self.may_be_closed(route, reference) else {
                continue;
            };
            for (index, path) in &parent.ancestor_paths {
                let Some(index) = index else { continue };
                let (kept_out, looked_at) = self.kept_out.kept_out(&parent.object, *index);
                self.fuel.spend(looked_at / fuel::GROUPS);
                if kept_out.contains_key(&route.key) {
                    closed.insert(path.clone());
                }
            }
        }
        closed
    }

    /// A parent of a route that may keep it out for older routes of another kind.
    fn may_be_closed(
        &mut self,
        route: &Object,
        reference: &ParentRef,
    ) -> Option<Rc<ListenerOwner>> {
        if !Level::is_kind_above_routes(&reference.object.gk) {
            return None;
        }
        let parent = self.parent(&reference.object)?;
        may_keep_out(self.snapshot, &parent.object, &route.key.gk).then_some(parent)
    }

    /// Ancestor paths as a shared list; one path without steps if there are none.
    fn list(&self, paths: &[&Rc<AncestorPath>]) -> AncestorPaths {
        if paths.is_empty() {
            return AncestorPaths::without_steps();
        }
        self.lists.list(paths.iter().copied().cloned().collect())
    }

    /// The candidate listeners of routes like this one, sorted.
    fn candidate_listeners(&mut self, route: &Object) -> Rc<CandidateListeners> {
        let Node::Route { parents, .. } = &route.node else {
            return Rc::default();
        };
        let in_mesh = parents.iter().any(|p| p.object.gk.is_core("Service"));
        let consumers = in_mesh.then(|| self.consumers(&route.key).to_vec());
        let rejected = route.reported.is_some().then(|| {
            let rejects = |parent| of_route(self.snapshot, route, parent).is_some();
            parents.iter().map(rejects).collect()
        });
        let rejected = rejected.unwrap_or_default();
        let alike = AcceptanceKey {
            gk: route.key.gk.clone(),
            namespace: route.key.namespace.clone(),
            parents: parents
                .iter()
                .map(|p| (p.object.clone(), p.section.clone(), p.port))
                .collect(),
            rejected,
            has_one_rule: route.has_one_rule(),
            filters: route.filter_types(),
            consumers: consumers.unwrap_or_default(),
        };
        if let Some(known) = self.candidates.get(&alike) {
            return known.clone();
        }
        let mut candidates: Vec<CandidateListener> = Vec::new();
        for parent in parents {
            candidates.extend(self.candidate_listeners_by(route, parent));
        }
        let candidates = Rc::new(CandidateListeners::new(candidates));
        self.candidates.insert(alike, candidates.clone());
        candidates
    }

    fn candidate_listeners_by(
        &mut self,
        route: &Object,
        reference: &ParentRef,
    ) -> Vec<CandidateListener> {
        let free = |path| CandidateListener {
            ancestor_path: path,
            hostnames: vec![ListenerHostname::default()],
        };
        let Some(parent) = self.parent(&reference.object) else {
            let hidden = self.snapshot.hides(&reference.object);
            let path = hidden.then(|| through_hidden(reference)).flatten();
            return path.into_iter().map(free).collect();
        };
        if matches!(parent.object.node, Node::Service { .. }) {
            let rejected = of_route(self.snapshot, route, reference).is_some();
            if rejected || !fits_service(&parent.object, reference) {
                return Vec::new();
            }
            let consumers: BTreeSet<Arc<str>> = [&reference.object, &route.key]
                .into_iter()
                .flat_map(|key| self.consumers(key).to_vec())
                .collect();
            let consumers: Vec<Arc<str>> = consumers.into_iter().collect();
            let paths = through_service(&reference.object, &route.key, &consumers);
            self.fuel.spend(paths.len() / fuel::GROUPS);
            return paths.into_iter().map(free).collect();
        }
        let own = listeners_of(&parent.object);
        let accepted = parent.ancestor_paths.iter().filter_map(|(index, path)| {
            let index = (*index)?;
            Some((index, own.get(index)?, path))
        });
        let open = accepted.filter(|(_, listener, _)| {
            may_accept(self.snapshot, &parent.object, listener, route, reference)
        });
        let candidate_listeners = open.filter_map(|(index, _, path)| {
            let hostname = parent.hostnames.get(index)?.clone();
            Some(CandidateListener {
                ancestor_path: path.clone(),
                hostnames: vec![hostname],
            })
        });
        candidate_listeners.collect()
    }

    /// The namespaces whose policies at an object apply only to requests from the same namespace.
    fn consumers(&mut self, key: &ObjectKey) -> Rc<[Arc<str>]> {
        if let Some(known) = self.consumers.get(key) {
            return known.clone();
        }
        if self.fuel.is_spent() {
            return Rc::default();
        }
        self.fuel
            .spend(compared_targets(self.snapshot, key) / fuel::SELECTED);
        let attachments = attached_to(self.snapshot, key, &self.rejections).into_iter();
        self.fuel.spend(self.rejections.fuel_used());
        let consumers = attachments.filter(|attachment| attachment.consumer);
        let consumers = consumers.map(|attachment| attachment.policy.key().namespace.clone());
        let consumers: BTreeSet<Arc<str>> = consumers.collect();
        let consumers: Rc<[Arc<str>]> = consumers.into_iter().collect();
        self.consumers.insert(key.clone(), consumers.clone());
        consumers
    }

    fn parent(&mut self, key: &ObjectKey) -> Option<Rc<ListenerOwner>> {
        if let Some(known) = self.parents.get(key) {
            return Some(known.clone());
        }
        let parent = Rc::new(ListenerOwner::find(self.snapshot, key)?);
        self.parents.insert(key.clone(), parent.clone());
        Some(parent)
    }
}

/// Whether the same listeners accept both routes, hostnames aside. Mesh Services depend on the route itself.
fn have_equal_paths(one: &Object, other: &Object) -> bool {
    let (
        Node::Route { parents, .. },
        Node::Route {
            parents: others, ..
        },
    ) = (&one.node, &other.node)
    else {
        return false;
    };
    one.key.namespace == other.key.namespace
        && parents == others
        && one.reported == other.reported
        && one.key.gk == other.key.gk
        && one.has_one_rule() == other.has_one_rule()
        && one.filter_types() == other.filter_types()
        && !parents.iter().any(|p| p.object.gk.is_core("Service"))
}
