//! The ancestor paths of routes that other routes delegate to: those of the other route, down to the rule that
//! delegates.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::delegated_matches::handed_on;
use super::delegation::{
    MOST_DELEGATIONS, delegates, has_hostnames, leads_to, parents_of, reports_rejection, rules_of,
};
use super::{AncestorPath, to_route};
use crate::kinds::profile::DelegationFile;
use crate::model::ids::{ObjectKey, PrehashedBuildHasher};
use crate::model::level::{Level, Step};
use crate::model::maps;
use crate::model::object::{Node, Object, RouteMatch};
use crate::model::section::rule_label;
use crate::state::snapshot::{Snapshot, namespace_key};

/// The largest number of delegated paths to one route that are followed. If there are more, none is, and it is not known whether
/// requests reach the route.
const MOST_PATHS: usize = 1024;
/// The largest number of routes visited to find the paths to one route, if routes delegate to each other in a cycle.
const MOST_VISITED: usize = 4096;

/// The ancestor paths of a route through the parents that are no routes.
pub trait OwnPaths {
    /// The state.
    fn snapshot(&self) -> &Snapshot;

    /// The ancestor paths of a route; none if it is attached to no listener.
    fn own_paths(&mut self, route: &Arc<Object>) -> Vec<Rc<AncestorPath>>;
}

/// An ancestor path, and the rule of a route that delegates.
type DelegatedPath = (Rc<AncestorPath>, ObjectKey, usize);

/// An ancestor path through a rule that delegates, and the requests that take it.
type DelegatedRequests = (Rc<AncestorPath>, Rc<[RouteMatch]>);

type SharedPaths = Rc<[Rc<AncestorPath>]>;

type SharedParents = Rc<[Arc<Object>]>;

/// Finds the ancestor paths through rules that delegate, and caches them.
#[derive(Debug, Default)]
pub struct DelegatedPaths {
    /// All paths of each route, those through delegation last, and the number of the latter.
    known: HashMap<ObjectKey, (SharedPaths, usize), PrehashedBuildHasher>,
    /// The path through each rule that delegates; `None` if no request reaches it.
    through: maps::HashMap<DelegatedPath, Option<DelegatedRequests>>,
    /// The requests on each path through delegation to a route.
    matches: maps::HashMap<(Rc<AncestorPath>, ObjectKey), Rc<[RouteMatch]>>,
    /// The routes that delegate to each route, as far as the two of them decide that.
    parents: HashMap<ObjectKey, SharedParents, PrehashedBuildHasher>,
    /// The routes whose paths are being looked for, from the first one up.
    climbed: Vec<ObjectKey>,
    /// The routes on cycles through the first one.
    cycle: HashMap<ObjectKey, Arc<Object>, PrehashedBuildHasher>,
    /// Whether a cycle, or a limit, cut off some paths since the search began.
    is_cut: bool,
    /// Whether there were more paths, or more routes on them, than are followed.
    is_too_much: bool,
    visited: usize,
    /// The routes of which was asked whether they delegate to another one since the search began.
    compared: usize,
    /// The routes to which there may be paths that were not followed.
    incomplete: HashSet<ObjectKey, PrehashedBuildHasher>,
}

// === impl DelegatedPaths ===

impl DelegatedPaths {
    /// The ancestor paths of a route through delegation, sorted.
    pub fn paths_to(
        &mut self,
        source: &mut impl OwnPaths,
        route: &Arc<Object>,
    ) -> Vec<Rc<AncestorPath>> {
        (self.is_cut, self.is_too_much) = (false, false);
        (self.visited, self.compared) = (0, 0);
        if let Some((paths, delegated)) = self.known.get(&route.key) {
            return last_of(paths, *delegated);
        }
        let snapshot = source.snapshot();
        let follows = snapshot.delegations().next().is_some();
        if !follows || self.parents(snapshot, route).is_empty() {
            return Vec::new();
        }
        self.climbed.clear();
        self.cycle.clear();
        let (paths, delegated) = self.find(source, route);
        if self.is_too_much {
            self.leave_cycle(source);
        }
        last_of(&paths, delegated)
    }

    /// Leaves out the routes on cycles through one that is below too many: they are below the same routes. To find that for each of
    /// them would be as much work again.
    fn leave_cycle(&mut self, source: &mut impl OwnPaths) {
        for (key, route) in self.cycle.drain() {
            if let Entry::Vacant(unknown) = self.known.entry(key.clone()) {
                unknown.insert((source.own_paths(&route).into(), 0));
                self.incomplete.insert(key);
            }
        }
    }

