//! Changes to requests: routes that listeners no longer accept or newly accept, and backends that get no more requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::rerouted_requests::ReroutedRequests;
use super::{Rerouted, States, UnservedRequests};
use crate::answer::named::{Named, named};
use crate::engine::attachment::targets_of;
use crate::engine::effective::Resolver;
use crate::engine::effective::applying::takes_part;
use crate::engine::effective::renames::Renames;
use crate::engine::effective::traffic::{self, OpenedRoutes};
use crate::engine::kinds::profile::WhenRejected;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::statuses;
use crate::engine::topology::RouteKindConflicts;

/// The effect of a change on requests to the remaining routes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Traffic {
    /// Routes that lose their only listener and get no more requests.
    pub detached: Vec<Named>,
    /// Routes that lose one of several listeners.
    pub reduced: Vec<Reduced>,
    /// Listeners that keep their routes and change their port or hostname.
    pub moved: Vec<MovedListener>,
    /// Routes that get requests through listeners that they were not attached to.
    pub gained: Vec<Gained>,
    /// Requests that another rule takes.
    pub rerouted: Vec<Rerouted>,
    /// Requests that a rule took and no rule takes any more, of routes that keep their listeners or are deleted.
    pub not_taken: Vec<UnservedRequests>,
    /// The number of matches whose requests were not compared, because there are too many.
    pub not_compared: usize,
    /// Backends that lose the requests of a route.
    pub backends: Vec<Cut>,
    /// Gateways that no controller serves any more.
    pub unserved: Vec<Unserved>,
    /// Objects whose requests get an error from then on.
    pub failing: Vec<Failing>,
    /// Objects whose requests got an error until then, because a policy was rejected.
    pub answered: Vec<Failing>,
}

/// Objects whose requests get an error because a policy is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failing {
    /// The policy.
    pub policy: Named,
    /// The objects on which it was in force.
    pub objects: Vec<Named>,
}

/// A Gateway whose class does not exist any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unserved {
    /// The Gateway.
    pub gateway: Named,
    /// The `GatewayClass` that it names.
    pub class: Named,
}

/// A listener whose port or hostname changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Moved")]
pub struct MovedListener {
    /// The listener.
    pub listener: Named,
    /// The routes attached to it before and after the change.
    pub routes: Vec<Named>,
    /// Port and hostname before the change.
    pub before: Entry,
    /// Port and hostname after the change.
    pub after: Entry,
    /// The change as a text.
    pub change: String,
}

/// The port and hostname of a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// The port.
    pub port: u16,
    /// The hostname; null for any hostname.
    pub hostname: Option<String>,
}

/// A route that gets requests through listeners that it was not attached to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gained {
    /// The route.
    pub route: Named,
    /// The listeners that it becomes attached to.
    pub listeners: Vec<Named>,
}

/// A route that loses one of several listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reduced {
    /// The route.
    pub route: Named,
    /// The listeners that it is no longer attached to.
    pub listeners: Vec<Named>,
}

/// A backend that loses the requests of a route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cut {
    /// The route.
    pub route: Named,
    /// The backend.
    pub backend: Named,
    /// Why it gets no more requests from the route.
    pub reason: String,
}

/// The effects of a change to these objects on the requests of the routes that stay, and the listeners that it opens to
/// them.
pub(super) fn lost_traffic(
    before: &Snapshot,
    after: &Snapshot,
    objects: &[ObjectKey],
) -> (Traffic, OpenedRoutes) {
    let mut lost = traffic::traffic([before, after], objects, usize::MAX);
    // A route may detach itself by its own change.
    let mut route_kind_conflicts = [before, after].map(RouteKindConflicts::new);
    let is_detached =
        |key: &&ObjectKey| traffic::is_detached(&mut route_kind_conflicts, Renames::NONE, key);
    lost.detached
        .extend(objects.iter().filter(is_detached).cloned());
    let cut = traffic::backends(before, after, objects);
    let traffic = in_words(
        &lost,
        cut,
        [failing(before, after), answered(before, after)],
    );
    (traffic, lost.opened)
}

