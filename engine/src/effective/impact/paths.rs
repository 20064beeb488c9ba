//! Compares the paths of one kind before and after a change.
//!
//! There are many paths and few differences, so paths through one route with the same effective policy are compared
//! together.

use std::collections::{self, BTreeMap, BTreeSet};
use std::rc::Rc;

use super::matched_listeners::{Alike, EndpointOf, renamed};
use super::{EffectiveChange, FormerEffective};
use crate::effective::{PathGroup, PathSet};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, PrehashedBuildHasher};
use crate::model::maps::{HashMap, HashSet};
use crate::model::shared::{Ids, Shared};
use crate::topology::{AncestorPath, AncestorPaths, RoutePath, RoutePaths};

/// Compares effective policies, each pair once: many paths share few results.
#[derive(Debug, Default)]
pub struct SettingsComparison {
    known: HashMap<(Shared<EffectivePolicy>, Shared<EffectivePolicy>), bool>,
}

/// Compares the paths of a kind.
pub(super) struct Comparison<'a> {
    kind: &'a GroupKind,
    /// Whether an ancestor path that only appears or only disappears is a change.
    shut: &'a dyn Fn(&AncestorPath) -> bool,
    /// The listener endpoint of an ancestor path, before and after.
    endpoints: [EndpointOf<'a>; 2],
    disjoint: DisjointPaths,
    same: SettingsComparison,
    nothing: Shared<EffectivePolicy>,
    ids: Ids,
    /// Lists of effective policies before the change, each once.
    former_effective: HashMap<Vec<Shared<EffectivePolicy>>, FormerEffective>,
    changes: Vec<EffectiveChange>,
}

/// The paths of one side.
#[derive(Default)]
pub(super) struct ComparedPaths {
    /// Those to all rules of a route, by route.
    by_route: collections::HashMap<ObjectKey, EffectiveByAncestors, PrehashedBuildHasher>,
    others: Vec<EffectiveByAncestors>,
}

/// The effective policies on one list of route paths, by list of ancestor paths.
struct EffectiveByAncestors {
    route_paths: RoutePaths,
    ancestor_paths: Vec<OnAncestors>,
}

type OnAncestors = (AncestorPaths, Shared<EffectivePolicy>);

/// Different effective policies on ancestor paths before and after, and whether the route paths exist on both sides.
#[derive(Clone)]
struct EffectivePair {
    ancestor_paths: AncestorPaths,
    before: Shared<EffectivePolicy>,
    after: Shared<EffectivePolicy>,
    exists_before_and_after: bool,
    detached: bool,
    no_longer_taken: bool,
    on_replaced_paths: Option<FormerEffective>,
}

/// The effective policies of both sides, by list of ancestor paths: many routes share them.
type Sides<'a> = [&'a [OnAncestors]; 2];

/// The effective policy by ancestor path.
type ByAncestorPath = BTreeMap<Rc<AncestorPath>, Shared<EffectivePolicy>>;
type ByRoutePath = HashMap<Rc<RoutePath>, ByAncestorPath>;

/// Whether lists of ancestor paths are disjoint, for the combinations checked so far.
#[derive(Default)]
struct DisjointPaths(HashMap<Vec<AncestorPaths>, bool>);

// === impl SettingsComparison ===

impl SettingsComparison {
    /// Whether the settings are equal, regardless of their source.
    pub fn settings(
        &mut self,
        one: &Shared<EffectivePolicy>,
        other: &Shared<EffectivePolicy>,
    ) -> bool {
        if one == other {
            return true;
        }
        let known = self.known.entry((one.clone(), other.clone()));
        *known.or_insert_with(|| one.same_settings(other))
    }
}

// === impl DisjointPaths ===

impl DisjointPaths {
    /// Whether both sides have the same lists of ancestor paths, and these lists are disjoint.
    fn have_same_ancestor_paths(
        &mut self,
        before: &EffectiveByAncestors,
        after: &EffectiveByAncestors,
    ) -> bool {
        let is_there = |(list, _): &OnAncestors| after.effective_on(list).is_some();
        before.ancestor_paths.len() == after.ancestor_paths.len()
            && before.ancestor_paths.iter().all(is_there)
            && (after.ancestor_paths.len() == 1 || self.are_disjoint(after))
    }

    fn are_disjoint(&mut self, through: &EffectiveByAncestors) -> bool {
        let lists = through.ancestor_paths.iter().map(|(list, _)| list.clone());
        let lists: Vec<AncestorPaths> = lists.collect();
        if let Some(known) = self.0.get(&lists) {
            return *known;
        }
        let mut met: BTreeSet<&AncestorPath> = BTreeSet::new();
        let mut all = lists.iter().flat_map(|list| list.iter());
        let are_apart = all.all(|path| met.insert(path));
        self.0.insert(lists, are_apart);
        are_apart
    }
}