    /// The number of routes visited, and compared with others, to find the paths of the route that was asked for last.
    pub fn work(&self) -> usize {
        self.visited + self.compared
    }

    /// The routes of which a rule delegates to a route, if no cycle keeps it from that.
    fn parents(&mut self, snapshot: &Snapshot, route: &Arc<Object>) -> SharedParents {
        if let Some(known) = self.parents.get(&route.key) {
            return known.clone();
        }
        let leads = |parent: &Arc<Object>| {
            let mut all = snapshot.delegations();
            all.any(|facts| {
                let mut rules = rules_of(parent).iter();
                rules.any(|rule| leads_to(facts, (parent, rule), &[], route))
            })
        };
        let above = if has_hostnames(route) {
            Vec::new()
        } else {
            parents_of(snapshot, route)
        };
        self.compared += above.len();
        let parents: SharedParents = above.into_iter().filter(leads).collect();
        self.parents.insert(route.key.clone(), parents.clone());
        parents
    }

    /// Whether a route, for whose paths was asked, may have some that were not followed because there are too many.
    pub(super) fn is_incomplete(&self, route: &ObjectKey) -> bool {
        self.incomplete.contains(route)
    }

    /// All ancestor paths of a route, and how many of them, the last ones, lead through delegation.
    fn find(&mut self, source: &mut impl OwnPaths, route: &Arc<Object>) -> (SharedPaths, usize) {
        if let Some((paths, delegated)) = self.known.get(&route.key) {
            self.is_too_much |= self.incomplete.contains(&route.key);
            return (paths.clone(), *delegated);
        }
        self.visited += 1;
        self.is_too_much |= self.visited > MOST_VISITED;
        let returns = self.climbed.contains(&route.key);
        if self
            .climbed
            .first()
            .is_some_and(|first| *first == route.key)
        {
            let climbed = self.climbed.iter();
            let climbed = climbed.filter_map(|key| Some((key, source.snapshot().get(key)?)));
            let climbed = climbed.map(|(key, route)| (key.clone(), route.clone()));
            self.cycle.extend(climbed);
        }
        if returns || self.climbed.len() > MOST_DELEGATIONS || self.visited > MOST_VISITED {
            self.is_cut = true;
            return (Rc::from([]), 0);
        }
        let mut through_parents: Vec<Rc<AncestorPath>> = Vec::new();
        self.climbed.push(route.key.clone());
        let parents = self.parents(source.snapshot(), route);
        for parent in parents.iter() {
            for path in self.find(source, parent).0.iter() {
                self.add_through(
                    source.snapshot(),
                    (path, parent),
                    route,
                    &mut through_parents,
                );
            }
        }
        self.climbed.pop();
        through_parents.sort();
        through_parents.dedup();
        if through_parents.len() > MOST_PATHS || self.visited > MOST_VISITED {
            through_parents.clear();
            self.is_too_much = true;
        }
        let delegated = through_parents.len();
        let mut paths = source.own_paths(route);
        paths.extend(through_parents);
        let paths: SharedPaths = paths.into();
        if !self.is_cut || self.climbed.is_empty() {
            let paths_and_count = (paths.clone(), delegated);
            self.known.insert(route.key.clone(), paths_and_count);
            if self.is_too_much {
                self.incomplete.insert(route.key.clone());
            }
        }
        (paths, delegated)
    }

    /// Adds the paths through each rule of a route that delegates to another one.
    fn add_through(
        &mut self,
        snapshot: &Snapshot,
        (path, parent): (&Rc<AncestorPath>, &Arc<Object>),
        route: &Arc<Object>,
        through_parents: &mut Vec<Rc<AncestorPath>>,
    ) {
        let (Some(facts), Node::Route { rules, .. }) = (facts_of(snapshot, path), &parent.node)
        else {
            return;
        };
        if reports_rejection(snapshot, route, parent) {
            return;
        }
        let routes = path.steps.iter().filter(|step| step.level == Level::Route);
        let chain = routes.filter_map(|step| snapshot.get(&step.place.object));
        let chain: Vec<&Arc<Object>> = chain.collect();
        if chain.len() >= MOST_DELEGATIONS {
            return;
        }
        for (i, rule) in rules.iter().enumerate() {
            if !leads_to(facts, (parent, rule), &chain, route) {
                continue;
            }
            if let Some((through, requests)) = self.through_rule(facts, path, parent, i)
                && handed_on(facts, &requests, route)
                    .iter()
                    .any(|matches| !matches.is_empty())
            {
                let name = (through.clone(), route.key.clone());
                self.matches.entry(name).or_insert(requests);
                through_parents.push(through);
            }
        }
    }

