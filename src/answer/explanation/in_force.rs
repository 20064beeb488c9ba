//! The settings in force for one request: on exactly its Gateway, listener, route, rule and backends.

use std::rc::Rc;
use std::sync::Arc;

use super::PolicyOnRequest;
use crate::answer::EffectiveSettings;
use crate::engine::attachment::permission;
use crate::engine::effective::{PathGroup, Resolver, controllers_follow};
use crate::engine::kinds::profile::{Class, Profile};
use crate::engine::merge::EffectivePolicy as InForce;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::level::{Level, Step};
use crate::engine::model::shared::Shared;
use crate::engine::policy::Policy;
use crate::engine::routing::{Backend, EntryPoint, Served};
use crate::engine::state::snapshot::{Snapshot, namespace_key};
use crate::engine::topology::{
    AncestorPath, PoliciesByHostname, RoutePath, backend, places, through_listeners,
    through_service, to_backends,
};

mod policy_on_path;
mod rejected;
mod split;

use policy_on_path::{PoliciesOnPath, note};
use split::{is_rejected_on, leaves_backends_out};

/// The path of a request through the topology.
pub(super) struct Path {
    /// From the `GatewayClass` to the listener or mesh Service.
    above: AncestorPath,
    /// From the route on: one for each backend that can be used.
    route_paths: Vec<RoutePath>,
    /// The rule that matched.
    rule: Option<Place>,
    /// The namespace of the client.
    from: Option<Arc<str>>,
}

/// The policies on a path, and the effective policies that result from them.
pub(super) struct Settings {
    /// The effective policies, by kind.
    pub(super) effective: Vec<EffectiveSettings>,
    /// The attached policies.
    pub(super) policies: Vec<PolicyOnRequest>,
    /// A rejected policy because of which requests get an error.
    pub(super) failing: Option<ObjectKey>,
}

/// A path as a policy kind sees it, and the path group that holds it.
type GroupedPath<'g> = (&'g PathGroup, Rc<AncestorPath>, Option<Rc<RoutePath>>);

// === impl Path ===

impl Path {
    pub(super) fn new(
        snapshot: &Snapshot,
        entry_point: &EntryPoint,
        taken: &Served,
        from: Option<&str>,
    ) -> Self {
        let rule = taken.rule.as_ref();
        let mut path = Self {
            above: ancestor_path_of(snapshot, entry_point, taken).unwrap_or_default(),
            route_paths: Vec::new(),
            rule: rule.map(|rule| rule.route.section(rule.label.clone())),
            from: from.map(Arc::from),
        };
        let Some(rule) = rule else {
            path.route_paths = service_route_paths(snapshot, taken);
            return path;
        };
        let Some(route) = snapshot.get(&rule.route) else {
            return path;
        };
        path.above.steps.extend(rule.above.iter().cloned());
        let namespace = namespace_key(&route.key.namespace);
        let all = to_backends(snapshot, &namespace, route);
        path.route_paths = all
            .into_iter()
            .filter(|route_path| path.contains_matched_rule(route_path))
            .collect();
        path
    }

    /// Whether a route path leads through the matched rule. True for a route without rules.
    fn contains_matched_rule(&self, route_path: &RoutePath) -> bool {
        let mut rules = route_path.steps.iter().filter(|s| s.level == Level::Rule);
        rules.all(|step| Some(&step.place) == self.rule.as_ref())
    }

    /// Whether an ancestor path of a group is the one of this request. Paths of a kind that ends above the routes do not lead through
    /// routes that delegate. A Service that forwards to its own endpoints is frontend
    /// and backend at once, and each role has its own paths.
    fn is_ancestor_path_of_request(
        &self,
        group: &PathGroup,
        ancestor_path: &AncestorPath,
        end: Option<&RoutePath>,
    ) -> bool {
        let ends_above = group.paths.routes.is_empty() && ancestor_path.delegating().is_empty();
        match (&self.rule, end) {
            (None, Some(_)) => ancestor_path.steps.is_empty(),
            _ => {
                ancestor_path.last() == self.above.last()
                    && (ends_above || ancestor_path.delegating() == self.above.delegating())
            }
        }
    }

    /// The effective policies and the attached policies of this path, by kind.
    pub(super) fn settings(&self, resolver: &mut Resolver<'_>) -> Settings {
        let snapshot = resolver.snapshot();
        let (mut effective, mut outcomes) = (Vec::new(), PoliciesOnPath::new());
        for kind in snapshot.used_kinds() {
            let Some(profile) = snapshot.profile(kind) else {
                continue;
            };
            if profile.class.value == Class::Direct {
                self.direct(resolver, profile, &mut effective, &mut outcomes);
            } else {
                self.inherited(resolver, kind, &mut effective, &mut outcomes);
            }
        }
        self.rejected(resolver, &mut outcomes);
        self.unknown(resolver, &mut outcomes);
        let mut failing = outcomes.iter().filter(|(_, on_path)| {
            let rejected = on_path.rejection.as_ref();
            rejected.is_some_and(|rejected| rejected.requests_fail)
        });
        let failing = failing.next().map(|(key, _)| key.clone());
        let outcomes = outcomes.into_iter();
        let policies =
            outcomes.map(|(key, on_path)| on_path.policy_on_request(&key, resolver.snapshot()));
        Settings {
            policies: policies.collect(),
            effective,
            failing,
        }
    }

