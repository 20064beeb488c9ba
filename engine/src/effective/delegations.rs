//! Delegation of routes in the subgraph around an object.

use std::rc::Rc;
use std::sync::Arc;

use super::Resolver;
use super::ancestor_group::{AncestorGroup, RulesReached};
use super::subgraph::{Subgraph, Subgraphs};
use crate::model::ids::ObjectKey;
use crate::model::level::{Level, Step};
use crate::model::maps::HashSet;
use crate::model::object::{Node, Object};
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::{AncestorPath, AncestorPaths, OwnPaths, RoutePath};

impl OwnPaths for Subgraphs<'_> {
    fn snapshot(&self) -> &Snapshot {
        self.snapshot
    }

    fn own_paths(&mut self, route: &Arc<Object>) -> Vec<Rc<AncestorPath>> {
        let Node::Route { hostnames, .. } = &route.node else {
            return Vec::new();
        };
        if self.fuel.is_spent() {
            return Vec::new();
        }
        let candidate_listeners = self.candidate_listeners(route);
        let closed = self.closed(route);
        let compared = candidate_listeners.hostname_count() * hostnames.len().max(1);
        self.fuel.spend(1 + compared / fuel::HOSTNAMES);
        let paths = candidate_listeners.fitting(hostnames);
        let open = paths.filter(|path| !closed.contains(*path));
        let open: Vec<Rc<AncestorPath>> = open.cloned().collect();
        self.by_hostname(route, &open).unwrap_or(open)
    }
}

impl Subgraphs<'_> {
    /// The ancestor paths of a route through routes that delegate to it.
    pub(super) fn delegated_paths(&mut self, route: &Arc<Object>) -> Vec<Rc<AncestorPath>> {
        let mut delegated = std::mem::take(&mut self.delegated);
        let paths = delegated.paths_to(self, route);
        self.delegated = delegated;
        self.fuel.spend(paths.len() / fuel::GROUPS);
        paths
    }

    /// The rules of a route that requests on an ancestor path reach.
    pub(super) fn rules_reached(
        &self,
        path: &Rc<AncestorPath>,
        route: &Arc<Object>,
    ) -> RulesReached {
        self.delegated.rules_reached(self.snapshot, path, route)
    }
}

impl Resolver<'_> {
    /// Splits groups of ancestor paths whose requests reach different rules of a route because of delegation.
    pub(super) fn by_rules_reached(
        &self,
        route: &Arc<Object>,
        groups: Rc<Vec<AncestorGroup>>,
    ) -> Rc<Vec<AncestorGroup>> {
        let reached = |path| self.subgraphs.rules_reached(path, route);
        let mut split: Vec<AncestorGroup> = Vec::new();
        for group in groups.iter() {
            let mut parts: Vec<(RulesReached, Vec<Rc<AncestorPath>>)> = Vec::new();
            for path in group.ancestor_paths.iter() {
                let rules = reached(path);
                match parts.iter_mut().find(|(known, _)| *known == rules) {
                    Some((_, paths)) => paths.push(path.clone()),
                    None => parts.push((rules, vec![path.clone()])),
                }
            }
            split.extend(parts.into_iter().map(|(reached, paths)| AncestorGroup {
                ancestor_paths: paths.into(),
                reached,
                ..group.clone()
            }));
        }
        if split.iter().all(|group| group.reached.is_none()) {
            return groups;
        }
        Rc::new(split)
    }
}

/// The routes that delegate to others on the paths of a subgraph.
pub(super) fn delegating(subgraph: &Subgraph) -> HashSet<ObjectKey> {
    let mut lists: HashSet<&AncestorPaths> = HashSet::default();
    let lists_of_routes = subgraph
        .routes
        .iter()
        .map(|(_, ancestor_paths)| ancestor_paths);
    let distinct_lists = lists_of_routes.filter(|ancestor_paths| lists.insert(ancestor_paths));
    let paths = distinct_lists
        .flat_map(|ancestor_paths| ancestor_paths.iter())
        .filter(|path| path.is_delegated());
    let rules = paths.flat_map(|path| path.delegating());
    rules.map(|rule| rule.object.clone()).collect()
}

/// The route paths that lead to one of these rules; if none does, one that ends at the route.
pub(super) fn reaching(
    paths: Vec<RoutePath>,
    rules: &[Arc<str>],
    to_route: Vec<Step>,
) -> Vec<RoutePath> {
    let is_reached = |path: &RoutePath| {
        let mut sections = path.steps.iter().filter(|step| step.level == Level::Rule);
        sections.any(|step| {
            step.place
                .section
                .as_ref()
                .is_some_and(|rule| rules.contains(rule))
        })
    };
    let mut paths: Vec<RoutePath> = paths.into_iter().filter(is_reached).collect();
    if paths.is_empty() {
        paths.push(RoutePath {
            steps: to_route,
            complete: false,
        });
    }
    paths
}
