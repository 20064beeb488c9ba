//! Groups the paths through a subgraph, for one policy kind: paths that carry the same policies become one [`PathGroup`]. The files
//! below split groups further, or leave policies out, where controllers distinguish paths.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::stacks::{OnRoute, OnRule, PathContext, rules_with_filters};
use super::subgraph::{RulesReached, Subgraph};
use super::{PathGroup, PathSet, Resolver, Stack};
use crate::kinds::profile::{DelegationFile, Parent, Profile, ServiceAs};
use crate::merge::TargetFields;
use crate::model::ids::ObjectKey;
use crate::model::level::{Level, Step};
use crate::model::maps::{HashMap, HashSet};
use crate::model::object::{Node, Object, ParentRef};
use crate::model::section;
use crate::model::shared::Shared;
use crate::policy::ListenerFacts;
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::{delegates, rules_of};
use crate::topology::{
    AncestorPath, AncestorPaths, RoutePath, RoutePaths, backend, to_backends, to_route, to_rules,
    unaccepted,
};

mod ancestor_group;
mod called_services;
mod delegations;
mod group;
mod narrow_listeners;
mod other_controllers;

use ancestor_group::AncestorGroup;
use delegations::{delegating, reaching};
pub use narrow_listeners::{has_narrower_listener, narrower_listeners};

/// Route paths that carry the same policies.
#[derive(Clone, Debug)]
struct RouteGroup {
    route_paths: RoutePaths,
    stack: Shared<Stack>,
    has_focus: bool,
    complete: bool,
    on_rule: OnRule,
}

/// The groups of a list of ancestor paths.
struct KnownGroups {
    groups: Rc<Vec<AncestorGroup>>,
    /// Whether routes delegate on some of the paths.
    delegates: bool,
}

