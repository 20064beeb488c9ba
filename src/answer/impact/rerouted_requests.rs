//! Requests that another rule takes after a change, and the protections that they lose with it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::LostProtection;
use super::request_losses::{RequestProtectionLoss, Side, losses, lost_filter};
use crate::answer::named::Named;
use crate::engine::effective::impact::is_there;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::object::{Node, Object, is_route};
use crate::engine::routing::{
    EntryPoint, MatchResult, MatchedRule, Matching, Outcome, SampleRequest, methods,
};
use crate::engine::state::snapshot::Snapshot;
use crate::engine::topology::delegation::delegated_to;
use crate::engine::topology::{RouteKindConflicts, listener_owners_around};

/// The most requests that are compared.
const MAX_REQUESTS: usize = 500;
/// The most routes that all these requests are matched against: a request is matched against all routes of its Gateway.
const MOST_ROUTES: usize = 200_000;

/// The most pairs of routes whose matches are compared.
const MOST_PAIRS: usize = 20_000;

/// Requests that another rule takes after the change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rerouted {
    /// The rule that takes them after the change.
    pub to: Named,
    /// The rule that takes them before.
    pub from: Named,
    /// One request for each match, in words: `shop.example.com/admin`.
    pub requests: Vec<String>,
}

/// Requests that no rule takes any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NotTaken")]
pub struct UnservedRequests {
    /// The rule that takes them before the change; the route as a whole if the change deletes it.
    pub rule: Named,
    /// One request for each match and port, in words: `shop.example.com:443/admin`.
    pub requests: Vec<String>,
}

/// The effect of a change on the requests that the matches of routes describe.
#[derive(Debug, Default)]
pub(in crate::answer) struct ReroutedRequests {
    /// Those that another rule takes.
    pub(in crate::answer) rerouted: Vec<Rerouted>,
    /// Those that no rule takes any more.
    pub(in crate::answer) not_taken: Vec<UnservedRequests>,
    /// The protections that they lose.
    pub(in crate::answer) lost: Vec<LostProtection>,
    /// The number of further requests, which are not compared because there are too many.
    pub(in crate::answer) not_compared: usize,
}

/// The listener and the rule that take a request, and the backends that may get it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServingRule {
    listener: Place,
    rule: Place,
    backends: Vec<BackendPort>,
}

/// A backend, the port in its reference, and the label of that port.
type BackendPort = (ObjectKey, Option<u16>, Option<Arc<str>>);

/// The rule that takes requests after the change, and the protection that they lose.
type LostKey = (Place, RequestProtectionLoss);

