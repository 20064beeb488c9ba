//! The paths to one target, each with the effective policies on it: of one policy kind, or of all
//! kinds together.
//!
//! The paths of different kinds end at different levels: at the listener, at the rule, at the backend. For a guardrail about all
//! kinds, the paths of the target are found without policies, as deep as the deepest kind. On each of them, a kind is in
//! force by its own path that is the longest part of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use attache_engine::effective::protection::requests_fail;
use attache_engine::effective::renames::Renames;
use attache_engine::effective::{PathGroup, Resolver};
use attache_engine::kinds::profile::{Class, ServiceAs};
use attache_engine::merge::EffectivePolicy;
use attache_engine::model::ids::{GroupKind, ObjectKey, Place};
use attache_engine::model::level::Level;
use attache_engine::model::object::is_route;
use attache_engine::model::shared::Shared;
use attache_engine::state::snapshot::Snapshot;

use crate::in_force::acting;
use crate::path::{GuardedPath, PathId, paths_of};

/// The levels that tell paths apart. The others follow from them.
const LEVELS: [Level; 8] = [
    Level::Gateway,
    Level::ListenerSet,
    Level::Listener,
    Level::Frontend,
    Level::Route,
    Level::Rule,
    Level::Backend,
    Level::Port,
];

/// The paths to one target.
pub(crate) struct TargetPaths {
    pub(crate) target: ObjectKey,
    /// The paths without policies; `None` if they are those of the only kind.
    pub(crate) without_policies: Option<Vec<PathGroup>>,
    /// The paths of each kind.
    pub(crate) of_kinds: Vec<(GroupKind, Vec<PathGroup>)>,
    /// Whether requests reach the target, if the only kind is a direct one: its paths do not show
    /// that.
    pub(crate) gets_requests: Option<bool>,
}

/// A path, and the effective policies on it.
pub(crate) struct JudgedPath<'a> {
    pub(crate) path: GuardedPath<'a>,
    /// The last place of the target on it: a rule of the route, a port of the Service.
    pub(crate) target: Option<&'a Place>,
    /// The effective policies, by kind. A kind without an entry has none.
    pub(crate) in_force: Vec<(&'a GroupKind, &'a PathGroup)>,
    /// Whether requests take the path, or none is needed.
    pub(crate) counts: bool,
}

/// The effective policies above a target, by kind: at the listeners of Gateways and `ListenerSets`,
/// and on routes to Services. Many targets share them.
#[derive(Default)]
pub(crate) struct AtOwners(HashMap<(GroupKind, ObjectKey), Vec<PathGroup>>);

/// The paths of one kind, by their places at the levels of [`LEVELS`].
struct Parts<'a> {
    group_at: HashMap<Part<'a>, &'a PathGroup>,
    ending_at: HashMap<&'a Place, &'a PathGroup>,
    /// The levels that the paths have: few different lists. The longest first.
    lists: Vec<Vec<Level>>,
}

/// A part of a path.
type Part<'a> = (Vec<&'a Place>, Option<&'a Arc<str>>);

// === impl TargetPaths ===

impl TargetPaths {
    /// The paths in the state of a resolver, for one kind or for all.
    pub(crate) fn find(
        resolver: &mut Resolver<'_>,
        target: &ObjectKey,
        kind: Option<&GroupKind>,
        at_owners: &mut AtOwners,
    ) -> Self {
        let snapshot = resolver.snapshot();
        let kinds = kinds(snapshot, kind);
        let of_kinds = kinds.into_iter().map(|kind| {
            let groups = resolver.paths_even_without_policies(target, &kind);
            (kind, acting(snapshot, groups))
        });
        let mut of_kinds: Vec<_> = of_kinds.collect();
        let end = deepest(snapshot, of_kinds.iter().map(|(kind, _)| kind));
        let without_policies = kind.is_none().then(|| {
            let paths = of_all_kinds(resolver, target, end);
            if takes_requests(&paths, target) {
                paths
            } else {
                let in_mesh = of_kinds
                    .iter()
                    .filter(|(kind, _)| is_of_mesh(snapshot, kind));
                longest(in_mesh.map(|(_, groups)| groups), target).unwrap_or(paths)
            }
        });
        if let Some(paths) = &without_policies {
            at_owners.add(resolver, &target.gk, paths, &mut of_kinds);
        }
        Self {
            target: target.clone(),
            without_policies,
            of_kinds,
            gets_requests: kind
                .filter(|kind| is_direct(snapshot, kind))
                .map(|_| gets_requests(resolver, target)),
        }
    }

