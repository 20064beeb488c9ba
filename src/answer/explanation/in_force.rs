//! The settings in force for one request: on exactly its Gateway, listener, route, rule and backends.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::{Fate, Standing};
use crate::answer::{Effective, Named};
use crate::engine::attach::reach;
use crate::engine::effective::{Group, Survey};
use crate::engine::ids::{GroupKind, ObjectKey, Place};
use crate::engine::level::{Level, Step};
use crate::engine::matching::{Backend, Front, Taken};
use crate::engine::merge::LeafPath;
use crate::engine::policy::Policy;
use crate::engine::profile::{Class, Profile, ServiceAs};
use crate::engine::reports::{Rejected, Report, is_of_another_target, rejected, rejection};
use crate::engine::rivals::winner;
use crate::engine::snapshot::{Snapshot, namespace_key};
use crate::engine::topology::{
    Lower, Upper, backend, places, through_listeners, through_service, to_backends,
};
use crate::engine::words;

/// The path of a request through the topology.
pub(super) struct Path {
    /// From the `GatewayClass` to the listener or mesh Service.
    upper: Upper,
    /// From the route on: one for each backend that can be used.
    lowers: Vec<Lower>,
    /// The rule that matched.
    rule: Option<Place>,
    /// The namespace of the client.
    from: Option<Arc<str>>,
}

/// Everything found about one policy.
#[derive(Default)]
struct Found {
    at: BTreeSet<Place>,
    survives: bool,
    conflicted: bool,
    /// The report by which its controllers reject it.
    report: Option<Report>,
    by: BTreeSet<ObjectKey>,
    lost: BTreeSet<LeafPath>,
}

/// A path as a policy kind sees it, and the path group that holds it.
type Held<'g> = (&'g Group, Rc<Upper>, Option<Rc<Lower>>);
type Standings = BTreeMap<ObjectKey, Found>;

// === impl Path ===

impl Path {
    pub(super) fn new(
        snapshot: &Snapshot,
        front: &Front,
        taken: &Taken,
        from: Option<&str>,
    ) -> Self {
        let rule = taken.rule.as_ref();
        let mut path = Self {
            upper: upper(snapshot, front).unwrap_or_default(),
            lowers: Vec::new(),
            rule: rule.map(|rule| rule.route.section(rule.label.clone())),
            from: from.map(Arc::from),
        };
        let Some(rule) = rule else {
            path.lowers = straight(snapshot, taken);
            return path;
        };
        let Some(route) = snapshot.get(&rule.route) else {
            return path;
        };
        let namespace = namespace_key(&route.key.namespace);
        let all = to_backends(snapshot, &namespace, route);
        path.lowers = all.into_iter().filter(|lower| path.leads(lower)).collect();
        path
    }

    /// Whether a route path leads through the matched rule. True for a route without rules.
    fn leads(&self, lower: &Lower) -> bool {
        let mut rules = lower.steps.iter().filter(|s| s.level == Level::Rule);
        rules.all(|step| Some(&step.place) == self.rule.as_ref())
    }

    /// Whether an ancestor path is the one of this request. A Service that forwards to its own endpoints is frontend
    /// and backend at once, and each role has its own paths.
    fn comes(&self, upper: &Upper, end: Option<&Lower>) -> bool {
        match (&self.rule, end) {
            (None, Some(_)) => upper.steps.is_empty(),
            _ => upper.last() == self.upper.last(),
        }
    }

    /// The effective policies and the attached policies of this path, by kind.
    pub(super) fn settings(&self, survey: &mut Survey<'_>) -> (Vec<Effective>, Vec<Standing>) {
        let snapshot = survey.snapshot();
        let (mut found, mut standings) = (Vec::new(), Standings::new());
        for kind in snapshot.used_kinds() {
            let Some(profile) = snapshot.profile(kind) else {
                continue;
            };
            if profile.class.value == Class::Direct {
                self.direct(survey, profile, &mut found, &mut standings);
            } else {
                self.inherited(survey, kind, &mut found, &mut standings);
            }
        }
        self.rejected(survey, &mut standings);
        let standings = standings.into_iter();
        (
            found,
            standings
                .map(|(key, found)| found.told(&key, survey.snapshot()))
                .collect(),
        )
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        let lowers = self.lowers.iter().flat_map(|lower| &lower.steps);
        self.upper.steps.iter().chain(lowers)
    }

