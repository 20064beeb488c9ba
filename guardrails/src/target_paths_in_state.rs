//! The paths to the targets that a change touches, before or after it.

use std::collections::{BTreeSet, HashMap};

use attache_engine::effective::{PathGroup, Resolver, Routes};
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::level::Level;
use attache_engine::model::object::is_route;

use crate::in_force::acting;
use crate::target_paths::{AtOwners, TargetPaths, gets_requests, is_direct, kinds};

/// The policy kinds that the guardrails are about.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'k> {
    /// One policy kind.
    Kind(&'k GroupKind),
    /// All policy kinds. The paths to routes end at this level, on both sides of a change.
    All(Level),
}

/// The paths before or after the change.
pub(crate) struct TargetPathsInState<'r, 's> {
    pub(crate) resolver: &'r mut Resolver<'s>,
    /// The kind that the guardrails are about; `None` for all.
    kind: Option<&'r GroupKind>,
    /// The paths of all routes, found together, which costs less than one by one; `None` if paths end elsewhere.
    of_routes: Vec<(GroupKind, Option<ByRoute>)>,
    routes_without_policies: Option<ByRoute>,
    at_owners: AtOwners,
}

type ByRoute = HashMap<ObjectKey, Vec<PathGroup>>;

// === impl TargetPathsInState ===

impl<'r, 's> TargetPathsInState<'r, 's> {
    pub(crate) fn new(
        resolver: &'r mut Resolver<'s>,
        scope: Scope<'r>,
        targets: &[&ObjectKey],
    ) -> Self {
        let snapshot = resolver.snapshot();
        let there = targets.iter().copied();
        let there = there.filter(|key| is_route(&key.gk) && snapshot.get(key).is_some());
        let mut routes = Routes::default();
        routes.extend(there);
        let (kind, bare_of_routes) = match scope {
            Scope::Kind(kind) => (Some(kind), None),
            Scope::All(end) => {
                let without_policies = resolver.route_paths_without_policies(&routes, end);
                (None, Some(by_route(without_policies)))
            }
        };
        let kinds = kinds(snapshot, kind);
        let of_kind = |kind: GroupKind| {
            let end = snapshot.profile(&kind).map(|profile| profile.end());
            let end = end.filter(|end| !is_direct(snapshot, &kind) && !end.is_above_routes());
            let groups = end.map(|end| by_route(resolver.paths_over_routes(&routes, &kind, end)));
            (kind, groups)
        };
        let of_routes = kinds.into_iter().map(of_kind).collect();
        Self {
            resolver,
            kind,
            of_routes,
            routes_without_policies: bare_of_routes,
            at_owners: AtOwners::default(),
        }
    }

    /// The paths to a target; each target is asked for once.
    pub(crate) fn paths(&mut self, target: &ObjectKey) -> TargetPaths {
        if !is_route(&target.gk) {
            return TargetPaths::find(self.resolver, target, self.kind, &mut self.at_owners);
        }
        let snapshot = self.resolver.snapshot();
        let mut of_kinds = Vec::with_capacity(self.of_routes.len());
        for (kind, groups_by_route) in &mut self.of_routes {
            let groups = match groups_by_route {
                Some(by_route) => by_route.remove(target).unwrap_or_default(),
                None => self.resolver.paths_even_without_policies(target, kind),
            };
            of_kinds.push((kind.clone(), acting(snapshot, groups)));
        }
        let without_policies = self.routes_without_policies.as_mut();
        let without_policies =
            without_policies.map(|by_route| by_route.remove(target).unwrap_or_default());
        if let Some(paths) = &without_policies {
            let at_owners = &mut self.at_owners;
            at_owners.add(self.resolver, &target.gk, paths, &mut of_kinds);
        }
        TargetPaths {
            target: target.clone(),
            without_policies,
            of_kinds,
            gets_requests: self
                .kind
                .filter(|kind| is_direct(snapshot, kind))
                .map(|_| gets_requests(self.resolver, target)),
        }
    }

    /// The Gateways of a target whose paths do not name them.
    pub(crate) fn gateways(&mut self, target: &ObjectKey) -> BTreeSet<ObjectKey> {
        let snapshot = self.resolver.snapshot();
        if self.kind.is_some_and(|kind| is_direct(snapshot, kind)) {
            self.resolver.gateways_of(target)
        } else {
            BTreeSet::new()
        }
    }
}

fn by_route(groups: Vec<PathGroup>) -> ByRoute {
    let mut by_route = ByRoute::new();
    for group in groups {
        let mut paths = group.paths.routes.iter();
        let route = group.paths.routes.route().or_else(|| {
            // All of them lead through the same route.
            let mut steps = paths.next()?.steps.iter();
            let step = steps.find(|step| step.level == Level::Route)?;
            Some(&step.place.object)
        });
        if let Some(route) = route.cloned() {
            by_route.entry(route).or_default().push(group);
        }
    }
    by_route
}