/// The differences between the requests that routes get in two states, and the listeners by which they get them only in the
/// later one.
pub(in crate::answer) fn between(states: &States<'_>) -> (Traffic, OpenedRoutes) {
    let (before, after, renames) = (states.before, states.after, states.renames);
    let lost = traffic::between(before, after, renames);
    let cut = traffic::backends_between(before, after, renames);
    let traffic = in_words(
        &lost,
        cut,
        [failing(before, after), answered(before, after)],
    );
    (traffic, lost.opened)
}

fn in_words(
    lost: &traffic::Traffic,
    cut: BTreeSet<(ObjectKey, ObjectKey, String)>,
    [failing, answered]: [Vec<Failing>; 2],
) -> Traffic {
    let reduced = lost.reduced.iter().map(|(route, listeners)| Reduced {
        route: Named::from(route),
        listeners: listeners.iter().map(Named::from).collect(),
    });
    let entry = |(port, hostname): &(u16, Option<Arc<str>>)| Entry {
        port: *port,
        hostname: hostname.as_deref().map(str::to_owned),
    };
    let moved = lost.moved.iter().map(|(moved, routes)| MovedListener {
        listener: Named::from(&moved.listener),
        routes: named(routes),
        before: entry(&moved.before),
        after: entry(&moved.after),
        change: moved.to_string(),
    });
    let gained = lost.gained.iter().map(|(route, listeners)| Gained {
        route: Named::from(route),
        listeners: listeners.iter().map(Named::from).collect(),
    });
    let cut = cut.into_iter().map(|(route, backend, reason)| Cut {
        route: Named::from(&route),
        backend: Named::from(&backend),
        reason,
    });
    let unserved = lost.unserved.iter().map(|(gateway, class)| Unserved {
        gateway: Named::from(gateway),
        class: Named::from(class),
    });
    let detached: &BTreeSet<ObjectKey> = &lost.detached;
    Traffic {
        detached: named(detached),
        reduced: reduced.collect(),
        moved: moved.collect(),
        gained: gained.collect(),
        rerouted: Vec::new(),
        not_taken: Vec::new(),
        not_compared: 0,
        backends: cut.collect(),
        unserved: unserved.collect(),
        failing,
        answered,
    }
}

