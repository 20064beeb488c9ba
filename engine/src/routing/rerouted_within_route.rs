//! Requests that another rule of the same route takes after a change of the route.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Matching;
use super::choose::{Hosts, dialect};
use super::samples::{SampleRequest, meeting, methods};
use super::spec::MatchSpec;
use crate::kinds::profile::RuleOrder;
use crate::model::ids::ObjectKey;
use crate::model::object::{Object, is_route};
use crate::state::snapshot::Snapshot;
use crate::topology::{controller_facts, gateway_of};

/// The most requests that are compared.
const MAX_REQUESTS: usize = 64;

/// The rule that takes requests before a change, the one that takes them after it, and these requests in words.
pub type ReroutedRequests = BTreeMap<(Arc<str>, Arc<str>), BTreeSet<String>>;

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
    let wants = states.iter().flat_map(|(matching, route)| {
        let wants = matching.wants(route).into_iter().flatten();
        wants.filter_map(Result::ok).collect::<Vec<_>>()
    });
    let wants: Vec<MatchSpec> = wants.collect();
    let methods = methods(wants.iter().filter_map(|wants| wants.method.clone()));
    let samples = wants
        .iter()
        .flat_map(|wants| meeting(dialect(new), wants, &methods));
    let hostname = new.hostnames().first().map_or("*", |name| &**name);
    let orders = orders(snapshot, new);
    let mut moved = ReroutedRequests::new();
    for request in samples.take(MAX_REQUESTS) {
        let sample = SampleRequest {
            gateway: new.key.clone(),
            request,
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
    moved
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
