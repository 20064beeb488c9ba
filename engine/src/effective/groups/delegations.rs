//! Rules of routes that requests reach by delegation.

use std::rc::Rc;
use std::sync::Arc;

use super::ancestor_group::AncestorGroup;
use crate::effective::Resolver;
use crate::effective::subgraph::{RulesReached, Subgraph};
use crate::model::ids::ObjectKey;
use crate::model::level::{Level, Step};
use crate::model::maps::HashSet;
use crate::model::object::Object;
use crate::topology::{AncestorPath, AncestorPaths, RoutePath};

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
