//! The paths to one target, each with what is in force on it: of one policy kind, or of all of them together.
//!
//! The paths of different kinds end at different levels: at the listener, at the rule, at the backend. For a guardrail about all
//! kinds, the paths of the target are found without policies, as deep as the deepest kind. On each of them, a kind is in
//! force by its own path that is the longest part of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use attache_engine::effective::{PathGroup, Resolver};
use attache_engine::kinds::profile::Class;
use attache_engine::model::ids::{GroupKind, ObjectKey, Place};
use attache_engine::model::level::Level;
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
    /// Whether policies of the only kind act only on their targets.
    pub(crate) is_direct: bool,
}

/// A path, and what is in force on it.
pub(crate) struct JudgedPath<'a> {
    pub(crate) path: GuardedPath<'a>,
    /// The effective target: where the path ends, or the last place of the object itself for all kinds together.
    pub(crate) target: Option<&'a Place>,
    /// Of each kind. Without an entry nothing of a kind is in force.
    pub(crate) in_force: Vec<(&'a GroupKind, &'a PathGroup)>,
    /// Whether requests take the path, or none is needed.
    pub(crate) counts: bool,
}

/// What is in force at the listeners of Gateways and `ListenerSets`, by kind: many targets share them.
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
            if takes_requests(&paths) {
                paths
            } else {
                longest(&of_kinds).unwrap_or(paths)
            }
        });
        if let Some(paths) = &without_policies {
            at_owners.add(resolver, &target.gk, paths, &mut of_kinds);
        }
        Self {
            target: target.clone(),
            without_policies,
            of_kinds,
            is_direct: kind.is_some_and(|kind| is_direct(snapshot, kind)),
        }
    }

    /// The paths, in a fixed order.
    pub(crate) fn paths(&self, snapshot: &Snapshot) -> Vec<JudgedPath<'_>> {
        match (&self.without_policies, self.of_kinds.first()) {
            (Some(groups), _) => self.joined(snapshot, groups),
            (None, Some((kind, groups))) => {
                let paths = groups.iter().flat_map(paths_of);
                let judged = paths.map(|path| JudgedPath {
                    path,
                    target: path.target(),
                    in_force: vec![(kind, path.group)],
                    counts: path.group.attached || self.is_direct || path.takes_requests(),
                });
                judged.collect()
            }
            (None, None) => Vec::new(),
        }
    }

    fn joined<'a>(
        &'a self,
        snapshot: &Snapshot,
        without_policies: &'a [PathGroup],
    ) -> Vec<JudgedPath<'a>> {
        let of_kinds: Vec<(&GroupKind, bool, Parts<'a>)> = self
            .of_kinds
            .iter()
            .map(|(kind, groups)| (kind, is_direct(snapshot, kind), Parts::of(groups)))
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
            let own = path.steps().map(|step| &step.place);
            let own = own.filter(|place| place.object == self.target);
            JudgedPath {
                path,
                target: own.last(),
                in_force: in_force.collect(),
                counts: path.group.attached || path.takes_requests(),
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
            .flat_map(|(_, group)| group.effective.policies())
            .collect()
    }
}

/// Paths by identity.
pub(crate) fn by_id<'a, 'p>(
    paths: &'p [JudgedPath<'a>],
) -> BTreeMap<PathId, &'p [(&'a GroupKind, &'a PathGroup)]> {
    let paths = paths.iter();
    paths
        .map(|judged| (judged.path.id(), &*judged.in_force))
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
    if !own.is_upper() {
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

/// Whether requests take some of these paths.
fn takes_requests(groups: &[PathGroup]) -> bool {
    let mut paths = groups.iter().flat_map(paths_of);
    paths.any(|path| path.group.attached || path.takes_requests())
}

/// The paths of the kind whose paths are longest, of those that requests take: in a mesh, only the kind says at which
/// Gateway requests to a Service arrive.
fn longest(of_kinds: &[(GroupKind, Vec<PathGroup>)]) -> Option<Vec<PathGroup>> {
    let taken = of_kinds.iter().map(|(_, groups)| groups);
    let taken = taken.filter(|groups| takes_requests(groups));
    let length = |groups: &&Vec<PathGroup>| {
        let paths = groups.iter().flat_map(paths_of);
        paths.map(|path| path.steps().count()).max()
    };
    taken.max_by_key(length).cloned()
}

// === impl AtOwners ===

impl AtOwners {
    /// Adds what is in force at the listeners above a target, of kinds whose paths end there.
    pub(crate) fn add(
        &mut self,
        resolver: &mut Resolver<'_>,
        target: &GroupKind,
        paths: &[PathGroup],
        of_kinds: &mut [(GroupKind, Vec<PathGroup>)],
    ) {
        if Level::end_for(target).is_upper() {
            return;
        }
        let snapshot = resolver.snapshot();
        let acts_above = |kind: &GroupKind| {
            let profile = snapshot.profile(kind);
            !is_direct(snapshot, kind) && profile.is_some_and(|profile| profile.end().is_upper())
        };
        let mut owners: Option<BTreeSet<&ObjectKey>> = None;
        for (kind, groups) in of_kinds.iter_mut().filter(|(kind, _)| acts_above(kind)) {
            let owners = owners.get_or_insert_with(|| owners_on(paths));
            for owner in owners.iter() {
                let known = self.0.entry((kind.clone(), (*owner).clone()));
                let known = known.or_insert_with(|| {
                    let groups = resolver.paths_even_without_policies(owner, kind);
                    acting(snapshot, groups)
                });
                groups.extend(known.iter().cloned());
            }
        }
    }
}

/// The Gateways and `ListenerSets` on paths.
fn owners_on(paths: &[PathGroup]) -> BTreeSet<&ObjectKey> {
    let lists = paths.iter().flat_map(|group| group.paths.ancestors.iter());
    let steps = lists.flat_map(|path| &path.steps);
    let owners = steps.filter(|step| matches!(step.level, Level::Gateway | Level::ListenerSet));
    owners.map(|step| &step.place.object).collect()
}

// === impl Parts ===

impl<'a> Parts<'a> {
    fn of(groups: &'a [PathGroup]) -> Self {
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

/// The places of a path at these levels; `None` if it does not have all of them.
fn part<'a>(path: &GuardedPath<'a>, levels: &[Level]) -> Option<Part<'a>> {
    let places = levels.iter().map(|level| path.at(*level));
    Some((places.collect::<Option<Vec<_>>>()?, path.consumer()))
}

/// Whether policies of a kind act only on their targets.
pub(crate) fn is_direct(snapshot: &Snapshot, kind: &GroupKind) -> bool {
    let profile = snapshot.profile(kind);
    profile.is_some_and(|profile| profile.class.value == Class::Direct)
}