    /// The effective policies of a kind on this path, one for each of its ends; an empty one if direct policies apply to some
    /// of its backends only.
    pub(super) fn effective(
        &self,
        resolver: &mut Resolver<'_>,
        profile: &Profile,
        served: &Served,
    ) -> Vec<Shared<InForce>> {
        if profile.class.value == Class::Direct {
            let groups = self.acting(resolver, profile).into_iter();
            let mut effective: Vec<_> = groups.map(|group| group.effective).collect();
            if leaves_backends_out(resolver, profile, served) {
                effective.push(Shared::default());
            }
            return effective;
        }
        let groups = self.groups(resolver, &profile.gk);
        let ends = self.route_path_ends();
        let held = ends.filter_map(|end| self.group_with_path(&groups, end));
        held.map(|(group, ..)| group.effective.clone()).collect()
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        let route_steps = self
            .route_paths
            .iter()
            .flat_map(|route_path| &route_path.steps);
        self.above.steps.iter().chain(route_steps)
    }

    /// The path groups of a kind with direct policies. These apply only to their target: each object and section of the
    /// path is resolved on its own.
    fn acting(&self, resolver: &mut Resolver<'_>, profile: &Profile) -> Vec<PathGroup> {
        let mut acting_groups = Vec::new();
        if !controllers_follow(profile, &self.above)
            || resolver.is_run_by_others(profile, &self.above.steps)
        {
            return acting_groups;
        }
        let mut seen: Vec<&ObjectKey> = Vec::new();
        for step in self.steps() {
            let object = &step.place.object;
            if seen.contains(&object) || !profile.applies_in_role(step.level) {
                continue;
            }
            seen.push(object);
            let sections = self.steps().filter(|s| s.place.object == *object);
            let sections: Vec<&Place> = sections.map(|s| &s.place).collect();
            let groups = resolver.paths_through(object, &profile.gk);
            // A section of the path has its own path group if policies are attached to it.
            let on_way = |group: &&PathGroup| {
                group
                    .target()
                    .is_some_and(|place| place.section.is_some() && sections.contains(&place))
            };
            let is_on_whole =
                |group: &&PathGroup| group.target().is_some_and(|place| place.section.is_none());
            let of_sections: Vec<&PathGroup> = groups.iter().filter(on_way).collect();
            let chosen = if of_sections.is_empty() {
                groups.iter().filter(is_on_whole).collect()
            } else {
                of_sections
            };
            let resolver = &*resolver;
            let acts = |group: &&PathGroup| {
                !group.stack.is_empty()
                    && !is_rejected_on(resolver, group, self.rule.as_ref(), &self.above)
            };
            acting_groups.extend(chosen.into_iter().filter(acts).cloned());
        }
        acting_groups
    }

    /// Direct policies on the objects and sections of the path.
    fn direct(
        &self,
        resolver: &mut Resolver<'_>,
        profile: &Profile,
        effective: &mut Vec<EffectiveSettings>,
        outcomes: &mut PoliciesOnPath,
    ) {
        for group in self.acting(resolver, profile) {
            effective.push(EffectiveSettings::along(
                &profile.gk,
                &group.path(),
                &group.effective,
            ));
            note(&group, outcomes);
        }
    }

    /// The ends of the path. A request to a Service without routes, or to no backend that can be used, has none below the
    /// listener.
    fn route_path_ends(&self) -> impl Iterator<Item = Option<&RoutePath>> {
        let entry_point = (self.route_paths.is_empty() || self.rule.is_none()).then_some(None);
        let below = self.route_paths.iter().map(Some);
        entry_point.into_iter().chain(below)
    }

    /// Inherited policies merge along the path; one effective policy for each of its ends.
    fn inherited(
        &self,
        resolver: &mut Resolver<'_>,
        kind: &GroupKind,
        effective: &mut Vec<EffectiveSettings>,
        outcomes: &mut PoliciesOnPath,
    ) {
        let groups = self.groups(resolver, kind);
        let mut paths_told: Vec<Vec<Place>> = Vec::new();
        for end in self.route_path_ends() {
            let Some((group, ancestor_path, route_path)) = self.group_with_path(&groups, end)
            else {
                continue;
            };
            let path = places(&ancestor_path, route_path.as_deref());
            let names: Vec<Place> = path.iter().map(|place| (*place).clone()).collect();
            if group.stack.is_empty() || paths_told.contains(&names) {
                continue;
            }
            effective.push(EffectiveSettings::along(kind, &path, &group.effective));
            paths_told.push(names);
            note(group, outcomes);
        }
    }