    /// The paths, in a fixed order.
    pub(crate) fn paths(&self, snapshot: &Snapshot) -> Vec<JudgedPath<'_>> {
        let mut paths = self.all_paths(snapshot);
        // Where a rejected policy makes requests fail, none passes that would need a policy.
        let mut known: HashMap<&Shared<EffectivePolicy>, bool> = HashMap::new();
        for judged in &mut paths {
            let route = judged.path.at(Level::Route);
            let mut in_force = judged.in_force.iter();
            judged.counts &= !in_force.any(|(kind, group)| {
                may_fail_requests(snapshot, kind, route)
                    && *known
                        .entry(&group.effective)
                        .or_insert_with(|| requests_fail(snapshot, &group.effective))
            });
        }
        paths
    }

    fn all_paths(&self, snapshot: &Snapshot) -> Vec<JudgedPath<'_>> {
        match (&self.without_policies, self.of_kinds.first()) {
            (Some(groups), _) => self.joined(snapshot, groups),
            (None, Some((kind, groups))) => {
                let paths = groups.iter().flat_map(paths_of);
                let judged = paths.map(|path| JudgedPath {
                    path,
                    target: self.own_place(&path).or_else(|| path.target()),
                    in_force: vec![(kind, path.group)],
                    counts: self
                        .gets_requests
                        .unwrap_or_else(|| counts(&path, &self.target)),
                });
                judged.collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// The last place on a path that is the target or a section of it.
    fn own_place<'a>(&self, path: &GuardedPath<'a>) -> Option<&'a Place> {
        let mut from_the_end = path.steps().rev().map(|step| &step.place);
        from_the_end.find(|place| place.object == self.target)
    }

    fn joined<'a>(
        &'a self,
        snapshot: &Snapshot,
        without_policies: &'a [PathGroup],
    ) -> Vec<JudgedPath<'a>> {
        let of_kinds: Vec<(&GroupKind, bool, Parts<'a>)> = self
            .of_kinds
            .iter()
            .map(|(kind, groups)| (kind, is_direct(snapshot, kind), Parts::from_groups(groups)))
            .collect();
        let paths = without_policies.iter().flat_map(paths_of);
        let judged = paths.map(|path| {
            let in_force = of_kinds.iter().filter_map(|(kind, is_direct, parts)| {
                let group = if *is_direct {
                    parts.of_target(&path, &self.target)
                } else {
                    parts.on(&path)
                };
                Some((*kind, group?))
            });
            JudgedPath {
                path,
                target: self.own_place(&path),
                in_force: in_force.collect(),
                counts: counts(&path, &self.target),
            }
        });
        judged.collect()
    }
}

// === impl JudgedPath ===

impl JudgedPath<'_> {
    /// The policies in force.
    pub(crate) fn policies(&self) -> BTreeSet<ObjectKey> {
        let groups = self.in_force.iter();
        groups
            .flat_map(|(_, group)| group.policies_with_settings())
            .collect()
    }
}

/// Paths by their identity after a change that renames objects.
pub(crate) fn by_later_id<'a, 'p>(
    paths: &'p [JudgedPath<'a>],
    renames: &Renames,
) -> BTreeMap<PathId, &'p [(&'a GroupKind, &'a PathGroup)]> {
    let paths = paths.iter();
    paths
        .map(|judged| (judged.path.id().later(renames), &*judged.in_force))
        .collect()
}

/// The kinds that a guardrail is about: the one that it names, or all that have policies.
pub(crate) fn kinds(snapshot: &Snapshot, kind: Option<&GroupKind>) -> Vec<GroupKind> {
    match kind {
        Some(kind) => vec![kind.clone()],
        None => snapshot.used_kinds().cloned().collect(),
    }
}

