//! Groups the paths through a subgraph, for one policy kind.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::region::Region;
use super::via::Via;
use super::{Ends, Group, Stack, Survey};
use crate::engine::ids::ObjectKey;
use crate::engine::level::{Level, Step};
use crate::engine::maps::{HashMap, HashSet};
use crate::engine::merge::Own;
use crate::engine::object::{Node, Object};
use crate::engine::profile::{Parent, Profile, ServiceAs};
use crate::engine::topology::{
    Lower, Lowers, Upper, Uppers, backend, through_service, to_backends, to_rules, unaccepted,
};
use crate::engine::work;

/// Ancestor paths that carry the same policies.
#[derive(Clone, Debug)]
struct Way {
    uppers: Uppers,
    /// The conditions for policies further down the path: where requests come from, and which policies are rejected
    /// there.
    via: Via,
    stack: Rc<Stack>,
    has: bool,
    attached: bool,
}

/// Route paths that carry the same policies.
#[derive(Clone, Debug)]
struct End {
    lowers: Lowers,
    stack: Rc<Stack>,
    has: bool,
    complete: bool,
}

impl Survey<'_> {
    /// The paths of a direct kind: the object and its sections. A section that no longer exists carries only the
    /// policies on the whole object.
    pub(super) fn direct(
        &mut self,
        key: &ObjectKey,
        profile: &Profile,
        sections: &BTreeSet<Arc<str>>,
    ) -> Vec<Group> {
        let level = match (*profile.service_as, Level::end_for(&key.gk)) {
            (ServiceAs::Frontend, Level::Port) => Level::Frontend,
            (_, level) => level,
        };
        let whole = Step::new(level, key.whole());
        let of_section = |name: &Arc<str>| Step::new(level, key.section(name.clone()));
        let ends = std::iter::once(vec![whole.clone()]).chain(
            sections
                .iter()
                .map(|name| vec![whole.clone(), of_section(name)]),
        );
        let nothing = self.stacks.nothing();
        ends.map(|steps| {
            let stack = self.stacks.stack(profile, &steps, &Via::default());
            let (stack, effective) = self.stacks.fold(profile, &nothing, &stack, None, None);
            let place = steps.last().map(|step| &step.place);
            let attached = place.is_none_or(|place| unaccepted(self.snapshot, place).is_none());
            let lower = Lower {
                steps,
                complete: true,
            };
            Group {
                ends: Ends {
                    uppers: Rc::from([Rc::default()]),
                    lowers: Lowers::from(lower),
                },
                stack,
                effective,
                complete: true,
                attached,
            }
        })
        .collect()
    }

    pub(super) fn ending_above(
        &mut self,
        key: &ObjectKey,
        profile: &Profile,
        region: &Region,
        groups: &mut Vec<Group>,
    ) {
        let through = region.uppers.iter().filter(|upper| upper.has(key));
        let through: Vec<Rc<Upper>> = through.cloned().collect();
        for way in self.stacked_ways(Some(key), profile, &through) {
            let target = way.uppers.first().and_then(|upper| upper.last());
            let own = target.and_then(|t| self.own(profile, &t.object));
            groups.push(self.ending(profile, way, own.as_ref(), true));
        }
    }

    /// The group of ancestor paths that end above the routes.
    fn ending(&mut self, profile: &Profile, way: Way, own: Option<&Own>, complete: bool) -> Group {
        let nothing = self.stacks.nothing();
        let (stack, effective) = self.stacks.fold(profile, &way.stack, &nothing, own, None);
        Group {
            ends: Ends {
                uppers: way.uppers,
                lowers: Lowers::from(Vec::new()),
            },
            stack,
            effective,
            complete,
            attached: way.attached,
        }
    }

    pub(super) fn through_routes(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        region: &Region,
        end: Level,
        groups: &mut Vec<Group>,
    ) {
        groups.reserve(region.routes.len());
        // Routes that are accepted alike share their list of ancestor paths, and so its stacks.
        let mut known: HashMap<*const Rc<Upper>, Rc<Vec<Way>>> = HashMap::default();
        let mut ends: Vec<End> = Vec::new();
        for (route, ways) in &region.routes {
            if self.is_spent() {
                return;
            }
            let had = groups.len();
            let stacked = || Rc::new(self.stacked_ways(focus, profile, ways));
            let ways = known.entry(ways.as_ptr()).or_insert_with(stacked).clone();
            let (own, kind) = (self.own(profile, &route.key), &route.key.gk);
            let mut of: Option<&Via> = None;
            for way in ways.iter() {
                let via = &way.via;
                if of != Some(via) {
                    ends.clear();
                    self.stacked_lowers((focus, via), profile, route, end, &mut ends);
                    of = Some(via);
                }
                for lower in ends.iter().filter(|lower| way.has || lower.has) {
                    let (stack, effective) = self.stacks.fold(
                        profile,
                        &way.stack,
                        &lower.stack,
                        own.as_ref(),
                        Some(kind),
                    );
                    groups.push(Group {
                        ends: Ends {
                            uppers: way.uppers.clone(),
                            lowers: lower.lowers.clone(),
                        },
                        stack,
                        effective,
                        complete: lower.complete,
                        attached: way.attached,
                    });
                }
            }
            self.spend(groups.len() / work::GROUPS - had / work::GROUPS);
        }
    }

    pub(super) fn without_routes(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        region: &Region,
        end: Level,
        groups: &mut Vec<Group>,
    ) {
        let ways = region.routes.iter().map(|(_, ways)| ways);
        let mut seen: BTreeSet<*const Rc<Upper>> = BTreeSet::new();
        let mut used: BTreeSet<*const Upper> = BTreeSet::new();
        for ways in ways {
            if seen.insert(ways.as_ptr()) {
                used.extend(ways.iter().map(Rc::as_ptr));
            }
        }
        let unused = region
            .uppers
            .iter()
            .filter(|u| !used.contains(&Rc::as_ptr(u)));
        let unused: Vec<Rc<Upper>> = unused
            .filter(|upper| focus.is_none_or(|key| upper.has(key)))
            .cloned()
            .collect();
        for way in self.stacked_ways(focus, profile, &unused) {
            let complete = !*profile.needs_route;
            groups.push(self.ending(profile, way, None, complete));
        }
        if *profile.service_as == ServiceAs::Frontend {
            self.without_clients(focus, profile, region, groups);
        }
        if end < Level::Backend {
            return;
        }
        let lowers = groups.iter().flat_map(|group| group.ends.lowers.iter());
        let reached: BTreeSet<ObjectKey> = lowers
            .flat_map(|lower| &lower.steps)
            .filter(|step| step.level == Level::Backend)
            .map(|step| step.place.object.clone())
            .collect();
        let nothing = self.stacks.nothing();
        for loose in region.backends.difference(&reached) {
            let is_service = loose.gk.is_core("Service");
            // A kind that the profile does not list as a target is outside its topology: only a policy on the object
            // itself can reach it, not one on its Namespace.
            let inside = is_service || profile.effective.value.contains(&loose.gk);
            for lower in backend(self.snapshot, loose, inside) {
                let stack = self.stacks.stack(profile, &lower.steps, &Via::default());
                let own = self.own(profile, loose);
                let (stack, effective) =
                    self.stacks
                        .fold(profile, &nothing, &stack, own.as_ref(), None);
                groups.push(Group {
                    complete: lower.complete,
                    ends: Ends {
                        uppers: Rc::from([Rc::default()]),
                        lowers: Lowers::from(lower),
                    },
                    stack,
                    effective,
                    attached: !is_service || !*profile.needs_route,
                });
            }
        }
    }

    /// The paths of Services that clients of a mesh may call, and to which no route is attached.
    fn without_clients(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        region: &Region,
        groups: &mut Vec<Group>,
    ) {
        let steps = groups.iter().flat_map(|group| group.ends.uppers.iter());
        let steps = steps.flat_map(|upper| &upper.steps);
        let reached: HashSet<ObjectKey> = steps.map(|step| step.place.object.clone()).collect();
        for called in &region.backends {
            if self.is_spent() {
                return;
            }
            // Objects of other kinds that are called by name represent only themselves: no Namespace has workloads
            // behind them.
            let ways = if called.gk.is_core("Service") {
                through_service(called, called, &[])
            } else if focus == Some(called) {
                let steps = vec![Step::new(Level::Frontend, called.whole())];
                vec![Rc::new(Upper {
                    steps,
                    consumer: None,
                })]
            } else {
                continue;
            };
            if reached.contains(called) {
                continue;
            }
            self.spend(work::CALLED);
            let needs_route = *profile.needs_route;
            for way in self.stacked_ways(focus, profile, &ways) {
                let way = Way {
                    attached: !needs_route,
                    ..way
                };
                groups.push(self.ending(profile, way, None, !needs_route));
            }
        }
    }

    /// Groups ancestor paths by the policies attached to them, in the order of the paths.
    fn stacked_ways(
        &mut self,
        focus: Option<&ObjectKey>,
        profile: &Profile,
        ways: &[Rc<Upper>],
    ) -> Vec<Way> {
        self.spend(ways.len() / work::GROUPS);
        let mut found: Vec<(Way, Vec<Rc<Upper>>)> = Vec::new();
        let mut index: HashMap<(*const Stack, bool, bool, Via), usize> = HashMap::default();
        for upper in ways {
            let followed = follows(profile, upper);
            let attached = followed && (!upper.steps.is_empty() || !*profile.needs_route);
            let via = self.stacks.via(profile, upper);
            let stack = if followed {
                self.stacks.stack(profile, &upper.steps, &via)
            } else {
                self.stacks.nothing()
            };
            let has = focus.is_none_or(|key| upper.has(key));
            let attached = attached && !self.stacks.is_run_by_others(profile, &upper.steps);
            let alike = (Rc::as_ptr(&stack), has, attached, via.clone());
            let at = *index.entry(alike).or_insert_with(|| {
                let way = Way {
                    uppers: Rc::from([]),
                    attached,
                    via,
                    stack,
                    has,
                };
                found.push((way, Vec::new()));
                found.len() - 1
            });
            if let Some((_, uppers)) = found.get_mut(at) {
                uppers.push(upper.clone());
            }
        }
        let ways = found.into_iter().map(|(way, uppers)| Way {
            uppers: uppers.into(),
            ..way
        });
        ways.collect()
    }

    /// Adds the route paths through a route, grouped by the policies attached to them.
    fn stacked_lowers(
        &mut self,
        (focus, via): (Option<&ObjectKey>, &Via),
        profile: &Profile,
        route: &Arc<Object>,
        end: Level,
        ends: &mut Vec<End>,
    ) {
        let at = self.stacks.at(&route.key);
        // The lookup above returns nothing once the fuel is used up.
        if self.is_spent() || !matches!(route.node, Node::Route { .. }) {
            return;
        }
        let namespace = self.ways_on.namespace(route);
        if end <= Level::Rule && !at.tells_sections(profile) {
            // Then every rule carries the policies on the whole route.
            let lowers = self.ways_on.to_rules(&namespace, route);
            let through = (&namespace, &**route);
            ends.push(End {
                stack: self.stacks.of_route(profile, &at, through, via),
                has: focus.is_none_or(|key| lowers.may_have(key)),
                complete: !route.delegates(),
                lowers,
            });
            return;
        }
        let ways = if end <= Level::Rule {
            to_rules(&namespace, route)
        } else {
            to_backends(self.snapshot, &namespace, route)
        };
        self.spend(ways.len());
        let mut found: Vec<(End, Vec<Rc<Lower>>)> = Vec::new();
        for lower in ways {
            let stack = self.stacks.stack(profile, &lower.steps, via);
            let has = focus.is_none_or(|key| lower.has(key));
            let complete = lower.complete;
            let same = |(e, _): &&mut (End, Vec<Rc<Lower>>)| {
                Rc::ptr_eq(&e.stack, &stack) && e.has == has && e.complete == complete
            };
            if let Some((_, lowers)) = found.iter_mut().find(same) {
                lowers.push(Rc::new(lower));
                continue;
            }
            let end = End {
                lowers: Lowers::from(Vec::new()),
                stack,
                has,
                complete,
            };
            found.push((end, vec![Rc::new(lower)]));
        }
        ends.extend(found.into_iter().map(|(end, lowers)| End {
            lowers: Lowers::from(lowers),
            ..end
        }));
    }
}

/// Whether controllers of the kind follow routes below the parent of an ancestor path.
pub fn follows(profile: &Profile, upper: &Upper) -> bool {
    let stands_at = |level| upper.steps.iter().any(|step| step.level == level);
    let parent = if stands_at(Level::Frontend) {
        Parent::Service
    } else if stands_at(Level::ListenerSet) {
        Parent::ListenerSet
    } else {
        Parent::Gateway
    };
    profile.parents.is_empty() || profile.parents.contains(&parent)
}