/// Compares which rules take the requests of routes before and after a change of `objects`.
pub(in crate::answer) fn requests(
    [before, after]: [&Matching<'_>; 2],
    objects: &[ObjectKey],
) -> ReroutedRequests {
    let (samples, not_compared) = samples([before, after], objects);
    let mut side_before = Side::new(before);
    let mut side_after = Side::new(after);
    let mut rerouted: BTreeMap<(Place, Place), BTreeSet<String>> = BTreeMap::new();
    let mut not_taken: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    let mut lost: BTreeMap<LostKey, BTreeMap<Place, BTreeSet<String>>> = BTreeMap::new();
    for sample in samples {
        let Some((old, taken_before)) = side_before.serving_rule(&sample) else {
            continue;
        };
        let Some((new, taken_after)) = side_after.serving_rule(&sample) else {
            let stays = after.snapshot().get(&old.rule.object).is_some();
            let taker = if stays {
                old.rule
            } else {
                old.rule.object.whole()
            };
            let requests = not_taken.entry(taker).or_default();
            requests.insert(sample.words_with_port());
            continue;
        };
        if old == new {
            continue;
        }
        let words = sample.text();
        // Requests that no backend gets any more lose no protection.
        let is_answered = new.backends.is_empty() && !old.backends.is_empty();
        let losses = if is_answered {
            Vec::new()
        } else {
            let mut losses = losses(
                &mut side_before,
                &taken_before,
                &mut side_after,
                &taken_after,
            );
            losses.extend(lost_filter(
                [before, after],
                &mut side_after.resolver,
                [&old.rule, &new.rule],
            ));
            losses
        };
        for loss in losses {
            let from = lost.entry((new.rule.clone(), loss)).or_default();
            let requests = from.entry(old.rule.clone()).or_default();
            requests.insert(words.clone());
        }
        let is_same = || {
            let takers = [(&old, &taken_before), (&new, &taken_after)];
            is_renamed([before, after], &old.rule, &new.rule) || is_moved([before, after], takers)
        };
        if old.rule != new.rule && !is_same() {
            let pair = rerouted.entry((new.rule, old.rule)).or_default();
            pair.insert(words);
        }
    }
    let rerouted = rerouted.into_iter().map(|((to, from), requests)| Rerouted {
        to: Named::from(&to),
        from: Named::from(&from),
        requests: requests.into_iter().collect(),
    });
    let lost = lost
        .into_iter()
        .map(|((object, loss), from)| loss.into_lost_protection(&object, &from));
    let not_taken = not_taken
        .into_iter()
        .map(|(rule, requests)| UnservedRequests {
            rule: Named::from(&rule),
            requests: requests.into_iter().collect(),
        });
    ReroutedRequests {
        rerouted: rerouted.collect(),
        not_taken: not_taken.collect(),
        lost: lost.collect(),
        not_compared,
    }
}

/// A request for each match of the routes that the change concerns, in either state, and the number of matches that are
/// left out because there are too many.
fn samples(states: [&Matching<'_>; 2], objects: &[ObjectKey]) -> (Vec<SampleRequest>, usize) {
    let mut samples = Vec::new();
    let mut known: HashSet<SampleRequest> = HashSet::new();
    let (mut work, mut left_out) = (0_usize, 0_usize);
    let methods = methods_of(states, objects);
    let mut route_kind_conflicts =
        states.map(|matching| RouteKindConflicts::new(matching.snapshot()));
    for (matching, route_kind_conflicts) in states.into_iter().zip(&mut route_kind_conflicts) {
        let snapshot = matching.snapshot();
        let mut routes_of: BTreeMap<ObjectKey, usize> = BTreeMap::new();
        let concerned = concerned(snapshot, objects).into_iter();
        for route in concerned.filter_map(|route| snapshot.get(&route)) {
            if samples.len() >= MAX_REQUESTS || work >= MOST_ROUTES {
                left_out += matching.match_specs(route).into_iter().flatten().count();
                continue;
            }
            for sample in matching
                .sampled(route_kind_conflicts, route)
                .samples(&methods)
            {
                if !known.insert(sample.clone()) {
                    continue;
                }
                let routes = routes_of.entry(sample.gateway.clone());
                work += *routes.or_insert_with(|| snapshot.below(&sample.gateway).count());
                samples.push(sample);
            }
        }
    }
    for (matching, route_kind_conflicts) in states.into_iter().zip(&mut route_kind_conflicts) {
        left_out += shared(matching, route_kind_conflicts, objects, &mut |sample| {
            if known.insert(sample.clone()) {
                samples.push(sample);
            }
            samples.len() < MAX_REQUESTS
        });
    }
    (samples, left_out)
}

/// Passes on the requests that meet a match of a changed route and one of another route: which of them takes these may change
/// though the matches of the other one stay. Returns how many changed routes were not compared with all others, because there are
/// too many.
fn shared<'a>(
    matching: &Matching<'a>,
    route_kind_conflicts: &mut RouteKindConflicts<'a>,
    objects: &[ObjectKey],
    add: &mut impl FnMut(SampleRequest) -> bool,
) -> usize {
    let (mut compared, mut left_out) = (0_usize, 0_usize);
    for route in changed_routes(matching, objects) {
        if compared >= MOST_PAIRS {
            left_out += 1;
            continue;
        }
        let own = matching.sampled(route_kind_conflicts, route);
        for other in matching.neighbours(route) {
            if compared >= MOST_PAIRS {
                left_out += 1;
                break;
            }
            compared += 1;
            for sample in matching.shared_samples(route_kind_conflicts, (route, &own), &other) {
                if !add(sample) {
                    return left_out + 1;
                }
            }
        }
    }
    left_out
}

/// The changed routes that a state has.
fn changed_routes<'m>(
    matching: &'m Matching<'_>,
    objects: &'m [ObjectKey],
) -> impl Iterator<Item = &'m Arc<Object>> {
    let routes = objects.iter().filter(|key| is_route(&key.gk));
    routes.filter_map(|key| matching.snapshot().get(key))
}