/// The deepest level at which paths of these kinds end; rules of routes at least.
pub(crate) fn deepest<'k>(
    snapshot: &Snapshot,
    kinds: impl Iterator<Item = &'k GroupKind>,
) -> Level {
    let ends = kinds
        .filter(|kind| !is_direct(snapshot, kind))
        .filter_map(|kind| snapshot.profile(kind))
        .map(|profile| profile.end());
    ends.fold(Level::Rule, Level::max)
}

/// The paths through a target for all kinds together: as deep as the deepest kind in use, and those to listeners without
/// routes.
fn of_all_kinds(resolver: &mut Resolver<'_>, target: &ObjectKey, deepest: Level) -> Vec<PathGroup> {
    let own = Level::end_for(&target.gk);
    let mut groups = resolver.paths_without_policies(target, own.max(deepest));
    if !own.is_above_routes() {
        return groups;
    }
    let paths = groups.iter().flat_map(paths_of);
    let on_the_way: HashSet<Place> = paths
        .flat_map(|path| path.steps())
        .map(|step| step.place.clone())
        .collect();
    for mut group in resolver.paths_without_policies(target, own) {
        let paths = group.paths.ancestors.iter();
        let without_routes: Vec<_> = paths
            .filter(|path| path.last().is_none_or(|last| !on_the_way.contains(last)))
            .cloned()
            .collect();
        if !without_routes.is_empty() {
            group.paths.ancestors = without_routes.into();
            groups.push(group);
        }
    }
    groups
}

/// Whether requests take a path to a target, or none is needed: policies of a mesh apply to a Service without routes, but not to a
/// route that no listener or Service accepts.
fn counts(path: &GuardedPath<'_>, target: &ObjectKey) -> bool {
    path.takes_requests() || path.group.attached && !is_route(&target.gk)
}

/// Whether some of these paths to a target count.
fn takes_requests(groups: &[PathGroup], target: &ObjectKey) -> bool {
    let mut paths = groups.iter().flat_map(paths_of);
    paths.any(|path| counts(&path, target))
}

/// The paths of the kind with the longest paths, among kinds whose paths requests take. In a mesh,
/// only the kind decides at which Gateway requests to a Service arrive.
fn longest<'a>(
    of_kinds: impl Iterator<Item = &'a Vec<PathGroup>>,
    target: &ObjectKey,
) -> Option<Vec<PathGroup>> {
    let taken = of_kinds.filter(|groups| takes_requests(groups, target));
    let length = |groups: &&Vec<PathGroup>| {
        let paths = groups.iter().flat_map(paths_of);
        paths.map(|path| path.steps().count()).max()
    };
    taken.max_by_key(length).cloned()
}

/// Whether requests reach a target on any path, also through a mesh.
pub(crate) fn gets_requests(resolver: &mut Resolver<'_>, target: &ObjectKey) -> bool {
    let own = Level::end_for(&target.gk);
    let paths = resolver.paths_without_policies(target, own);
    if paths
        .iter()
        .flat_map(paths_of)
        .any(|path| path.takes_requests())
    {
        return true;
    }
    let snapshot = resolver.snapshot();
    let mut kinds = snapshot
        .used_kinds()
        .filter(|kind| is_of_mesh(snapshot, kind));
    kinds.any(|kind| takes_requests(&resolver.paths_even_without_policies(target, kind), target))
}

// === impl AtOwners ===

impl AtOwners {
    /// Adds the effective policies above a target, of kinds whose paths end there: at the
    /// listeners, or on the routes to a Service.
    pub(crate) fn add(
        &mut self,
        resolver: &mut Resolver<'_>,
        target: &GroupKind,
        paths: &[PathGroup],
        of_kinds: &mut [(GroupKind, Vec<PathGroup>)],
    ) {
        let own = Level::end_for(target);
        if own.is_above_routes() {
            return;
        }
        let snapshot = resolver.snapshot();
        let (mut owners, mut routes) = (None, None);
        for (kind, groups) in of_kinds {
            let end = snapshot.profile(kind).map(|profile| profile.end());
            let Some(end) = end.filter(|end| *end < own && !is_direct(snapshot, kind)) else {
                continue;
            };
            let above: &BTreeSet<&ObjectKey> = if end.is_above_routes() {
                owners
                    .get_or_insert_with(|| objects_on(paths, &[Level::Gateway, Level::ListenerSet]))
            } else {
                routes.get_or_insert_with(|| objects_on(paths, &[Level::Route]))
            };
            for object in above {
                let known = self.0.entry((kind.clone(), (*object).clone()));
                let known = known.or_insert_with(|| {
                    let groups = resolver.paths_even_without_policies(object, kind);
                    acting(snapshot, groups)
                });
                groups.extend(known.iter().cloned());
            }
        }
    }
}