    /// Direct policies act only on their target: each object and section of the path is resolved on its own.
    fn direct(
        &self,
        survey: &mut Survey<'_>,
        profile: &Profile,
        found: &mut Vec<Effective>,
        standings: &mut Standings,
    ) {
        let mut seen: Vec<&ObjectKey> = Vec::new();
        for step in self.steps() {
            let object = &step.place.object;
            if seen.contains(&object) || !plays(step.level, profile) {
                continue;
            }
            seen.push(object);
            let sections = self.steps().filter(|s| s.place.object == *object);
            let sections: Vec<&Place> = sections.map(|s| &s.place).collect();
            let groups = survey.through(object, &profile.gk);
            let last = |group: &Group| {
                let lower = group.ends.lowers.first().and_then(|lower| lower.target());
                lower.cloned()
            };
            // A section of the path has its own path group if policies are attached to it.
            let on_way = |group: &&Group| {
                let place = last(group);
                place.is_some_and(|place| place.section.is_some() && sections.contains(&&place))
            };
            let whole = |group: &&Group| last(group).is_some_and(|place| place.section.is_none());
            let of_sections: Vec<&Group> = groups.iter().filter(on_way).collect();
            let chosen = if of_sections.is_empty() {
                groups.iter().filter(whole).collect()
            } else {
                of_sections
            };
            for group in chosen {
                if !group.stack.is_empty() {
                    found.push(Effective::along(
                        &profile.gk,
                        &group.path(),
                        &group.effective,
                    ));
                    note(group, standings);
                }
            }
        }
    }

    /// Inherited policies merge along the path; one effective policy for each of its ends.
    fn inherited(
        &self,
        survey: &mut Survey<'_>,
        kind: &GroupKind,
        found: &mut Vec<Effective>,
        standings: &mut Standings,
    ) {
        let groups = self.groups(survey, kind);
        let entrance = (self.lowers.is_empty() || self.rule.is_none()).then_some(None);
        let ends = entrance.into_iter().chain(self.lowers.iter().map(Some));
        let mut told: Vec<Vec<Place>> = Vec::new();
        for end in ends {
            let Some((group, upper, lower)) = self.one_of(&groups, end) else {
                continue;
            };
            let path = places(&upper, lower.as_deref());
            let names: Vec<Place> = path.iter().map(|place| (*place).clone()).collect();
            if group.stack.is_empty() || told.contains(&names) {
                continue;
            }
            found.push(Effective::along(kind, &path, &group.effective));
            told.push(names);
            note(group, standings);
        }
    }

    /// The path groups of a kind that can hold this path.
    fn groups(&self, survey: &mut Survey<'_>, kind: &GroupKind) -> Vec<Group> {
        let entrance = self.upper.last().map(|place| place.object.clone());
        let route = self.rule.as_ref().map(|rule| rule.object.clone());
        let Some(object) = route.or_else(|| entrance.clone()) else {
            return Vec::new();
        };
        let mut shape = survey.shape(&object, kind);
        if shape.end().is_some_and(Level::is_upper) {
            return entrance.map_or_else(Vec::new, |entrance| survey.through(&entrance, kind));
        }
        // A policy on a backend extends the paths of its kind to the backend.
        for step in self.steps().filter(|step| step.level == Level::Backend) {
            shape = shape.or(survey.shape(&step.place.object, kind));
        }
        survey.shaped(&object, kind, &shape)
    }

    /// The path group that holds this path to one of its ends, and the path as the kind sees it. A path for clients of
    /// the request's namespace goes before the path for all clients.
    fn one_of<'g>(&self, groups: &'g [Group], end: Option<&Lower>) -> Option<Held<'g>> {
        // Nothing of a kind is in force on a path that is incomplete or not attached.
        let acting = groups
            .iter()
            .filter(|group| group.complete && group.attached);
        let ways = acting.flat_map(|group| {
            let uppers = group
                .ends
                .uppers
                .iter()
                .filter(|upper| self.comes(upper, end));
            uppers.filter_map(move |upper| {
                if group.ends.lowers.is_empty() {
                    return Some((group, upper.clone(), None));
                }
                let mut lowers = group.ends.lowers.iter();
                let lower = lowers.find(|lower| end.is_some_and(|end| is_start(lower, end)))?;
                Some((group, upper.clone(), Some(lower.clone())))
            })
        });
        let ways: Vec<Held<'g>> = ways.collect();
        let of = |from: Option<&Arc<str>>| {
            let mut ways = ways.iter();
            ways.find(|(_, upper, _)| upper.consumer.as_ref() == from)
        };
        of(self.from.as_ref()).or_else(|| of(None)).cloned()
    }

    /// Adds the policies on this path that lose a conflict, and those that controllers reject.
    fn rejected(&self, survey: &mut Survey<'_>, standings: &mut Standings) {
        for step in self.steps() {
            for (stand, rival) in survey.stands_and_rivals(&step.place.object) {
                let here = stand.section == step.place.section;
                let Some(rival) = rival.filter(|_| here) else {
                    continue;
                };
                if !plays(step.level, &stand.policy.profile) {
                    continue;
                }
                let found = standings.entry(stand.policy.key().clone()).or_default();
                found.at.insert(step.place.clone());
                found.conflicted = true;
                found.by.insert(rival);
            }
            self.rejected_by_controllers(survey.snapshot(), step, standings);
        }
    }

    /// Adds the policies that target a place of this path and that their controllers reject.
    fn rejected_by_controllers(&self, snapshot: &Snapshot, step: &Step, standings: &mut Standings) {
        let object = &step.place.object;
        let policies = snapshot.standing(object);
        for policy in policies.filter(|policy| policy.object.reported.is_some()) {
            let own = &policy.key().namespace;
            let meta = snapshot.get(object).map(|object| &object.meta);
            let mut targets = policy.targets.iter().filter(|target| {
                target.matches(own, object, meta)
                    && reach(snapshot, policy, target, object).is_attached()
            });
            let is_here = targets.any(|target| target.section == step.place.section);
            let is_rejected = match rejected(snapshot, policy) {
                Rejected::Nowhere => false,
                _ if is_of_another_target(snapshot, policy, object) => false,
                Rejected::Through(places) => {
                    let mut steps = self.upper.steps.iter();
                    steps.any(|step| places.contains(&step.place))
                }
                Rejected::Everywhere => true,
            };
            if !is_here || !is_rejected || !plays(step.level, &policy.profile) {
                continue;
            }
            if let Some(report) = rejection(snapshot, policy) {
                let found = standings.entry(policy.key().clone()).or_default();
                found.at.insert(step.place.clone());
                found.report = Some(report);
            }
        }
    }
}

