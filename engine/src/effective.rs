//! Effective policies around an object, path by path.
//!
//! Paths that carry the same policies form one [`PathGroup`], which is merged and reported once. To find them, `subgraph` looks
//! for the routes and ancestor paths around an object, `stacks` for the policies on a path, and `groups` combines both; `applying`,
//! `impact`, `protection` and `traffic` ask the [`Resolver`].

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::attachment::rejection::{Rejection, RejectionFinder};
use crate::attachment::{self, Attachment};
use crate::kinds::profile::{Class, Profile, ServiceAs};
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, ObjectKey, Place, PrehashedBuildHasher};
use crate::model::level::Level;
use crate::model::maps;
use crate::model::shared::{Ids, Shared};
use crate::policy::fuel::{self, Fuel};
use crate::policy::{ListenerFacts, Policy, TargetRef};
use crate::state::snapshot::{Snapshot, namespace_key};
use crate::topology::AncestorPaths;

pub mod applying;
mod arena;
mod gateway_by_label;
mod groups;
pub mod impact;
mod paths;
pub mod protection;
pub mod renames;
mod stacks;
mod subgraph;
pub mod traffic;
mod unreachable_rules;

use arena::Arena;
pub(crate) use gateway_by_label::{gateway_in_front_of, is_excluded, names_same_gateway};
pub use groups::{
    controllers_follow, controllers_follow_parents, has_narrower_listener, narrower_listeners,
};
use paths::RoutePathCache;
pub use paths::{PathScope, PathSet, Routes};
pub use stacks::{PolicyList, Stack, StackLevel};
use stacks::{Stacks, TargetFieldsCache};
use subgraph::{Subgraph, Subgraphs};
pub use unreachable_rules::TakenBy;
use unreachable_rules::UnreachableRules;

/// Paths that carry the same policies of one kind.
#[derive(Clone, Debug)]
pub struct PathGroup {
    /// The paths; without route paths if no route is attached.
    pub paths: PathSet,
    /// The policies attached along the paths.
    pub stack: Shared<Stack>,
    /// The effective policy.
    pub effective: Shared<EffectivePolicy>,
    /// Whether the paths reach effective targets of the kind.
    pub complete: bool,
    /// Whether the paths begin at a listener or a mesh Service whose controller applies policies of the kind to them. Objects
    /// outside the topology (Secrets, virtual kinds) have nothing to be attached to.
    pub attached: bool,
    /// The facts of the listeners that policies of the kind depend on.
    pub listener: ListenerFacts,
}

/// The stack and the effective policy of a group: equal for groups with the same policies and the same result.
pub type StackAndEffective = (Shared<Stack>, Shared<EffectivePolicy>);

/// Resolves effective policies from one snapshot. Looks up each place once.
#[derive(Debug)]
pub struct Resolver<'a> {
    snapshot: &'a Snapshot,
    subgraphs: Subgraphs<'a>,
    subgraph_cache: HashMap<ObjectKey, Rc<Subgraph>, PrehashedBuildHasher>,
    stacks: Stacks<'a>,
    route_path_cache: RoutePathCache,
    target_fields: TargetFieldsCache,
    unreachable_rules: UnreachableRules<'a>,
    /// Shared with the resolvers of other snapshots.
    arena: Arena,
    /// The remaining fuel, shared with its parts.
    fuel: Fuel,
    /// The arguments and the result of the last [`Resolver::paths_with_scope`].
    last: Option<(ObjectKey, GroupKind, PathScope, Rc<[PathGroup]>)>,
    /// A profile of no kind, for paths without policies.
    no_kind: Option<Arc<Profile>>,
}

// === impl Resolver ===

