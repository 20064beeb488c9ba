//! Policies that controllers reject because of other objects: routes that share a path, listeners that share a port,
//! backends of one rule. Profiles list these rules (`conflict.rejectedBecause`).

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::attachment::by_controller::{by_its_settings, depends_on_routes_to};
use crate::attachment::cleartext_listeners::PlainListeners;
use crate::attachment::conflict_at_another_target::{self, ConflictsLost, connected, lost};
use crate::attachment::reports::{CombinedAcceptance, ControllerStatus};
use crate::attachment::requests_to_backend::RequestFilter;
use crate::attachment::senders::SendersOfBackends;
use crate::kinds::profile::RejectionCause;
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::maps::HashMap;
use crate::model::object::{Node, Object, is_route};
use crate::model::section;
use crate::policy::Policy;
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ParentAttachment, RouteKindConflicts, all_in_common, gateway_of, intersect, listener_at,
    parent_attachment, parent_attachment_cost, sets_of,
};

mod effect;
mod of_change;

pub use effect::{Rejection, RejectionEffect};

/// Finds policies that are rejected because of other objects. Caches results that several targets
/// or policies share.
#[derive(Debug, Default)]
pub struct RejectionFinder {
    /// The rejections because of a shared path, by policy.
    shared_paths: RefCell<HashMap<ObjectKey, Option<Rejection>>>,
    /// The targets at which a policy loses a conflict, by policy.
    lost_targets: RefCell<HashMap<ObjectKey, ConflictsLost>>,
    /// The rejections of policies on a whole `ListenerSet`, by policy kind and set.
    whole_sets: RefCell<HashMap<(GroupKind, ObjectKey), Option<Rejection>>>,
    /// The rejections because of settings that the routes to a backend decide about, by policy and backend.
    by_routes: RefCell<HashMap<(ObjectKey, ObjectKey), Option<Rejection>>>,
    /// The controllers that send requests to backends.
    senders: SendersOfBackends,
    /// The finder for the state before the change under review, which is what controllers have seen.
    before_change: OnceCell<Box<RejectionFinder>>,
    /// Units of fuel used since [`RejectionFinder::fuel_used`] was last called.
    fuel_used: Cell<usize>,
    /// The fuel limit; `None` for no limit.
    limit: Option<usize>,
}

/// The entry of requests: the Gateway, the port, and a hostname that listener and route have in common.
pub(crate) type RequestEntry = (ObjectKey, u16, Arc<str>);

// === impl RejectionFinder ===

impl RejectionFinder {
    /// An empty cache, with the fuel of one request if it is limited.
    pub fn new(is_limited: bool) -> Self {
        Self {
            limit: is_limited.then_some(fuel::MAX_UNITS),
            ..Self::default()
        }
    }

    /// Why the controllers of a kind reject a policy at one of its targets because of other objects. `None` if they
    /// accept it, or if the status of the policy says that they do.
    pub fn rejection_of(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        self.find(snapshot, policy, target, false)
    }

    /// Like [`RejectionFinder::rejection_of`], only for rejections after which the policy is still
    /// in force in part, or still replaces others.
    pub fn of_attached(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        self.find(snapshot, policy, target, true)
    }

    fn find(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
        only_attached: bool,
    ) -> Option<Rejection> {
        let counts = |cause: &&RejectionCause| !only_attached || cause.leaves_attached();
        let mut causes = policy.profile.rejected_because.iter();
        let is_free = !causes.any(|cause| counts(&cause))
            && policy.profile.references.is_empty()
            && !policy.may_be_reported_invalid()
            && policy.rejected_on(&target.object.gk).next().is_none();
        if is_free {
            return None;
        }
        let counts = |rejection: &Rejection| {
            !only_attached || rejection.effect != RejectionEffect::NotAttached
        };
        if !is_reported_accepted(snapshot, policy) {
            let invalid = self
                .invalid(snapshot, policy, target)
                .or_else(|| reported_invalid(snapshot, policy))
                .filter(counts);
            return invalid.or_else(|| self.rejection_at(snapshot, policy, target).filter(counts));
        }
        if snapshot.observed_by_controllers().is_none() {
            let by_settings = self.by_its_settings(snapshot, policy, target);
            return by_settings.filter(Rejection::is_accepted);
        }
        let rejection = self.by_model(snapshot, policy, target).filter(counts);
        rejection.filter(|rejection| {
            rejection.is_accepted() || self.is_of_change(snapshot, policy, target)
        })
    }