impl Resolver<'_> {
    /// The paths of a direct kind: the object and its sections. A section that no longer exists carries only the
    /// policies on the whole object.
    pub(super) fn direct(
        &mut self,
        key: &ObjectKey,
        profile: &Profile,
        sections: &BTreeSet<Arc<str>>,
    ) -> Vec<PathGroup> {
        let level = match (*profile.service_as, Level::end_for(&key.gk)) {
            (ServiceAs::Frontend, Level::Port) => Level::Frontend,
            (_, level) => level,
        };
        let object_step = Step::new(level, key.whole());
        let of_section = |name: &Arc<str>| Step::new(level, key.section(name.clone()));
        let whole = (!self.has_only_sections(key, sections)).then(|| vec![object_step.clone()]);
        let ends = whole.into_iter().chain(
            sections
                .iter()
                .map(|name| vec![object_step.clone(), of_section(name)]),
        );
        let nothing = self.stacks.nothing();
        let is_run = !self.is_only_behind_others(key, profile)
            && controllers_follow_parents(self.snapshot, profile, key);
        ends.map(|steps| {
            let stack = self.stacks.stack(profile, &steps, &PathContext::default());
            let listener = steps.last().map_or_else(Default::default, |step| {
                self.stacks.listener(profile, &step.place)
            });
            let (stack, effective) = self
                .stacks
                .fold(profile, &nothing, &stack, None, None, listener);
            let place = steps.last().map(|step| &step.place);
            let attached =
                is_run && place.is_none_or(|place| unaccepted(self.snapshot, place).is_none());
            let route_path = RoutePath {
                steps,
                complete: true,
            };
            PathGroup {
                paths: PathSet {
                    ancestors: AncestorPaths::without_steps(),
                    routes: RoutePaths::from(route_path),
                },
                stack,
                effective,
                complete: true,
                attached,
                listener,
            }
        })
        .collect()
    }

    /// Whether these are all the ports of a Service, or all the rules of a route: then no request takes a path to
    /// the object that is not one to a section.
    fn has_only_sections(&self, key: &ObjectKey, sections: &BTreeSet<Arc<str>>) -> bool {
        let Some(object) = self.snapshot.get(key) else {
            return false;
        };
        let labels = match object.node {
            Node::Service { .. } | Node::Route { .. } => section::labels(object),
            _ => return false,
        };
        !labels.is_empty() && labels.iter().all(|label| sections.contains(label))
    }

    pub(super) fn groups_above_routes(
        &mut self,
        key: &ObjectKey,
        profile: &Profile,
        subgraph: &Subgraph,
        groups: &mut Vec<PathGroup>,
    ) {
        let through = subgraph
            .ancestor_paths
            .iter()
            .filter(|ancestor_path| ancestor_path.has(key));
        let through: Vec<Rc<AncestorPath>> = through.cloned().collect();
        for group in self.ancestor_groups(Some(key), profile, &through) {
            let target = group
                .ancestor_paths
                .first()
                .and_then(|ancestor_path| ancestor_path.last());
            let own = target.and_then(|t| self.own(profile, &t.object));
            groups.push(self.group_above_routes(profile, group, own.as_ref(), true));
        }
    }

    /// The group of ancestor paths that end above the routes.
    fn group_above_routes(
        &mut self,
        profile: &Profile,
        group: AncestorGroup,
        own: Option<&TargetFields>,
        complete: bool,
    ) -> PathGroup {
        let nothing = self.stacks.nothing();
        let listener = group.path_context.listener;
        let (stack, effective) =
            self.stacks
                .fold(profile, &group.stack, &nothing, own, None, listener);
        PathGroup {
            paths: PathSet {
                ancestors: group.ancestor_paths,
                routes: RoutePaths::from(Vec::new()),
            },
            stack,
            effective,
            complete,
            attached: group.attached,
            listener,
        }
    }

    pub(super) fn through_routes(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        subgraph: &Subgraph,
        end: Level,
        groups: &mut Vec<PathGroup>,
    ) {
        groups.reserve(subgraph.routes.len());
        // Routes that are accepted alike share their list of ancestor paths, and so its stacks.
        let mut known: HashMap<&AncestorPaths, KnownGroups> = HashMap::default();
        let mut ends: Vec<RouteGroup> = Vec::new();
        let followed: Vec<&DelegationFile> = self.snapshot.delegations().collect();
        let delegating = if followed.is_empty() {
            HashSet::default()
        } else {
            delegating(subgraph)
        };
        for (route, ancestor_paths) in &subgraph.routes {
            if self.is_spent() {
                return;
            }
            let groups_before = groups.len();
            let stacked = || {
                let groups = self.ancestor_groups(focus, profile, ancestor_paths);
                KnownGroups {
                    groups: Rc::new(groups),
                    delegates: ancestor_paths.iter().any(|path| path.is_delegated()),
                }
            };
            let known = known.entry(ancestor_paths).or_insert_with(stacked);
            let of_list = known.groups.clone();
            let delegates = |facts: &&DelegationFile| {
                let mut rules = rules_of(route).iter();
                rules.any(|rule| delegates(facts, rule))
            };
            let ancestor_groups = if known.delegates || followed.iter().any(delegates) {
                self.by_rules_reached(route, of_list)
            } else {
                of_list
            };
            let ancestor_groups = self.without_narrow_listeners(profile, route, ancestor_groups);
            let (own, kind) = (self.own(profile, &route.key), &route.key.gk);
            let mut ends_through: Option<(&PathContext, &RulesReached)> = None;
            for group in ancestor_groups.iter() {
                let to = (&group.path_context, &group.reached);
                // The routes that it delegates to have its paths.
                let ends_nowhere = group.reached.as_ref().is_some_and(Vec::is_empty);
                if ends_nowhere && delegating.contains(&route.key) {
                    continue;
                }
                if ends_through != Some(to) {
                    ends.clear();
                    self.group_route_paths((focus, to), profile, route, end, &mut ends);
                    ends_through = Some(to);
                }
                for route_group in ends
                    .iter()
                    .filter(|route_path| group.has_focus || route_path.has_focus)
                {
                    let on_rule = &route_group.on_rule;
                    let (stack, effective) = self.stacks.fold(
                        profile,
                        &group.stack,
                        &route_group.stack,
                        own.as_ref(),
                        Some(OnRoute {
                            kind,
                            without_backend: on_rule.without_backend,
                        }),
                        group.path_context.listener,
                    );
                    let effective = self.effective_on_rule(profile, effective, on_rule, &route.key);
                    let is_idle = on_rule.without_backend && stack.is_empty();
                    groups.push(PathGroup {
                        paths: PathSet {
                            ancestors: group.ancestor_paths.clone(),
                            routes: route_group.route_paths.clone(),
                        },
                        stack,
                        effective,
                        complete: route_group.complete && !is_idle,
                        attached: group.attached,
                        listener: group.path_context.listener,
                    });
                }
            }
            self.charge(groups.len() / fuel::GROUPS - groups_before / fuel::GROUPS);
        }
    }

    pub(super) fn without_routes(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        subgraph: &Subgraph,
        end: Level,
        groups: &mut Vec<PathGroup>,
    ) {
        let lists: HashSet<&AncestorPaths> =
            subgraph.routes.iter().map(|(_, paths)| paths).collect();
        let used = lists.iter().flat_map(|paths| paths.iter());
        let used: HashSet<&Rc<AncestorPath>> = used.collect();
        let unused = subgraph.ancestor_paths.iter();
        let unused = unused.filter(|path| !used.contains(path));
        let unused: Vec<Rc<AncestorPath>> = unused
            .filter(|ancestor_path| focus.is_none_or(|key| ancestor_path.has(key)))
            .cloned()
            .collect();
        for group in self.ancestor_groups(focus, profile, &unused) {
            let complete = !*profile.needs_route;
            groups.push(self.group_above_routes(profile, group, None, complete));
        }
        if *profile.service_as == ServiceAs::Frontend {
            self.without_clients(focus, profile, subgraph, groups);
        }
        if end < Level::Backend {
            return;
        }
        let route_paths = groups.iter().flat_map(|group| group.paths.routes.iter());
        let reached: BTreeSet<ObjectKey> = route_paths
            .flat_map(|route_path| &route_path.steps)
            .filter(|step| step.level == Level::Backend)
            .map(|step| step.place.object.clone())
            .collect();
        let nothing = self.stacks.nothing();
        for loose in subgraph.backends.difference(&reached) {
            let is_service = loose.gk.is_core("Service");
            // A kind that the profile does not list as a target is outside its topology: only a policy on the object
            // itself can reach it, not one on its Namespace.
            let inside = is_service || profile.effective.value.contains(&loose.gk);
            for route_path in backend(self.snapshot, loose, inside) {
                let stack = self
                    .stacks
                    .stack(profile, &route_path.steps, &PathContext::default());
                let own = self.own(profile, loose);
                let (stack, effective) = self.stacks.fold(
                    profile,
                    &nothing,
                    &stack,
                    own.as_ref(),
                    None,
                    ListenerFacts::default(),
                );
                groups.push(PathGroup {
                    complete: route_path.complete,
                    paths: PathSet {
                        ancestors: AncestorPaths::without_steps(),
                        routes: RoutePaths::from(route_path),
                    },
                    stack,
                    effective,
                    attached: !is_service || !*profile.needs_route,
                    listener: ListenerFacts::default(),
                });
            }
        }
    }

    /// Groups ancestor paths by the policies attached to them, in the order of the paths.
    fn ancestor_groups(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        ancestor_paths: &[Rc<AncestorPath>],
    ) -> Vec<AncestorGroup> {
        self.charge(ancestor_paths.len() / fuel::GROUPS);
        let mut by_stack: Vec<(AncestorGroup, Vec<Rc<AncestorPath>>)> = Vec::new();
        let mut index: HashMap<(Shared<Stack>, bool, bool, PathContext), usize> =
            HashMap::default();
        for ancestor_path in ancestor_paths {
            let followed = controllers_follow(profile, ancestor_path);
            let attached = followed && (!ancestor_path.steps.is_empty() || !*profile.needs_route);
            let path_context = self.stacks.path_context(profile, ancestor_path);
            let stack = if followed {
                self.stacks
                    .stack(profile, &ancestor_path.steps, &path_context)
            } else {
                self.stacks.nothing()
            };
            let has_focus = focus.is_none_or(|key| ancestor_path.has(key));
            let attached = attached && !self.stacks.is_run_by_others(profile, &ancestor_path.steps);
            let alike = (stack.clone(), has_focus, attached, path_context.clone());
            let at = *index.entry(alike).or_insert_with(|| {
                let group = AncestorGroup {
                    ancestor_paths: AncestorPaths::from(Vec::new()),
                    attached,
                    path_context,
                    stack,
                    has_focus,
                    reached: None,
                };
                by_stack.push((group, Vec::new()));
                by_stack.len() - 1
            });
            if let Some((_, paths)) = by_stack.get_mut(at) {
                paths.push(ancestor_path.clone());
            }
        }
        let ancestor_groups = by_stack.into_iter().map(|(group, paths)| AncestorGroup {
            ancestor_paths: self.arena.ancestors.list(paths),
            ..group
        });
        ancestor_groups.collect()
    }

    /// Adds the route paths through a route to the rules that requests reach, grouped by the policies attached to
    /// them.
    fn group_route_paths(
        &mut self,
        (focus, (path_context, reached)): (Option<&ObjectKey>, (&PathContext, &RulesReached)),
        profile: &Profile,
        route: &Arc<Object>,
        end: Level,
        ends: &mut Vec<RouteGroup>,
    ) {
        let at = self.stacks.at(&route.key);
        // The lookup above returns nothing once the fuel is used up.
        if self.is_spent() || !matches!(route.node, Node::Route { .. }) {
            return;
        }
        let namespace = self.route_path_cache.namespace(route);
        let with_filters = rules_with_filters(profile, route);
        let is_uniform = !at.has_section_policies(profile) && with_filters.is_empty();
        if end <= Level::Rule && is_uniform && reached.is_none() {
            // Then every rule carries the policies on the whole route.
            let route_paths = self.route_path_cache.of_route(&namespace, route);
            let through = (&namespace, &**route);
            ends.push(RouteGroup {
                stack: self.stacks.of_route(profile, &at, through, path_context),
                has_focus: focus.is_none_or(|key| route_paths.may_have(key)),
                complete: !route.delegates(),
                on_rule: OnRule::default(),
                route_paths,
            });
            return;
        }
        let all_route_paths = if end <= Level::Rule {
            to_rules(&namespace, route)
        } else {
            to_backends(self.snapshot, &namespace, route)
        };
        let route_paths = match reached {
            Some(rules) => reaching(all_route_paths, rules, to_route(&namespace, route)),
            None => all_route_paths,
        };
        self.charge(route_paths.len());
        let mut by_stack: Vec<(RouteGroup, Vec<Rc<RoutePath>>)> = Vec::new();
        for mut route_path in route_paths {
            let stack = self.stacks.stack(profile, &route_path.steps, path_context);
            let has_focus = focus.is_none_or(|key| route_path.has(key));
            let on_rule = OnRule::at_end(profile, &with_filters, route, &route_path);
            route_path.complete |= on_rule.without_backend;
            let complete = route_path.complete;
            let same = |(e, _): &&mut (RouteGroup, Vec<Rc<RoutePath>>)| {
                e.stack == stack
                    && e.has_focus == has_focus
                    && e.complete == complete
                    && e.on_rule == on_rule
            };
            if let Some((_, same_stack)) = by_stack.iter_mut().find(same) {
                same_stack.push(Rc::new(route_path));
                continue;
            }
            let end = RouteGroup {
                route_paths: RoutePaths::from(Vec::new()),
                stack,
                has_focus,
                complete,
                on_rule,
            };
            by_stack.push((end, vec![Rc::new(route_path)]));
        }
        ends.extend(by_stack.into_iter().map(|(end, route_paths)| RouteGroup {
            route_paths: RoutePaths::from(route_paths),
            ..end
        }));
    }
}