// === impl EffectiveByAncestors ===

impl EffectiveByAncestors {
    fn effective_on(&self, list: &AncestorPaths) -> Option<&Shared<EffectivePolicy>> {
        let mut lists = self.ancestor_paths.iter();
        lists
            .find(|(known, _)| known == list)
            .map(|(_, effective)| effective)
    }

    fn add_by_ancestor_path(&self, by_path: &mut ByAncestorPath) {
        for (list, effective) in &self.ancestor_paths {
            by_path.extend(
                list.iter()
                    .map(|ancestor_path| (ancestor_path.clone(), effective.clone())),
            );
        }
    }

    /// Splits a list of route paths that the other side does not share.
    fn spread(&self, paths: &mut ByRoutePath) {
        for route_path in self.route_paths.iter() {
            self.add_by_ancestor_path(paths.entry(route_path.clone()).or_default());
        }
    }
}

// === impl ComparedPaths ===

impl ComparedPaths {
    /// Adds the paths of groups; paths that are already there stay.
    pub(super) fn note(&mut self, groups: &[PathGroup], comparison: &mut Comparison<'_>) {
        for group in groups {
            let route_paths = if group.paths.routes.is_empty() {
                let complete = group.complete;
                let steps = Vec::new();
                RoutePaths::from(RoutePath { steps, complete })
            } else {
                group.paths.routes.clone()
            };
            let list = &group.paths.ancestors;
            // No request takes a path that is not attached.
            let effective = if group.attached {
                &group.effective
            } else {
                &comparison.nothing
            };
            let on_ancestors = (list.clone(), effective.clone());
            let Some(route) = route_paths.route().cloned() else {
                self.others.push(EffectiveByAncestors {
                    route_paths,
                    ancestor_paths: vec![on_ancestors],
                });
                continue;
            };
            // Most have a single list.
            let of_route = self
                .by_route
                .entry(route)
                .or_insert_with(|| EffectiveByAncestors {
                    route_paths,
                    ancestor_paths: Vec::with_capacity(1),
                });
            if of_route.effective_on(list).is_none() {
                of_route.ancestor_paths.push(on_ancestors);
            }
        }
    }

    /// The paths to all rules of a route that is the same on the other side.
    fn shared(
        &self,
        (route, other): (&ObjectKey, &EffectiveByAncestors),
    ) -> Option<&EffectiveByAncestors> {
        let known = self.by_route.get(route);
        known.filter(|known| known.route_paths.are_of_same_route(&other.route_paths))
    }

    /// The paths that are not shared with the other side.
    fn not_in<'p>(&'p self, other: &'p Self) -> impl Iterator<Item = &'p EffectiveByAncestors> {
        let routes = self.by_route.iter();
        let routes = routes.filter(|of_route| other.shared(*of_route).is_none());
        routes.map(|(_, through)| through).chain(&self.others)
    }
}

// === impl Comparison ===