    /// The rejection that follows from the settings of the policy and from other objects, whatever controllers report.
    fn by_model(&self, snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<Rejection> {
        let invalid = self.invalid(snapshot, policy, target);
        invalid.or_else(|| self.rejection_at(snapshot, policy, target))
    }

    /// The rejection because of the settings of the policy itself, or of an object that they name.
    fn invalid(&self, snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<Rejection> {
        let by_settings = self.by_its_settings(snapshot, policy, target);
        by_settings.or_else(|| unresolved(snapshot, policy))
    }

    /// The rejection because of other policies, routes or listeners.
    fn rejection_at(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        let mut causes = policy.profile.rejected_because.iter();
        causes.find_map(|cause| match cause {
            RejectionCause::RoutesSharePath => {
                let known = self.shared_paths.borrow().get(policy.key()).cloned();
                known.unwrap_or_else(|| {
                    let rejection = self.shared_path(snapshot, policy);
                    let mut known = self.shared_paths.borrow_mut();
                    known.insert(policy.key().clone(), rejection.clone());
                    rejection
                })
            }
            RejectionCause::PlainListenersSharePort => self.shared_port(snapshot, policy, target),
            RejectionCause::BackendsOfOneRule => self.mixed_rule(snapshot, policy, target),
            RejectionCause::NamesTargetTwice => named_twice(policy, target),
            RejectionCause::LosesAnotherTarget => self.lost_elsewhere(snapshot, policy, target),
        })
    }

    /// The rejection because of the settings of the policy itself.
    fn by_its_settings(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        let senders = &self.senders;
        if !depends_on_routes_to(policy, &target.object.gk) {
            return by_its_settings(snapshot, senders, policy, target);
        }
        let id = (policy.key().clone(), target.object.clone());
        let mut known = self.by_routes.borrow_mut();
        let rejection = known.entry(id);
        let rejection =
            rejection.or_insert_with(|| by_its_settings(snapshot, senders, policy, target));
        self.charge(senders.fuel_used());
        rejection.clone()
    }

    /// Units of fuel used since the last call.
    pub fn fuel_used(&self) -> usize {
        let before_change = self.before_change.get();
        let before_change = before_change.map_or(0, |finder| finder.fuel_used());
        self.fuel_used.take().saturating_add(before_change)
    }

    fn charge(&self, units: usize) {
        self.fuel_used
            .set(self.fuel_used.get().saturating_add(units));
    }

    /// Whether the fuel is used up. Answers from then on are not valid.
    fn is_spent(&self) -> bool {
        self.limit.is_some_and(|limit| self.fuel_used.get() > limit)
    }

    /// The rejection because a route that the policy does not name shares a path with one that it
    /// names.
    fn shared_path(&self, snapshot: &Snapshot, policy: &Policy) -> Option<Rejection> {
        let named = routes_named(policy);
        let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
        named.iter().find_map(|key| {
            let route = snapshot.get(key)?;
            let Node::Route {
                paths, hostnames, ..
            } = &route.node
            else {
                return None;
            };
            self.charge(parent_attachment_cost(snapshot, route));
            let entries = entries(&mut route_kind_conflicts, route);
            let gateways: BTreeSet<&ObjectKey> =
                entries.iter().map(|(gateway, ..)| gateway).collect();
            let others = gateways
                .into_iter()
                .flat_map(|gateway| routes_of(snapshot, gateway));
            // There may be thousands of routes, so their attachment is resolved only if they may share a path.
            let may_conflict = |other: &Object| match &other.node {
                Node::Route {
                    paths: theirs,
                    hostnames: other_hosts,
                    ..
                } => paths.meet(theirs) && share_a_host(hostnames, other_hosts),
                _ => false,
            };
            for (i, other) in others
                .filter(|other| !named.contains(&other.key))
                .enumerate()
            {
                self.charge(usize::from(i % fuel::SCANNED == 0));
                if self.is_spent() {
                    return None;
                }
                if !may_conflict(other) {
                    continue;
                }
                self.charge(parent_attachment_cost(snapshot, other));
                if !entries.is_disjoint(&self::entries(&mut route_kind_conflicts, other)) {
                    return Some(Rejection {
                        reason: "TargetConflict",
                        effect: RejectionEffect::NotAttached,
                        requests_fail: false,
                        reported: None,
                        message: format!(
                            "{} matches a hostname and a path of {key} too",
                            other.key
                        ),
                    });
                }
            }
            None
        })
    }

    /// The rejection because another plain HTTP listener has the port of the target. A policy on a
    /// whole Gateway covers the listeners of its `ListenerSets` too.
    fn shared_port(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        let plain = || {
            let plain = PlainListeners::around(snapshot, &target.object)?;
            self.charge(plain.len() / fuel::SCANNED);
            Some(plain)
        };
        if target.section.is_some() {
            return plain()?.on_listener(target);
        }
        let set = snapshot.get(&target.object)?;
        if !matches!(set.node, Node::ListenerSet { .. }) {
            return None;
        }
        let (kind, key) = (&policy.key().gk, &set.key);
        let id = (kind.clone(), key.clone());
        if let Some(known) = self.whole_sets.borrow().get(&id) {
            return known.clone();
        }
        let rejection = plain().and_then(|plain| plain.on_set(snapshot, kind, set));
        self.charge(snapshot.policies_naming(key).count() / fuel::FOUND);
        self.whole_sets.borrow_mut().insert(id, rejection.clone());
        rejection
    }

    /// The rejection because an older policy wins the conflict at another target of the policy.
    fn lost_elsewhere(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        if policy.targets.len() < 2 {
            return None;
        }
        if !self.lost_targets.borrow().contains_key(policy.key()) {
            let policies = connected(snapshot, snapshot.policy(policy.key())?);
            self.charge(conflict_at_another_target::cost(&policies));
            if self.is_spent() {
                return None;
            }
            let is_free = |policy: &Policy| {
                let mut causes = policy.profile.rejected_because.iter();
                let shares_path = causes.any(|cause| *cause == RejectionCause::RoutesSharePath)
                    && self.shared_path(snapshot, policy).is_some();
                let has_accepted = || {
                    let seen = snapshot
                        .observed_by_controllers()
                        .map(|seen| (seen, self.before_change()));
                    is_reported_accepted(snapshot, policy)
                        && seen
                            .is_none_or(|(seen, finder)| finder.shared_path(seen, policy).is_some())
                };
                !shares_path || has_accepted()
            };
            let lost = lost(snapshot, &policies, is_free);
            self.lost_targets.borrow_mut().extend(lost);
        }
        let all = self.lost_targets.borrow();
        conflict_at_another_target::rejection(all.get(policy.key())?, target)
    }

    /// The rejection because rules of `HTTPRoutes` send requests both to a Service of the policy and to another one. The policy is in
    /// force for the requests of the other rules.
    fn mixed_rule(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        target: &Place,
    ) -> Option<Rejection> {
        let is_of_policy = |key: &ObjectKey| {
            let object = snapshot.get(key).map(|object| &**object);
            policy.has_target(key, object)
        };
        let using = snapshot.using(&target.object);
        let using = using.filter(|route| route.key.gk.is_gateway_api("HTTPRoute"));
        let (mut message, mut mixed, mut others) = (None, Vec::new(), false);
        for route in using {
            let Node::Route { rules, .. } = &route.node else {
                continue;
            };
            self.charge(1 + route.backends().count() / fuel::FOUND);
            if self.is_spent() {
                return None;
            }
            for (i, rule) in rules.iter().enumerate() {
                let backends = || rule.backends.iter().map(|backend| &backend.object);
                if !backends().any(|key| *key == target.object) {
                    continue;
                }
                let Some(other) =
                    backends().find(|key| key.gk.is_core("Service") && !is_of_policy(key))
                else {
                    others = true;
                    continue;
                };
                message.get_or_insert_with(|| {
                    let route = &route.key;
                    format!(
                        "a rule of {route} also forwards to {other}, which this policy does not target"
                    )
                });
                let label = section::rule_label(route, i);
                mixed.push(RequestFilter {
                    route: Some(route.key.section(label)),
                    parent: None,
                });
            }
        }
        let effect = if others {
            RejectionEffect::WithoutRequests {
                requests: mixed.into(),
                is_accepted: false,
            }
        } else {
            RejectionEffect::NotAttached
        };
        Some(Rejection {
            reason: "Conflicted",
            effect,
            requests_fail: false,
            reported: None,
            message: message?,
        })
    }
}

/// The rejection because of a reference in the settings that cannot be resolved; the first one
/// counts.
fn unresolved(snapshot: &Snapshot, policy: &Policy) -> Option<Rejection> {
    let unresolved = policy.unresolved(snapshot)?;
    Some(Rejection {
        reason: "Invalid",
        effect: match unresolved.left_out {
            Some(path) => RejectionEffect::WithoutSetting(path.into()),
            None => unresolved.field.if_missing?.into(),
        },
        requests_fail: unresolved.requests_fail,
        reported: None,
        message: unresolved.why,
    })
}

/// The rejection because the controllers report that the policy is invalid, if its profile states
/// the effect of such a report.
fn reported_invalid(snapshot: &Snapshot, policy: &Policy) -> Option<Rejection> {
    let reported = policy.reported_invalid(snapshot)?;
    Some(Rejection {
        reason: "Invalid",
        effect: reported.fact.then.into(),
        requests_fail: reported.requests_fail,
        reported: Some(reported.condition),
        message: reported.message,
    })
}

/// The rejection of a target that a policy names twice. Selectors that match the target do not
/// count.
fn named_twice(policy: &Policy, target: &Place) -> Option<Rejection> {
    let own = &policy.key().namespace;
    let entries = policy.targets.iter().filter(|entry| {
        entry.object(own).as_ref() == Some(&target.object) && entry.section == target.section
    });
    (entries.count() > 1).then(|| Rejection {
        reason: "Conflicted",
        effect: RejectionEffect::InForce,
        requests_fail: false,
        reported: None,
        message: format!("it names {target} twice, and is in force nevertheless"),
    })
}

pub(crate) fn is_reported_accepted(snapshot: &Snapshot, policy: &Policy) -> bool {
    policy.object.reported.is_some()
        && ControllerStatus::collect(snapshot, policy).opinion == CombinedAcceptance::Accepted
}

/// The routes that a policy names.
pub(super) fn routes_named(policy: &Policy) -> BTreeSet<ObjectKey> {
    let own = &policy.key().namespace;
    let targets = policy.targets.iter().filter(|target| is_route(&target.gk));
    targets.filter_map(|target| target.object(own)).collect()
}

/// Whether two routes may serve a common host. A route without hostnames serves those of its listeners.
pub(crate) fn share_a_host(one: &[Arc<str>], other: &[Arc<str>]) -> bool {
    let meets = |name: &Arc<str>| other.iter().any(|theirs| intersect(name, theirs));
    one.is_empty() || other.is_empty() || one.iter().any(meets)
}

/// The routes that name a Gateway or one of its `ListenerSets`; sorted by parent.
pub(crate) fn routes_of<'a>(
    snapshot: &'a Snapshot,
    gateway: &'a ObjectKey,
) -> impl Iterator<Item = &'a Arc<Object>> {
    let own = snapshot.naming(gateway);
    let sets = sets_of(snapshot, gateway);
    let of_sets = sets.flat_map(|set| snapshot.naming(&set.key));
    own.chain(of_sets).filter(|object| is_route(&object.key.gk))
}

/// The entries at which requests to a route arrive.
pub(crate) fn entries(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
) -> BTreeSet<RequestEntry> {
    let Node::Route {
        parents, hostnames, ..
    } = &route.node
    else {
        return BTreeSet::new();
    };
    let mut entries = BTreeSet::new();
    for parent in parents {
        let ParentAttachment::Attached(places) =
            parent_attachment(route_kind_conflicts, route, parent)
        else {
            continue;
        };
        let snapshot = route_kind_conflicts.snapshot();
        for place in places {
            let Some(listener) = listener_at(snapshot, &place) else {
                continue;
            };
            let gateway = gateway_of(snapshot, &place.object);
            for host in all_in_common(listener.hostname.as_ref(), hostnames) {
                entries.insert((gateway.clone(), listener.port, host));
            }
        }
    }
    entries
}