    /// The path groups of a kind that can hold this path.
    fn groups(&self, resolver: &mut Resolver<'_>, kind: &GroupKind) -> Vec<PathGroup> {
        let entry_point = self.above.last().map(|place| place.object.clone());
        let route = self.rule.as_ref().map(|rule| rule.object.clone());
        let Some(object) = route.or_else(|| entry_point.clone()) else {
            return Vec::new();
        };
        let mut scope = resolver.scope(&object, kind);
        if scope.end().is_some_and(Level::is_above_routes) {
            return entry_point.map_or_else(Vec::new, |entry_point| {
                resolver.paths_through(&entry_point, kind)
            });
        }
        // A policy on a backend extends the paths of its kind to the backend.
        for step in self.steps().filter(|step| step.level == Level::Backend) {
            scope = scope.union(resolver.scope(&step.place.object, kind));
        }
        resolver.paths_of_scope(&object, kind, &scope)
    }

    /// The path group that holds this path to one of its ends, and the path as the kind sees it. A path for clients of
    /// the request's namespace goes before the path for all clients.
    fn group_with_path<'g>(
        &self,
        groups: &'g [PathGroup],
        end: Option<&RoutePath>,
    ) -> Option<GroupedPath<'g>> {
        // Nothing of a kind is in force on a path that is incomplete or not attached.
        let acting = groups
            .iter()
            .filter(|group| group.complete && group.attached);
        let candidates = acting.flat_map(|group| {
            let ancestor_paths = group.paths.ancestors.iter().filter(|ancestor_path| {
                self.is_ancestor_path_of_request(group, ancestor_path, end)
            });
            ancestor_paths.filter_map(move |ancestor_path| {
                if group.paths.routes.is_empty() {
                    return Some((group, ancestor_path.clone(), None));
                }
                let mut route_paths = group.paths.routes.iter();
                let route_path = route_paths
                    .find(|route_path| end.is_some_and(|end| is_start(route_path, end)))?;
                Some((group, ancestor_path.clone(), Some(route_path.clone())))
            })
        });
        let candidates: Vec<GroupedPath<'g>> = candidates.collect();
        let from_namespace = |from: Option<&Arc<str>>| {
            let mut each = candidates.iter();
            each.find(|(_, ancestor_path, _)| ancestor_path.consumer.as_ref() == from)
        };
        from_namespace(self.from.as_ref())
            .or_else(|| from_namespace(None))
            .cloned()
    }
}

/// The policies that target a place of a path and may do so.
fn policies_at<'a>(
    snapshot: &'a Snapshot,
    step: &'a Step,
) -> impl Iterator<Item = &'a Arc<Policy>> {
    let Place { object, section } = &step.place;
    let node = snapshot.get(object).map(|object| &**object);
    snapshot.policies_naming(object).filter(move |policy| {
        let own = &policy.key().namespace;
        let mut targets = policy.targets.iter().filter(|target| {
            target.matches(own, object, node)
                && permission(snapshot, policy, target, object).is_attached()
        });
        targets.any(|target| target.section == *section)
            && policy.profile.applies_in_role(step.level)
    })
}

/// The ancestor path of a mesh Service, or of the listener whose policies apply to a request.
fn ancestor_path_of(
    snapshot: &Snapshot,
    entry_point: &EntryPoint,
    taken: &Served,
) -> Option<AncestorPath> {
    let (ancestor_paths, last) = match entry_point {
        EntryPoint::Nowhere | EntryPoint::Gateway { .. } => return None,
        EntryPoint::Listener(listener) => {
            let others = PoliciesByHostname::around(snapshot, &listener.place.object);
            let hostname = taken.rule.as_ref().map(|rule| rule.hostname.as_slice());
            if let (Some(others), Some(hostname)) = (others, hostname)
                && let [path, ..] = &*others.paths(&listener.place, hostname)
            {
                return Some((***path).clone());
            }
            let owner = snapshot.get(&listener.place.object)?;
            let ancestor_paths = through_listeners(snapshot, owner).into_iter();
            let ancestor_paths: Vec<Rc<AncestorPath>> =
                ancestor_paths.map(|(_, path)| path).collect();
            (ancestor_paths, listener.place.clone())
        }
        EntryPoint::Service { service, .. } => {
            (through_service(service, service, &[]), service.whole())
        }
    };
    let fitting = ancestor_paths
        .iter()
        .find(|ancestor_path| ancestor_path.last() == Some(&last));
    fitting.map(|ancestor_path| (**ancestor_path).clone())
}

/// The route paths to a Service that forwards to its own endpoints.
fn service_route_paths(snapshot: &Snapshot, taken: &Served) -> Vec<RoutePath> {
    let to = |to: &Backend| {
        let mut all = backend(snapshot, &to.object, true);
        if let Some(label) = &to.label {
            let port = to.object.section(label.clone());
            all.retain(|route_path| route_path.target() == Some(&port));
        }
        all
    };
    taken.backends.iter().flat_map(to).collect()
}

/// Whether the route path of a kind is a prefix of the whole route path.
fn is_start(route_path: &RoutePath, full_path: &RoutePath) -> bool {
    full_path.steps.starts_with(&route_path.steps)
}