/// The objects at these levels of paths.
fn objects_on<'a>(paths: &'a [PathGroup], levels: &[Level]) -> BTreeSet<&'a ObjectKey> {
    let steps = paths
        .iter()
        .flat_map(paths_of)
        .flat_map(|path| path.steps());
    let there = steps.filter(|step| levels.contains(&step.level));
    there.map(|step| &step.place.object).collect()
}

// === impl Parts ===

impl<'a> Parts<'a> {
    fn from_groups(groups: &'a [PathGroup]) -> Self {
        let mut group_at = HashMap::new();
        let mut ending_at = HashMap::new();
        let mut lists: BTreeSet<Vec<Level>> = BTreeSet::new();
        for path in groups.iter().flat_map(paths_of) {
            let levels = LEVELS.into_iter();
            let list: Vec<Level> = levels.filter(|level| path.at(*level).is_some()).collect();
            if let Some(part) = part(&path, &list) {
                group_at.entry(part).or_insert(path.group);
            }
            lists.insert(list);
            if let Some(place) = path.target() {
                ending_at.entry(place).or_insert(path.group);
            }
        }
        let mut lists: Vec<Vec<Level>> = lists.into_iter().collect();
        lists.sort_by_key(|list| std::cmp::Reverse(list.len()));
        Self {
            group_at,
            ending_at,
            lists,
        }
    }

    /// The longest part of a path.
    fn on(&self, path: &GuardedPath<'a>) -> Option<&'a PathGroup> {
        let parts = self.lists.iter().filter_map(|list| part(path, list));
        let mut groups = parts.filter_map(|part| self.group_at.get(&part).copied());
        groups.next()
    }

    /// The policies of a direct kind on the target: on the section through which the path leads, or on the whole.
    fn of_target(&self, path: &GuardedPath<'a>, target: &ObjectKey) -> Option<&'a PathGroup> {
        let own = path.steps().map(|step| &step.place);
        let own = own.filter(|place| place.object == *target);
        let whole_target = target.whole();
        let places: Vec<&Place> = std::iter::once(&whole_target).chain(own).collect();
        let mut places = places.into_iter().rev();
        places.find_map(|place| self.ending_at.get(place).copied())
    }
}

/// The places of a path at these levels, of which several may be at one where routes delegate; `None` if it does not have all of
/// the levels.
fn part<'a>(path: &GuardedPath<'a>, levels: &[Level]) -> Option<Part<'a>> {
    if !levels.iter().all(|level| path.at(*level).is_some()) {
        return None;
    }
    let steps = path.steps().filter(|step| levels.contains(&step.level));
    Some((steps.map(|step| &step.place).collect(), path.consumer()))
}

/// Whether rejected policies of a kind may make requests of a route fail: not where only some settings of the kind apply to the route.
fn may_fail_requests(snapshot: &Snapshot, kind: &GroupKind, route: Option<&Place>) -> bool {
    let profile = snapshot.profile(kind);
    profile.is_some_and(|profile| {
        let has_only_some = |route: &Place| profile.on_routes_of(&route.object.gk).is_some();
        profile.may_fail_requests() && !route.is_some_and(has_only_some)
    })
}

/// Whether policies of a kind apply only to their targets.
pub(crate) fn is_direct(snapshot: &Snapshot, kind: &GroupKind) -> bool {
    let profile = snapshot.profile(kind);
    profile.is_some_and(|profile| profile.class.value == Class::Direct)
}

/// Whether policies of a kind apply to requests to Services also where no route leads there.
fn is_of_mesh(snapshot: &Snapshot, kind: &GroupKind) -> bool {
    let profile = snapshot.profile(kind);
    profile.is_some_and(|profile| {
        *profile.service_as != ServiceAs::Backend && profile.class.value != Class::Direct
    })
}