/// Whether controllers of the kind follow one of the parents that a route names; true for other objects.
pub fn controllers_follow_parents(snapshot: &Snapshot, profile: &Profile, key: &ObjectKey) -> bool {
    let Some(Node::Route { parents, .. }) = snapshot.get(key).map(|object| &object.node) else {
        return true;
    };
    let is_own = |parent: &ParentRef| profile.is_parent_and_target(&parent.object.gk);
    let is_misread = |parent: &ParentRef| {
        let is_elsewhere = parent.object.namespace != key.namespace;
        is_elsewhere || parent.section.is_some() || parent.port.is_some()
    };
    let is_followed = |parent: &ParentRef| {
        let kind = Parent::of_kind(&parent.object.gk);
        let counts = kind != Parent::Other || is_own(parent) && !snapshot.lacks(&parent.object);
        profile.parents.contains(&kind) && counts
    };
    // With a reference that cannot be read, the whole route is left out.
    let mut misread = parents.iter().filter(|parent| is_own(parent));
    profile.parents.is_empty() || (parents.iter().any(is_followed) && !misread.any(is_misread))
}

/// Whether controllers of the kind follow routes below the parent of an ancestor path.
pub fn controllers_follow(profile: &Profile, ancestor_path: &AncestorPath) -> bool {
    let is_at = |level| ancestor_path.steps.iter().any(|step| step.level == level);
    let parent = if is_at(Level::Frontend) {
        Parent::Service
    } else if is_at(Level::ListenerSet) {
        Parent::ListenerSet
    } else {
        Parent::Gateway
    };
    profile.parents.is_empty() || profile.parents.contains(&parent)
}
