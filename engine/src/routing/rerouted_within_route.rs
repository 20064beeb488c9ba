//! Requests that another rule of the same route takes after a change of the route.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use super::Matching;
use super::Request;
use super::choose::{Hosts, route_protocol};
use super::samples::{SampleRequest, meeting, methods};
use super::spec::MatchSpec;
use crate::kinds::profile::RuleOrder;
use crate::model::ids::ObjectKey;
use crate::model::maps::HashSet;
use crate::model::object::{Object, is_route};
use crate::state::snapshot::Snapshot;
use crate::topology::{controller_facts, gateway_of};

/// The most requests that are compared. A route with as many matches as its CRD allows has fewer.
const MAX_REQUESTS: usize = 512;
/// The most times that a request is compared with a match.
const MAX_COMPARISONS: usize = 1 << 19;

/// Requests that another rule of a route takes after a change.
#[derive(Clone, Debug, Default)]
pub struct ReroutedRequests {
    /// The rule that takes requests before the change, the one that takes them after it, and these requests in words.
    pub moved: BTreeMap<(Arc<str>, Arc<str>), BTreeSet<String>>,
    /// Whether some requests were not compared, because there are too many.
    pub is_cut: bool,
}

/// Both versions of routes that a change updates, with their whole specs, which states do not keep.
#[derive(Clone, Debug, Default)]
pub struct RouteVersions(BTreeMap<ObjectKey, [Arc<Object>; 2]>);

/// The requests, one for each match of two versions of a route, that another rule takes in the newer version. Other routes, which
/// may take them in both, are not looked at. Both versions must have their spec.
pub fn rerouted_within(
    snapshot: &Snapshot,
    old: &Arc<Object>,
    new: &Arc<Object>,
) -> ReroutedRequests {
    let states = [old, new].map(|route| (Matching::new(snapshot, [&**route]), route));
    let taker = |(matching, route): &(Matching<'_>, &Arc<Object>),
                 sample: &SampleRequest,
                 order: RuleOrder| {
        let choice = matching.choose(&sample.request, Hosts::Ignored(order), [*route]);
        let first = choice.matching_rules.first();
        first
            .filter(|_| choice.unknown.is_empty())
            .map(|rule| rule.label.clone())
    };
    let match_spec = states.each_ref().map(|(matching, route)| {
        let match_spec = matching.match_specs(route).into_iter().flatten();
        match_spec
            .filter_map(Result::ok)
            .collect::<Vec<MatchSpec>>()
    });
    let all = || match_spec.iter().flatten();
    let methods = methods(all().filter_map(|match_spec| match_spec.method.clone()));
    let requests = match_spec.each_ref().map(|match_spec| {
        let requests = match_spec.iter();
        let requests =
            requests.flat_map(|match_spec| meeting(route_protocol(new), match_spec, &methods));
        requests.take(MAX_REQUESTS + 1).collect::<Vec<Request>>()
    });
    let requests = most_telling_first(&requests);
    let limit = MAX_REQUESTS.min(MAX_COMPARISONS / all().count().max(1));
    let is_cut = requests.len() > limit;
    let hostname = new.hostnames().first().map_or("*", |name| &**name);
    let orders = orders(snapshot, new);
    let mut moved: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for request in requests.into_iter().take(limit) {
        let sample = SampleRequest {
            gateway: new.key.clone(),
            request: request.clone(),
            hostname: hostname.to_owned(),
        };
        for order in &orders {
            let [before, after] = states.each_ref().map(|state| taker(state, &sample, *order));
            if let (Some(before), Some(after)) = (before, after)
                && before != after
            {
                let requests = moved.entry((before, after)).or_default();
                requests.insert(sample.text());
            }
        }
    }
    ReroutedRequests { moved, is_cut }
}

/// The requests for the matches of two versions, each once: first those for matches that only one version has, of the versions in
/// turn.
fn most_telling_first([old, new]: &[Vec<Request>; 2]) -> Vec<&Request> {
    let [in_old, in_new] = [old, new].map(|requests| requests.iter().collect::<HashSet<_>>());
    let mut only_old = old.iter().filter(|request| !in_new.contains(request));
    let mut only_new = new.iter().filter(|request| !in_old.contains(request));
    let in_turn = iter::from_fn(|| {
        let pair = [only_new.next(), only_old.next()];
        let some = pair.iter().any(Option::is_some);
        some.then_some(pair)
    });
    let in_turn = in_turn.flatten().flatten();
    let common = old.iter().filter(|request| in_new.contains(request));
    let mut known = HashSet::default();
    let mut all: Vec<&Request> = in_turn.chain(common).collect();
    all.retain(|request| known.insert(*request));
    all
}

/// The orders in which the controllers of a route's Gateways try its rules; that of the Gateway API if none is known.
fn orders(snapshot: &Snapshot, route: &Object) -> Vec<RuleOrder> {
    let mut orders: Vec<RuleOrder> = Vec::new();
    for parent in route.parents() {
        let facts = controller_facts(snapshot, gateway_of(snapshot, &parent.object));
        let order = facts.map(|facts| facts.rule_order).unwrap_or_default();
        if !orders.contains(&order) {
            orders.push(order);
        }
    }
    if orders.is_empty() {
        orders.push(RuleOrder::default());
    }
    orders
}

// === impl RouteVersions ===

impl RouteVersions {
    /// The routes that are among the objects before a change and among the applied ones.
    pub fn of_change<'a>(
        before: impl IntoIterator<Item = &'a Object>,
        applied: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        let routes = applied
            .into_iter()
            .filter(|object| is_route(&object.key.gk));
        let routes: BTreeMap<&ObjectKey, &Object> =
            routes.map(|route| (&route.key, route)).collect();
        if routes.is_empty() {
            return Self::default();
        }
        let both = before.into_iter().filter_map(|old| {
            let new = *routes.get(&old.key)?;
            let differ = old.node != new.node;
            differ.then(|| {
                (
                    old.key.clone(),
                    [old, new].map(|route| Arc::new(route.clone())),
                )
            })
        });
        Self(both.collect())
    }

    /// The versions of a route, the older one first.
    pub fn get(&self, route: &ObjectKey) -> Option<&[Arc<Object>; 2]> {
        self.0.get(route)
    }
}