impl<'a> Resolver<'a> {
    /// A resolver without a limit.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self::with_fuel(snapshot, &Fuel::default(), Arena::default())
    }

    fn with_fuel(snapshot: &'a Snapshot, fuel: &Fuel, arena: Arena) -> Self {
        let rejections = Rc::new(RejectionFinder::new(fuel.is_limited()));
        Self {
            snapshot,
            subgraphs: Subgraphs::new(
                snapshot,
                rejections.clone(),
                fuel.clone(),
                arena.ancestors.clone(),
            ),
            subgraph_cache: HashMap::default(),
            stacks: Stacks::new(snapshot, rejections, fuel.clone(), arena.ids.clone()),
            fuel: fuel.clone(),
            route_path_cache: RoutePathCache::default(),
            target_fields: TargetFieldsCache::default(),
            unreachable_rules: UnreachableRules::new(snapshot),
            arena,
            last: None,
            no_kind: None,
        }
    }

    /// A resolver with the fuel of one request. Its cost is the product of settings and distinct paths, and one body
    /// can contain many of both.
    pub fn bounded(snapshot: &'a Snapshot) -> Self {
        Self::with_fuel(snapshot, &Fuel::of_a_request(), Arena::default())
    }

    /// A resolver for another snapshot, whose answers can be compared with those of this one. It is limited if this one
    /// is, with fuel of its own.
    pub fn for_snapshot<'b>(&self, snapshot: &'b Snapshot) -> Resolver<'b> {
        let fuel = if self.is_limited() {
            Fuel::of_a_request()
        } else {
            Fuel::default()
        };
        Resolver::with_fuel(snapshot, &fuel, self.arena.clone())
    }

    /// Whether the fuel is limited.
    pub fn is_limited(&self) -> bool {
        self.fuel.is_limited()
    }

    /// The remaining fuel.
    pub fn fuel_left(&self) -> usize {
        self.fuel.left()
    }

    /// Charges for work done elsewhere.
    pub fn charge(&self, units: usize) {
        self.fuel.spend(units);
    }

    /// Charges for reading a policy's settings, once per policy.
    pub fn charge_reading(&self, policy: &Policy) {
        self.fuel.read(policy);
    }

    /// Whether the fuel is used up. Answers from then on are not valid.
    pub fn is_spent(&self) -> bool {
        self.fuel.is_spent()
    }

    /// The allocator of the ids of its answers.
    pub(crate) fn ids(&self) -> Ids {
        self.arena.ids.clone()
    }

    /// The snapshot that it answers from.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The objects that a target of a policy in namespace `own` names or selects, as [`attachment::targets_of`] finds them;
    /// empty once the fuel is used up.
    pub fn targets_of(&self, own: &Arc<str>, target: &TargetRef) -> Vec<ObjectKey> {
        if self.is_spent() {
            return Vec::new();
        }
        if target.selects() {
            self.charge(self.snapshot.count(&target.gk) / fuel::SCANNED);
        }
        let targets = attachment::targets_of(self.snapshot, own, target);
        self.charge(targets.len() / fuel::FOUND);
        targets
    }

    /// The policies attached to an object and its sections.
    pub fn attached(&mut self, key: &ObjectKey) -> Rc<[Attachment]> {
        self.stacks.at(key).attachments.clone()
    }

    /// The policies attached to an object and its sections. Each comes with the policy for which it is rejected, for
    /// kinds whose policies conflict across sections.
    pub fn attached_and_conflicts(
        &mut self,
        key: &ObjectKey,
    ) -> Vec<(Attachment, Option<ObjectKey>)> {
        let at = self.stacks.at(key);
        let each = at.each();
        each.map(|(attachment, by)| (attachment.clone(), by.cloned()))
            .collect()
    }

    /// The conflict winner: the policy of the same kind for which `policy` is rejected at a place.
    pub fn conflict_winner(&mut self, policy: &Policy, place: &Place) -> Option<ObjectKey> {
        self.stacks.conflict_winner(policy, place)
    }

    /// Why the policy's controllers reject it at a place because of other objects.
    pub fn rejection_at(&self, policy: &Policy, place: &Place) -> Option<Rejection> {
        self.stacks.rejection_at(policy, place)
    }

    /// The kinds of the policies attached to the paths through an object, at the object or above it; sorted.
    pub fn kinds_through(&mut self, key: &ObjectKey) -> BTreeSet<GroupKind> {
        let mut kinds = BTreeSet::new();
        let mut seen: HashSet<ObjectKey, PrehashedBuildHasher> = HashSet::default();
        self.add_kinds(key, &mut seen, &mut kinds);
        if key.gk.is_core("Namespace") {
            return kinds;
        }
        let subgraph = self.subgraph(key);
        let is_backend = Level::is_of_backend(&key.gk);
        if is_backend {
            self.add_kinds(&namespace_key(&key.namespace), &mut seen, &mut kinds);
        }
        let mut lists: maps::HashSet<&AncestorPaths> = maps::HashSet::default();
        for (route, ancestor_paths) in &subgraph.routes {
            // A route that this one delegates to is not above it; the ancestors of that route are.
            if is_backend || route.key == *key {
                self.add_kinds(&route.key, &mut seen, &mut kinds);
                self.add_kinds(&namespace_key(&route.key.namespace), &mut seen, &mut kinds);
            }
            if !lists.insert(ancestor_paths) {
                continue;
            }
            for step in ancestor_paths.iter().flat_map(|path| &path.steps) {
                self.add_kinds(&step.place.object, &mut seen, &mut kinds);
            }
        }
        for step in subgraph
            .ancestor_paths
            .iter()
            .flat_map(|ancestor_path| &ancestor_path.steps)
        {
            self.add_kinds(&step.place.object, &mut seen, &mut kinds);
        }
        kinds
    }

    fn add_kinds(
        &mut self,
        object: &ObjectKey,
        seen: &mut HashSet<ObjectKey, PrehashedBuildHasher>,
        kinds: &mut BTreeSet<GroupKind>,
    ) {
        if seen.contains(object) {
            return;
        }
        seen.insert(object.clone());
        self.stacks.add_kinds(object, kinds);
    }

    /// The Gateways and mesh Services through which requests reach an object; sorted.
    pub fn gateways_of(&mut self, key: &ObjectKey) -> BTreeSet<ObjectKey> {
        self.objects_at(key, &[Level::Gateway, Level::Frontend])
    }

    /// The objects of these levels through which requests reach an object; sorted.
    pub(crate) fn objects_at(&mut self, key: &ObjectKey, levels: &[Level]) -> BTreeSet<ObjectKey> {
        let subgraph = self.subgraph(key);
        let steps = subgraph.above().flat_map(|path| &path.steps);
        let there = steps.filter(|step| levels.contains(&step.level));
        there.map(|step| step.place.object.clone()).collect()
    }

    /// The listeners and mesh Services whose policies apply to requests to an object; sorted.
    pub fn listeners_of(&mut self, key: &ObjectKey) -> BTreeSet<Place> {
        let subgraph = self.subgraph(key);
        let last = subgraph.above().filter_map(|path| path.last());
        last.cloned().collect()
    }

    /// The effective policies of a kind on the paths through an object.
    ///
    /// A direct policy applies only to its target, so its paths are the object and the sections of it.
    pub fn paths_through(&mut self, key: &ObjectKey, kind: &GroupKind) -> Vec<PathGroup> {
        let scope = self.scope(key, kind);
        self.paths_of_scope(key, kind, &scope)
    }

    /// Like [`Resolver::paths_through`], also for an object to which no policy of a direct kind is attached: it is a path
    /// without policies.
    pub fn paths_even_without_policies(
        &mut self,
        key: &ObjectKey,
        kind: &GroupKind,
    ) -> Vec<PathGroup> {
        let mut scope = self.scope(key, kind);
        if scope.end.is_none() && self.snapshot.get(key).is_some() {
            scope.end = Some(Level::Port);
        }
        self.paths_of_scope(key, kind, &scope)
    }

    /// Like [`Resolver::paths_through`], for paths of a given scope. Caches the last answer, because many policies may be
    /// attached to one object.
    pub fn paths_with_scope(
        &mut self,
        key: &ObjectKey,
        kind: &GroupKind,
        scope: &PathScope,
    ) -> Rc<[PathGroup]> {
        if let Some((last, of, known, groups)) = &self.last
            && last == key
            && of == kind
            && known == scope
        {
            return groups.clone();
        }
        let groups: Rc<[PathGroup]> = self.paths_of_scope(key, kind, scope).into();
        self.last = Some((key.clone(), kind.clone(), scope.clone(), groups.clone()));
        groups
    }

    /// Drops the cached answer, which may be large.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Like [`Resolver::paths_with_scope`], without the paths through routes if `routes` contains all routes around the object:
    /// [`Resolver::paths_over_routes`] covers these.
    pub fn paths_without_routes(
        &mut self,
        routes: &Routes,
        key: &ObjectKey,
        kind: &GroupKind,
        scope: &PathScope,
    ) -> Rc<[PathGroup]> {
        let subgraph = self.subgraph(key);
        let profile = self.snapshot.profile(kind).cloned();
        // Paths that continue to backends, or begin there, may not lead through a route at all.
        let ends = |profile: &Arc<Profile>| {
            profile.class.value == Class::Inherited
                && *profile.service_as != ServiceAs::Frontend
                && scope
                    .end
                    .is_some_and(|end| !end.is_above_routes() && end < Level::Backend)
                && subgraph
                    .routes
                    .iter()
                    .all(|(route, _)| routes.contains(&route.key))
        };
        match (profile.filter(ends), scope.end) {
            (Some(profile), Some(end)) => {
                let mut groups = Vec::new();
                self.without_routes(Some(key), &profile, &subgraph, end, &mut groups);
                groups.into()
            }
            _ => self.paths_with_scope(key, kind, scope),
        }
    }

    /// Like [`Resolver::paths_through`], for a scope that may come from another snapshot, so that both can be compared path
    /// by path.
    pub fn paths_of_scope(
        &mut self,
        key: &ObjectKey,
        kind: &GroupKind,
        scope: &PathScope,
    ) -> Vec<PathGroup> {
        let (Some(profile), Some(end)) = (self.snapshot.profile(kind).cloned(), scope.end) else {
            return Vec::new();
        };
        if profile.class.value == Class::Direct {
            return self.direct(key, &profile, &scope.sections);
        }
        self.paths_to(key, &profile, end)
    }

    /// The paths through an object without their policies, down to a level.
    pub fn paths_without_policies(&mut self, key: &ObjectKey, end: Level) -> Vec<PathGroup> {
        let profile = self.no_kind();
        self.paths_to(key, &profile, end)
    }

    /// The paths through any of these routes without their policies, down to a level below the listeners.
    pub fn route_paths_without_policies(&mut self, routes: &Routes, end: Level) -> Vec<PathGroup> {
        let profile = self.no_kind();
        let mut groups = Vec::new();
        let subgraph = self.subgraphs.of_routes(routes);
        self.through_routes(None, &profile, &subgraph, end, &mut groups);
        groups
    }

    fn no_kind(&mut self) -> Arc<Profile> {
        let profile = || Arc::new(Profile::default_of(&GroupKind::core("")));
        self.no_kind.get_or_insert_with(profile).clone()
    }

    fn paths_to(&mut self, key: &ObjectKey, profile: &Profile, end: Level) -> Vec<PathGroup> {
        let subgraph = self.subgraph(key);
        let mut groups = Vec::new();
        if end.is_above_routes() {
            self.groups_above_routes(key, profile, &subgraph, &mut groups);
        } else {
            self.through_routes(Some(key), profile, &subgraph, end, &mut groups);
            self.without_routes(Some(key), profile, &subgraph, end, &mut groups);
        }
        groups
    }

    fn subgraph(&mut self, key: &ObjectKey) -> Rc<Subgraph> {
        if let Some(known) = self.subgraph_cache.get(key) {
            return known.clone();
        }
        let subgraph = Rc::new(self.subgraphs.subgraph_of(key));
        self.subgraph_cache.insert(key.clone(), subgraph.clone());
        subgraph
    }

    /// The effective policies on all paths of a kind through these routes.
    pub fn paths_over_routes(
        &mut self,
        routes: &Routes,
        kind: &GroupKind,
        end: Level,
    ) -> Vec<PathGroup> {
        let Some(profile) = self.snapshot.profile(kind).cloned() else {
            return Vec::new();
        };
        let mut groups = Vec::new();
        if profile.class.value == Class::Inherited && !end.is_above_routes() {
            let subgraph = self.subgraphs.of_routes(routes);
            self.through_routes(None, &profile, &subgraph, end, &mut groups);
        }
        groups
    }

    /// The routes whose paths may contain an object; sorted.
    pub fn routes_of(&mut self, key: &ObjectKey) -> Vec<ObjectKey> {
        let subgraph = self.subgraph(key);
        subgraph
            .routes
            .iter()
            .map(|(route, _)| route.key.clone())
            .collect()
    }

    /// The scope of the paths of a kind through an object.
    ///
    /// For a direct kind: the object and those of its sections that have policies. For others, the kind decides where
    /// paths end. A policy on a backend applies there even if no fact says that the kind reaches that far.
    pub fn scope(&mut self, key: &ObjectKey, kind: &GroupKind) -> PathScope {
        let Some(profile) = self.snapshot.profile(kind).cloned() else {
            return PathScope::default();
        };
        let is_direct = profile.class.value == Class::Direct;
        let is_backend = Level::is_of_backend(&key.gk);
        let unsaid = !profile.effective.is_stated() && *profile.service_as == ServiceAs::Backend;
        let mut path_scope = PathScope {
            end: (!is_direct).then(|| profile.end()),
            sections: BTreeSet::new(),
        };
        if !(is_direct || (is_backend && unsaid)) {
            return path_scope;
        }
        let attachments = self.attached(key);
        let of_kind = attachments.iter();
        for attachment in of_kind.filter(|one| one.policy.key().gk == profile.gk) {
            path_scope.end = Some(Level::Port);
            path_scope.sections.extend(attachment.section.clone());
        }
        path_scope
    }
}