/// The policies of a state because of which requests fail.
fn with_failing_requests(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<Policy>> {
    let may_fail = |kind: &&GroupKind| {
        let profile = snapshot.profile(kind);
        profile.is_some_and(|profile| profile.may_fail_requests())
    };
    let policies = snapshot.used_kinds().filter(may_fail);
    let policies = policies.flat_map(|kind| snapshot.policies(kind));
    policies.filter(|policy| policy.requests_fail(snapshot))
}

/// The policies because of which requests fail only before a change.
fn answered(before: &Snapshot, after: &Snapshot) -> Vec<Failing> {
    let fails_still = |policy: &Policy| {
        let later = after.policy(policy.key());
        later.is_some_and(|later| later.requests_fail(after))
    };
    let answered = with_failing_requests(before).filter(|policy| !fails_still(policy));
    let answered = answered.map(|policy| {
        let own = &policy.key().namespace;
        let targets = policy.targets.iter();
        let objects: BTreeSet<ObjectKey> = targets
            .flat_map(|target| targets_of(before, own, target))
            .filter(|object| after.get(object).is_some())
            .collect();
        Failing {
            policy: Named::from(policy.key()),
            objects: named(&objects),
        }
    });
    answered.filter(|one| !one.objects.is_empty()).collect()
}

/// The policies because of which requests fail only after a change.
fn failing(before: &Snapshot, after: &Snapshot) -> Vec<Failing> {
    let before_it = with_failing_requests(after).filter_map(|policy| before.policy(policy.key()));
    let before_it = before_it.filter(|policy| !policy.requests_fail(before));
    let policies: Vec<&Arc<Policy>> = before_it.collect();
    if policies.is_empty() {
        return Vec::new();
    }
    let mut later = Resolver::new(after);
    let failing = statuses(&mut Resolver::new(before), &policies, |policy, status| {
        let targets = status.targets.iter();
        let objects: BTreeSet<ObjectKey> = targets
            .flat_map(|target| target.effective_targets.objects())
            .filter(|object| after.get(object).is_some())
            // Where only some settings apply, no error takes the place of the others.
            .filter(|object| policy.profile.on_routes_of(&object.gk).is_none())
            .filter(|object| fails_at(&mut later, policy, object))
            .cloned()
            .collect();
        Failing {
            policy: Named::from(policy.key()),
            objects: named(&objects),
        }
    });
    let failing = failing.into_iter();
    failing.filter(|one| !one.objects.is_empty()).collect()
}

/// Whether requests to an object still meet a rejected policy, as far as its kind keeps the place of rejected policies.
fn fails_at(resolver: &mut Resolver<'_>, policy: &Policy, object: &ObjectKey) -> bool {
    let mut references = policy.profile.references.iter();
    let keeps_its_place = references.all(|reference| {
        !reference.requests_fail || reference.if_missing == Some(WhenRejected::KeepsPlace)
    });
    !keeps_its_place || takes_part(resolver, policy.key(), object)
}

impl Traffic {
    /// Adds the effect on single requests. The routes with other listeners that lose requests are
    /// known already.
    pub(in crate::answer) fn add(&mut self, requests: &mut ReroutedRequests) {
        self.rerouted = std::mem::take(&mut requests.rerouted);
        self.not_compared = requests.not_compared;
        let reduced = self.reduced.iter().map(|reduced| &reduced.route);
        let moved = self.moved.iter().flat_map(|moved| &moved.routes);
        let known = self.detached.iter().chain(reduced).chain(moved);
        let known: BTreeSet<&ObjectKey> = known.map(|route| &route.0.object).collect();
        let not_taken = std::mem::take(&mut requests.not_taken).into_iter();
        let not_taken = not_taken.filter(|one| !known.contains(&one.rule.0.object));
        self.not_taken = not_taken.collect();
    }

    /// The changes to routes that fulfil a condition.
    #[must_use]
    pub(in crate::answer) fn within(mut self, is_within: impl Fn(&ObjectKey) -> bool) -> Self {
        let is_within = |named: &Named| is_within(&named.0.object);
        self.detached.retain(&is_within);
        self.reduced.retain(|reduced| is_within(&reduced.route));
        self.gained.retain(|gained| is_within(&gained.route));
        self.rerouted.retain(|rerouted| is_within(&rerouted.to));
        self.not_taken.retain(|one| is_within(&one.rule));
        self.backends.retain(|cut| is_within(&cut.route));
        self.unserved
            .retain(|unserved| is_within(&unserved.gateway));
        for failing in &mut self.failing {
            failing.objects.retain(&is_within);
        }
        self.failing.retain(|failing| !failing.objects.is_empty());
        for answered in &mut self.answered {
            answered.objects.retain(&is_within);
        }
        self.answered
            .retain(|answered| !answered.objects.is_empty());
        for moved in &mut self.moved {
            moved.routes.retain(&is_within);
        }
        self.moved.retain(|moved| !moved.routes.is_empty());
        self
    }

    /// Whether no request changes.
    pub fn is_empty(&self) -> bool {
        self.detached.is_empty()
            && self.reduced.is_empty()
            && self.moved.is_empty()
            && self.gained.is_empty()
            && self.rerouted.is_empty()
            && self.not_taken.is_empty()
            && self.backends.is_empty()
            && self.unserved.is_empty()
            && self.failing.is_empty()
            && self.answered.is_empty()
    }
}