/// The methods that matches of changed routes name in either state, and one that none of them names; none if they name
/// none.
fn methods_of(states: [&Matching<'_>; 2], objects: &[ObjectKey]) -> Vec<String> {
    let named = states.into_iter().flat_map(|matching| {
        let routes = changed_routes(matching, objects);
        let matches = routes
            .flat_map(|route| matching.match_specs(route))
            .flatten();
        let named = matches.filter_map(|match_spec| match_spec.ok()?.method);
        named.collect::<Vec<_>>()
    });
    methods(named)
}

/// The changed routes, those that they delegate to, those of changed Gateways and `ListenerSets`, those of Gateways whose listeners or routes depend on a changed
/// Namespace or `ReferenceGrant`, and those that send requests to changed Services: a listener may take the requests of another one
/// of its Gateway, whichever object has it, and a Service may change what its ports mean.
fn concerned(snapshot: &Snapshot, objects: &[ObjectKey]) -> Vec<ObjectKey> {
    let (routes, others): (Vec<&ObjectKey>, Vec<_>) =
        objects.iter().partition(|key| is_route(&key.gk));
    let using = others.iter().flat_map(|key| snapshot.using(key));
    let using: Vec<ObjectKey> = using.map(|route| route.key.clone()).collect();
    let around = others
        .iter()
        .flat_map(|key| listener_owners_around(snapshot, key));
    let mut owners: BTreeSet<ObjectKey> = around.collect();
    // Labels of a Namespace also let its routes in, which may take requests of others then.
    let namespaces = others.iter().filter(|key| key.gk.is_core("Namespace"));
    let there = namespaces.flat_map(|key| snapshot.below(key));
    let there: Vec<&Arc<Object>> = there.filter(|one| is_route(&one.key.gk)).collect();
    let parents = there.iter().flat_map(|route| route.parents());
    let parents = parents.filter(|parent| parent.object.gk.has_listeners());
    owners.extend(parents.flat_map(|parent| listener_owners_around(snapshot, &parent.object)));
    let below = owners.iter().flat_map(|key| snapshot.below(key));
    let below = below.filter(|route| is_route(&route.key.gk)).chain(there);
    let below = below.map(|route| route.key.clone());
    let edited = routes.iter().filter_map(|key| snapshot.get(key));
    let delegated = delegated_to(snapshot, edited, MAX_REQUESTS);
    let delegated = delegated.iter().map(|route| route.key.clone());
    let mut known: BTreeSet<ObjectKey> = BTreeSet::new();
    let all = routes.into_iter().cloned();
    let all = all.chain(below).chain(using).chain(delegated);
    all.filter(|key| known.insert(key.clone())).collect()
}

/// Whether the change only renames the rule: the old name is gone, and the new one was not there.
fn is_renamed([before, after]: [&Matching<'_>; 2], old: &Place, new: &Place) -> bool {
    let (before, after) = (before.snapshot(), after.snapshot());
    old.object == new.object && !is_there(after, old) && !is_there(before, new)
}

/// Whether a rule without a name only has another index in its route: it matches, filters and
/// forwards as before.
fn is_moved(
    [before, after]: [&Matching<'_>; 2],
    [(old, taken_before), (new, taken_after)]: [(&ServingRule, &MatchResult); 2],
) -> bool {
    let served = |one: &MatchResult| match &one.outcome {
        Outcome::Taken(served) => served.rule.clone(),
        Outcome::Missed(_) => None,
    };
    let is_unnamed = |matching: &Matching<'_>, rule: &MatchedRule| {
        let node = matching
            .snapshot()
            .get(&rule.route)
            .map(|route| &route.node);
        let Some(Node::Route { rules, .. }) = node else {
            return false;
        };
        rules
            .get(rule.index)
            .is_some_and(|rule| rule.name.is_none())
    };
    let (Some(served_before), Some(served_after)) = (served(taken_before), served(taken_after))
    else {
        return false;
    };
    is_unnamed(before, &served_before)
        && is_unnamed(after, &served_after)
        && (
            &served_before.route,
            &served_before.match_spec,
            &served_before.filters,
        ) == (
            &served_after.route,
            &served_after.match_spec,
            &served_after.filters,
        )
        && (&old.listener, &old.backends) == (&new.listener, &new.backends)
}

// === impl Side ===

impl Side<'_, '_> {
    /// The rule that takes a request at its Gateway; `None` if no rule does.
    fn serving_rule(&self, sample: &SampleRequest) -> Option<(ServingRule, MatchResult)> {
        let is_it = |gateway: &ObjectKey| *gateway == sample.gateway;
        let all = self.matching.at_gateways(&sample.request, is_it);
        all.into_iter().find_map(|mut one| {
            let Outcome::Taken(served) = &mut one.outcome else {
                return None;
            };
            // Requests to the others get an error, so nothing protects them.
            served.backends.retain(|to| !to.state.fails());
            let EntryPoint::Listener(listener) = &one.entry_point else {
                return None;
            };
            let rule = served.rule.as_ref()?;
            let backends = served.backends.iter();
            let backends = backends.map(|to| (to.object.clone(), to.port, to.label.clone()));
            let serving_rule = ServingRule {
                listener: listener.place.clone(),
                rule: rule.route.section(rule.label.clone()),
                backends: backends.collect(),
            };
            Some((serving_rule, one))
        })
    }
}