/// The ancestor path of a listener or mesh Service.
fn upper(snapshot: &Snapshot, front: &Front) -> Option<Upper> {
    let (uppers, last) = match front {
        Front::Nowhere | Front::Gateway { .. } => return None,
        Front::Listener(listener) => {
            let owner = snapshot.get(&listener.place.object)?;
            let uppers = through_listeners(snapshot, owner).into_iter();
            let uppers: Vec<Rc<Upper>> = uppers.map(|(_, way)| way).collect();
            (uppers, listener.place.clone())
        }
        Front::Service { service, .. } => (through_service(service, service, &[]), service.whole()),
    };
    let found = uppers.iter().find(|upper| upper.last() == Some(&last));
    found.map(|upper| (**upper).clone())
}

/// The route paths to a Service that forwards to its own endpoints.
fn straight(snapshot: &Snapshot, taken: &Taken) -> Vec<Lower> {
    let to = |to: &Backend| {
        let mut all = backend(snapshot, &to.object, true);
        if let Some(label) = &to.label {
            let port = to.object.section(label.clone());
            all.retain(|lower| lower.target() == Some(&port));
        }
        all
    };
    taken.backends.iter().flat_map(to).collect()
}

/// Whether the route path of a kind is a prefix of the whole route path.
fn is_start(lower: &Lower, whole: &Lower) -> bool {
    whole.steps.starts_with(&lower.steps)
}

/// Whether policies of the kind act on a Service in this role (design 9, ruling 22).
fn plays(level: Level, profile: &Profile) -> bool {
    match level {
        Level::Frontend => *profile.service_as == ServiceAs::Frontend,
        Level::Backend | Level::Port => *profile.service_as == ServiceAs::Backend,
        _ => true,
    }
}

fn note(group: &Group, standings: &mut Standings) {
    for level in group.stack.iter() {
        for policy in level.policies.iter() {
            let found = standings.entry(policy.key().clone()).or_default();
            found.at.insert(level.step.place.clone());
            found.note(policy, &level.policies, group);
        }
    }
}

// === impl Found ===

impl Found {
    fn note(&mut self, policy: &Policy, here: &[Arc<Policy>], group: &Group) {
        if let Some(winner) = winner(here, policy) {
            self.conflicted = true;
            self.by.insert(winner.key().clone());
            return;
        }
        let fate = group.fate(policy);
        self.survives |= fate.survives;
        self.by.extend(fate.by());
        self.lost.extend(fate.lost.into_keys());
    }

    fn told(self, key: &ObjectKey, snapshot: &Snapshot) -> Standing {
        let state = match (self.survives, self.lost.is_empty()) {
            (true, false) => Fate::PartiallyEnforced,
            (false, _) if self.report.is_some() => Fate::Rejected,
            (false, _) if self.conflicted => Fate::Conflicted,
            // A policy without settings has none to lose.
            (_, true) => Fate::Enforced,
            (false, false) => Fate::Overridden,
        };
        let lost = if state == Fate::PartiallyEnforced {
            self.lost.iter().map(|path| words::field(path)).collect()
        } else {
            Vec::new()
        };
        Standing {
            policy: Named::from(key),
            at: self.at.iter().map(Named::from).collect(),
            state,
            by: self.by.iter().map(Named::from).collect(),
            lost,
            reason: self
                .report
                .map(|report| format!("its controller reports {report}")),
            caveats: snapshot.policy(key).map_or_else(Vec::new, |policy| {
                policy.caveats(snapshot).map(str::to_owned).collect()
            }),
        }
    }
}