impl<'a> Comparison<'a> {
    pub(super) fn new(
        kind: &'a GroupKind,
        shut: &'a dyn Fn(&AncestorPath) -> bool,
        endpoints: [EndpointOf<'a>; 2],
        ids: Ids,
    ) -> Self {
        Self {
            kind,
            shut,
            endpoints,
            disjoint: DisjointPaths::default(),
            same: SettingsComparison::default(),
            nothing: Shared::default(),
            ids,
            former_effective: HashMap::default(),
            changes: Vec::new(),
        }
    }

    /// The number of paths that are compared one by one: those that both sides do not share.
    pub(super) fn compared_one_by_one(
        paths_before: &ComparedPaths,
        paths_after: &ComparedPaths,
    ) -> usize {
        let paths = paths_before
            .not_in(paths_after)
            .chain(paths_after.not_in(paths_before))
            .map(|through| {
                let ancestors = through.ancestor_paths.iter().map(|(list, _)| list.len());
                through.route_paths.len() * ancestors.sum::<usize>()
            });
        paths.sum()
    }

    /// The differences. Compares paths that exist on both sides. A route path that loses one ancestor path and gains
    /// another is one change, from the lost to the gained. Ancestor paths that only appear or only disappear are a
    /// change if other objects let the route in or shut it out. Those that appear beside others come with the effective
    /// policies of these, unless one of them has the same settings.
    pub(super) fn finish(
        mut self,
        paths_before: &ComparedPaths,
        paths_after: &ComparedPaths,
    ) -> Vec<EffectiveChange> {
        let (mut before, mut after) = (ByRoutePath::default(), ByRoutePath::default());
        let mut known: HashMap<Sides<'_>, Rc<[EffectivePair]>> = HashMap::default();
        for (route, new) in &paths_after.by_route {
            let Some(old) = paths_before.shared((route, new)) else {
                continue;
            };
            if self.disjoint.have_same_ancestor_paths(old, new) {
                for (list, b) in &new.ancestor_paths {
                    let a = old.effective_on(list).unwrap_or(b);
                    if self.same.settings(a, b) {
                        continue;
                    }
                    let pair = EffectivePair {
                        ancestor_paths: list.clone(),
                        before: a.clone(),
                        after: b.clone(),
                        exists_before_and_after: true,
                        detached: false,
                        no_longer_taken: false,
                        on_replaced_paths: None,
                    };
                    self.change(&new.route_paths, pair);
                }
                continue;
            }
            let name = [&*old.ancestor_paths, &*new.ancestor_paths];
            let pairs = known.get(&name).cloned().unwrap_or_else(|| {
                let (mut a, mut b) = (ByAncestorPath::new(), ByAncestorPath::new());
                old.add_by_ancestor_path(&mut a);
                new.add_by_ancestor_path(&mut b);
                let pairs: Rc<[EffectivePair]> = self.pairs(&a, &b, true, false).into();
                known.insert(name, pairs.clone());
                pairs
            });
            for pair in pairs.iter() {
                self.change(&new.route_paths, pair.clone());
            }
        }
        paths_after
            .not_in(paths_before)
            .for_each(|new| new.spread(&mut after));
        paths_before
            .not_in(paths_after)
            .for_each(|old| old.spread(&mut before));
        self.one_by_one(before, after);
        self.changes
    }

    fn one_by_one(&mut self, mut paths_before: ByRoutePath, paths_after: ByRoutePath) {
        for (route_path, after) in paths_after {
            let before = paths_before.remove(&route_path);
            let exists_before_and_after = before.is_some();
            // Paths that end above the routes are compared Gateway by Gateway: no requests connect them.
            let one_owner = route_path.steps.is_empty();
            let route_paths = RoutePaths::from(vec![route_path]);
            for pair in self.pairs(
                &before.unwrap_or_default(),
                &after,
                exists_before_and_after,
                one_owner,
            ) {
                self.change(&route_paths, pair);
            }
        }
        for (route_path, before) in paths_before {
            let route_paths = RoutePaths::from(vec![route_path]);
            for pair in self.pairs(&before, &ByAncestorPath::new(), false, false) {
                self.change(&route_paths, pair);
            }
        }
    }

    /// The differences on some route paths, by ancestor path. With `one_owner`, a lost path is compared with a gained one
    /// only if both end at the same object.
    fn pairs(
        &mut self,
        before: &ByAncestorPath,
        after: &ByAncestorPath,
        on_both: bool,
        one_owner: bool,
    ) -> Vec<EffectivePair> {
        let mut pairs = Vec::new();
        let detached = is_reached(before) && !after.is_empty() && !is_reached(after);
        let same = &mut self.same;
        let mut note = |ancestor_path: &Rc<AncestorPath>,
                        a: &Shared<EffectivePolicy>,
                        b: Option<&Shared<EffectivePolicy>>,
                        exists_before_and_after| {
            let after = b.unwrap_or(&self.nothing);
            if !same.settings(a, after) {
                pairs.push(EffectivePair {
                    ancestor_paths: vec![ancestor_path.clone()].into(),
                    before: a.clone(),
                    after: after.clone(),
                    exists_before_and_after,
                    detached,
                    no_longer_taken: b.is_none(),
                    on_replaced_paths: None,
                });
            }
        };
        let (mut lost, mut won) = (Vec::new(), Vec::new());
        for (ancestor_path, a) in before {
            match after
                .get(ancestor_path)
                .or_else(|| for_all(ancestor_path, after))
            {
                Some(b) => note(ancestor_path, a, Some(b), on_both),
                None => lost.push((ancestor_path, a)),
            }
        }
        let new = after
            .iter()
            .filter(|(ancestor_path, _)| !before.contains_key(*ancestor_path));
        for (ancestor_path, b) in new {
            match for_all(ancestor_path, before) {
                Some(a) => note(ancestor_path, a, Some(b), on_both),
                None => won.push((ancestor_path, b)),
            }
        }
        let mut paired = renamed(self.endpoints, Alike::Endpoint, &mut lost, &mut won);
        if one_owner {
            paired.extend(renamed(self.endpoints, Alike::Owner, &mut lost, &mut won));
        } else {
            paired.extend(renamed(self.endpoints, Alike::Port, &mut lost, &mut won));
        }
        for (ancestor_path, a, b) in paired {
            note(ancestor_path, a, Some(b), on_both);
        }
        let (mut lost, mut won) = (lost.into_iter(), won.into_iter());
        if one_owner {
            for (ancestor_path, a) in lost.by_ref() {
                let exists_before_and_after = on_both && (self.shut)(ancestor_path);
                note(ancestor_path, a, None, exists_before_and_after);
            }
        }
        let moved = std::cmp::min(lost.len(), won.len());
        for ((old, a), (new, b)) in lost.by_ref().take(moved).zip(won.by_ref()) {
            // A route that is no longer attached has an empty path: report the former one.
            let ancestor_path = if new.steps.is_empty() { old } else { new };
            note(ancestor_path, a, Some(b), on_both);
        }
        for (ancestor_path, a) in lost {
            let exists_before_and_after = on_both && (self.shut)(ancestor_path);
            note(ancestor_path, a, None, exists_before_and_after);
        }
        for (ancestor_path, b) in won {
            // A listener without routes is a target of its own.
            let before = if one_owner { None } else { Some(before) };
            let former = before.and_then(|before| self.on_replaced_paths(before, ancestor_path, b));
            if former.is_some() || !self.same.settings(&self.nothing, b) {
                pairs.push(EffectivePair {
                    ancestor_paths: vec![ancestor_path.clone()].into(),
                    before: self.nothing.clone(),
                    after: b.clone(),
                    exists_before_and_after: on_both && (self.shut)(ancestor_path),
                    detached,
                    no_longer_taken: false,
                    on_replaced_paths: former,
                });
            }
        }
        pairs
    }

    /// The effective policies on the ancestor paths by which requests came before one is gained. `None` if on one of them
    /// nothing was in force, or the same as on the gained one.
    fn on_replaced_paths(
        &mut self,
        before: &ByAncestorPath,
        gained: &AncestorPath,
        after: &Shared<EffectivePolicy>,
    ) -> Option<FormerEffective> {
        if gained.steps.is_empty() {
            return None;
        }
        let mut met: HashSet<&Shared<EffectivePolicy>> = HashSet::default();
        let there = before.iter().filter(|(path, _)| !path.steps.is_empty());
        let each = there.map(|(_, effective)| effective);
        let each: Vec<&Shared<EffectivePolicy>> = each.filter(|one| met.insert(one)).collect();
        let (nothing, same) = (&self.nothing, &mut self.same);
        let mut none_or_same = |effective: &Shared<EffectivePolicy>| {
            same.settings(effective, nothing) || same.settings(effective, after)
        };
        if each.is_empty() || each.iter().any(|effective| none_or_same(effective)) {
            return None;
        }
        let each: Vec<Shared<EffectivePolicy>> = each.into_iter().cloned().collect();
        let known = self.former_effective.entry(each.clone());
        Some(known.or_insert_with(|| self.ids.share(each)).clone())
    }

    fn change(&mut self, route_paths: &RoutePaths, pair: EffectivePair) {
        // Either all paths of a list are complete or none.
        let complete = route_paths
            .first()
            .is_some_and(|route_path| route_path.complete);
        if complete {
            self.changes.push(EffectiveChange {
                paths: PathSet {
                    ancestors: pair.ancestor_paths,
                    routes: route_paths.clone(),
                },
                kind: self.kind.clone(),
                before: pair.before,
                after: pair.after,
                exists_before_and_after: pair.exists_before_and_after,
                detached: pair.detached,
                no_longer_taken: pair.no_longer_taken,
                on_replaced_paths: pair.on_replaced_paths,
            });
        }
    }
}

/// Whether requests arrive by one of these ancestor paths. A route that is not attached has one without steps.
fn is_reached(by_path: &ByAncestorPath) -> bool {
    by_path
        .keys()
        .any(|ancestor_path| !ancestor_path.steps.is_empty())
}

/// Requests from a namespace without an ancestor path of its own take the path for all requests.
fn for_all<'a>(
    ancestor_path: &AncestorPath,
    side: &'a ByAncestorPath,
) -> Option<&'a Shared<EffectivePolicy>> {
    ancestor_path.consumer.as_ref()?;
    let all = AncestorPath {
        steps: ancestor_path.steps.clone(),
        consumer: None,
    };
    side.get(&all)
}