    /// The ancestor path through a rule that delegates; `None` if no request reaches it.
    fn through_rule(
        &mut self,
        facts: &DelegationFile,
        path: &Rc<AncestorPath>,
        parent: &Arc<Object>,
        index: usize,
    ) -> Option<DelegatedRequests> {
        let name = (path.clone(), parent.key.clone(), index);
        if let Some(known) = self.through.get(&name) {
            return known.clone();
        }
        let matches = if path.is_delegated() {
            let all = self.handed_on(facts, path, parent);
            all.into_iter().nth(index).unwrap_or_default()
        } else {
            match &parent.node {
                Node::Route { rule_matches, .. } => rule_matches.of_rule(index).to_vec(),
                _ => Vec::new(),
            }
        };
        let through =
            (!matches.is_empty()).then(|| (Rc::new(below(path, parent, index)), matches.into()));
        self.through.insert(name, through.clone());
        through
    }

    /// The requests on an ancestor path through delegation, by the rules of a route below.
    fn handed_on(
        &self,
        facts: &DelegationFile,
        path: &Rc<AncestorPath>,
        route: &Object,
    ) -> Vec<Vec<RouteMatch>> {
        let name = (path.clone(), route.key.clone());
        let above = self.matches.get(&name);
        handed_on(facts, above.map_or(&[][..], |above| above), route)
    }

    /// The requests on an ancestor path through delegation that reach each rule of a route.
    pub fn requests(
        &self,
        snapshot: &Snapshot,
        path: &Rc<AncestorPath>,
        route: &Object,
    ) -> Vec<Vec<RouteMatch>> {
        let facts = facts_of(snapshot, path);
        facts.map_or_else(Vec::new, |facts| self.handed_on(facts, path, route))
    }

    /// The labels of the rules of a route that requests on an ancestor path reach and that do not delegate themselves;
    /// `None` if delegation changes nothing there.
    pub fn rules_reached(
        &self,
        snapshot: &Snapshot,
        path: &Rc<AncestorPath>,
        route: &Arc<Object>,
    ) -> Option<Vec<Arc<str>>> {
        let facts = facts_of(snapshot, path)?;
        let Node::Route { rules, .. } = &route.node else {
            return None;
        };
        let is_delegated = path.is_delegated();
        if !(is_delegated || rules.iter().any(|rule| delegates(facts, rule))) {
            return None;
        }
        let reached = is_delegated.then(|| self.handed_on(facts, path, route));
        let is_reached = |i: usize| {
            let reached = reached.as_ref().map(|all| all.get(i));
            reached.is_none_or(|matches| matches.is_some_and(|matches| !matches.is_empty()))
        };
        let rules = rules.iter().enumerate();
        let ends = rules.filter(|(i, rule)| !delegates(facts, rule) && is_reached(*i));
        Some(ends.map(|(i, _)| rule_label(route, i)).collect())
    }
}

/// The last paths of a list.
fn last_of(paths: &SharedPaths, number: usize) -> Vec<Rc<AncestorPath>> {
    let from = paths.len().saturating_sub(number);
    paths.get(from..).unwrap_or_default().to_vec()
}

/// An ancestor path that goes on through a rule of a route.
fn below(path: &AncestorPath, route: &Object, rule: usize) -> AncestorPath {
    let mut steps: Vec<Step> = path.steps.iter().map(Step::above_delegation).collect();
    let mut own = to_route(&namespace_key(&route.key.namespace), route);
    let rule = route.key.section(rule_label(route, rule));
    own.push(Step::new(Level::Rule, rule));
    for step in own.iter().map(Step::above_delegation) {
        // A Namespace takes one place on a path.
        let is_there =
            |above: &Step| above.level == Level::RouteNamespace && above.place == step.place;
        if !steps.iter().any(is_there) {
            steps.push(step);
        }
    }
    AncestorPath {
        steps,
        consumer: path.consumer.clone(),
    }
}

/// The facts of the controller at the beginning of an ancestor path about routes that delegate, if it follows them.
fn facts_of<'a>(snapshot: &'a Snapshot, path: &AncestorPath) -> Option<&'a DelegationFile> {
    let class = path.steps.first()?;
    let controller = snapshot.controller_of(&class.place.object)?;
    snapshot.controller_facts(controller)?.delegation.as_ref()
}
