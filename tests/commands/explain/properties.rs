//! Properties of every state: the order of objects in files does not matter, the winning rule is the one that the
//! specification names, and every losing rule loses by a criterion.

use std::cmp::Reverse;

use attache::answer::Named;
use attache::answer::explanation::{Explanation, at_gateways};
use attache::answer::json;
use attache::engine::routing::{Criterion, Matching, Request};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::states::in_order;

/// Hosts of requests.
const HOSTS: [&str; 3] = ["a.example.com", "b.a.example.com", "other.org"];
/// Hostnames of listeners and routes; the empty one means no hostname.
const NAMES: [&str; 5] = [
    "",
    "a.example.com",
    "*.a.example.com",
    "*.example.com",
    "*.org",
];
/// Only a few, so that many rules match one request.
const PATHS: [&str; 5] = ["/", "/foo", "/foo/", "/foo/bar", "/foobar"];
const AGES: [&str; 2] = ["2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"];

#[derive(Clone, Debug)]
struct Match {
    exact: bool,
    path: &'static str,
    method: Option<&'static str>,
    headers: Vec<&'static str>,
    params: Vec<&'static str>,
}

#[derive(Clone, Debug)]
struct Route {
    namespace: &'static str,
    age: &'static str,
    hostnames: Vec<&'static str>,
    rules: Vec<Vec<Match>>,
}

#[derive(Clone, Debug)]
struct ListenersAndRoutes {
    listeners: Vec<&'static str>,
    routes: Vec<Route>,
    request: Request,
    /// The position of each object in the files.
    order: Vec<u32>,
}

fn a_match() -> impl Strategy<Value = Match> {
    let names = || proptest::collection::vec(select(vec!["x", "y"]), 0..3);
    let method = proptest::option::weighted(0.3, select(vec!["GET", "POST"]));
    (
        proptest::bool::weighted(0.2),
        select(PATHS.to_vec()),
        method,
        names(),
        names(),
    )
        .prop_map(|(exact, path, method, headers, params)| Match {
            exact,
            path,
            method,
            headers,
            params,
        })
}

fn a_route() -> impl Strategy<Value = Route> {
    let hostnames = proptest::collection::vec(select(NAMES.get(1..).unwrap().to_vec()), 0..2);
    let rules = proptest::collection::vec(proptest::collection::vec(a_match(), 0..3), 1..4);
    let namespace = select(vec!["shop", "shop-a"]);
    (namespace, select(AGES.to_vec()), hostnames, rules).prop_map(
        |(namespace, age, hostnames, rules)| Route {
            namespace,
            age,
            hostnames,
            rules,
        },
    )
}

fn a_request() -> impl Strategy<Value = Request> {
    let all = || vec!["x", "y", "x"];
    let pairs = || proptest::sample::subsequence(all(), 1..=3);
    let pair = |name: &str| (name.to_owned(), "1".to_owned());
    let method = select(vec!["GET", "POST"]);
    (
        select(HOSTS.to_vec()),
        select(PATHS.to_vec()),
        method,
        pairs(),
        pairs(),
    )
        .prop_map(move |(host, path, method, headers, params)| Request {
            host: Some(host.to_owned()),
            path: path.to_owned(),
            method: Some(method.to_owned()),
            headers: headers.into_iter().map(pair).collect(),
            query: params.into_iter().map(pair).collect(),
            ..Request::default()
        })
}

fn a_state() -> impl Strategy<Value = ListenersAndRoutes> {
    let listeners = proptest::sample::subsequence(NAMES.to_vec(), 1..4);
    let routes = proptest::collection::vec(a_route(), 0..8);
    let order = proptest::collection::vec(any::<u32>(), 9);
    (listeners, routes, a_request(), order).prop_map(|(listeners, routes, request, order)| {
        ListenersAndRoutes {
            listeners,
            routes,
            request,
            order,
        }
    })
}

impl ListenersAndRoutes {
    fn objects(&self) -> Vec<Value> {
        let api = "gateway.networking.k8s.io/v1";
        let listeners = self.listeners.iter().enumerate().map(|(i, name)| {
            let mut listener = json!({"name": format!("l{i}"), "port": 80, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}}});
            if !name.is_empty() {
                listener["hostname"] = json!(name);
            }
            listener
        });
        let gateway = json!({"apiVersion": api, "kind": "Gateway",
            "metadata": {"name": "edge", "namespace": "infra", "creationTimestamp": AGES[0]},
            "spec": {"gatewayClassName": "c", "listeners": listeners.collect::<Vec<_>>()}});
        let routes = self.routes.iter().enumerate().map(|(i, route)| {
            let rules = route.rules.iter().map(|rule| {
                let matches: Vec<Value> = rule.iter().map(Match::json).collect();
                json!({"matches": matches})
            });
            json!({"apiVersion": api, "kind": "HTTPRoute",
                "metadata": {"name": format!("r{i}"), "namespace": route.namespace, "creationTimestamp": route.age},
                "spec": {"parentRefs": [{"name": "edge", "namespace": "infra"}],
                    "hostnames": route.hostnames, "rules": rules.collect::<Vec<_>>()}})
        });
        std::iter::once(gateway).chain(routes).collect()
    }

    fn explained(&self, objects: &[Value]) -> Explanation {
        let loaded = in_order(objects);
        let matching = Matching::new(&loaded.snapshot, &loaded.objects);
        at_gateways(&matching, &self.request, |_| true)
    }

    /// The rules that match the request, the winner first, by a direct translation of the specification.
    fn by_hand(&self) -> Vec<(String, usize)> {
        let host = self.request.host.as_deref().unwrap();
        let listeners = self.listeners.iter().filter(|name| covers(name, host));
        let Some(listener) = listeners.max_by_key(|name| weight(name)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (i, route) in self.routes.iter().enumerate() {
            let name = format!("{}/r{i}", route.namespace);
            let attached = listener.is_empty()
                || route.hostnames.is_empty()
                || route.hostnames.iter().any(|ours| meet(listener, ours));
            let none = [""];
            let hostnames = if route.hostnames.is_empty() {
                &none[..]
            } else {
                &route.hostnames
            };
            let fits = hostnames.iter().filter(|name| covers(name, host));
            // At a listener a route has no wider hostname than the listener's; if routes are alike in that, their own hostnames decide
            // (Gateway API 1.7).
            let at_listener = fits.map(|name| (weight(name).max(weight(listener)), weight(name)));
            let Some(hostname) = at_listener.max().filter(|_| attached) else {
                continue;
            };
            for (index, rule) in route.rules.iter().enumerate() {
                let everything = Match {
                    exact: false,
                    path: "/",
                    method: None,
                    headers: Vec::new(),
                    params: Vec::new(),
                };
                let all = if rule.is_empty() {
                    vec![everything]
                } else {
                    rule.clone()
                };
                let holding = all.iter().filter(|m| m.holds(&self.request));
                let Some(best) = holding.map(Match::weight).max() else {
                    continue;
                };
                let tie = (Reverse(route.age), Reverse(name.clone()), Reverse(index));
                found.push(((hostname, best, tie), (name.clone(), index)));
            }
        }
        found.sort_by(|(a, _), (b, _)| b.cmp(a));
        found.into_iter().map(|(_, rule)| rule).collect()
    }
}

/// The number of characters in a hostname without wildcard, then in any hostname.
fn weight(name: &str) -> (usize, usize) {
    let exact = if name.starts_with('*') { 0 } else { name.len() };
    (exact, name.len())
}

fn covers(name: &str, host: &str) -> bool {
    match name.strip_prefix("*.") {
        _ if name.is_empty() => true,
        None => name == host,
        Some(rest) => host.ends_with(&format!(".{rest}")),
    }
}

fn meet(a: &str, b: &str) -> bool {
    let suffix = |name: &str| name.trim_start_matches('*').to_owned();
    match (a.starts_with('*'), b.starts_with('*')) {
        (true, true) => suffix(a).ends_with(&suffix(b)) || suffix(b).ends_with(&suffix(a)),
        (true, false) => covers(a, b),
        (false, true) => covers(b, a),
        (false, false) => a == b,
    }
}

fn distinct(names: &[&str]) -> usize {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    names.len()
}

impl Match {
    fn json(&self) -> Value {
        let pairs = |names: &[&str]| -> Vec<Value> {
            names
                .iter()
                .map(|name| json!({"name": name, "value": "1"}))
                .collect()
        };
        let kind = if self.exact { "Exact" } else { "PathPrefix" };
        json!({"path": {"type": kind, "value": self.path}, "method": self.method,
            "headers": pairs(&self.headers), "queryParams": pairs(&self.params)})
    }

    fn holds(&self, request: &Request) -> bool {
        let elements = |path: &str| -> Vec<String> {
            let path = path.trim_end_matches('/');
            path.split('/').map(str::to_owned).collect()
        };
        let path = if self.exact {
            self.path == request.path
        } else {
            elements(&request.path).starts_with(&elements(self.path))
        };
        let has = |pairs: &[(String, String)], name: &str| {
            pairs.iter().filter(|(n, _)| n == name).count()
        };
        path && self.method.is_none_or(|method| request.method.as_deref() == Some(method))
            // A repeated header is a list, which is a different value.
            && self.headers.iter().all(|name| has(&request.headers, name) == 1)
            && self.params.iter().all(|name| has(&request.query, name) > 0)
    }

    fn weight(&self) -> (bool, usize, bool, usize, usize) {
        let length = if self.exact {
            0
        } else {
            self.path.trim_end_matches('/').len()
        };
        (
            self.exact,
            length,
            self.method.is_some(),
            distinct(&self.headers),
            distinct(&self.params),
        )
    }
}

fn named(place: &Named) -> String {
    place.0.object.path()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_order_in_files_says_nothing(state in a_state()) {
        let objects = state.objects();
        let mut shuffled: Vec<(u32, Value)> =
            state.order.iter().copied().cycle().zip(objects.clone()).collect();
        shuffled.sort_by_key(|(order, _)| *order);
        let shuffled: Vec<Value> = shuffled.into_iter().map(|(_, object)| object).collect();
        let one = json(&state.explained(&objects)).unwrap();
        let other = json(&state.explained(&shuffled)).unwrap();
        prop_assert_eq!(one, other);
    }

    #[test]
    fn the_winner_is_the_one_of_the_specification(state in a_state()) {
        let explanation = state.explained(&state.objects());
        let expected = state.by_hand();
        let steps: Vec<(String, usize)> = explanation
            .steps
            .iter()
            .map(|step| (named(step.route.as_ref().unwrap()), step.rule_index.unwrap()))
            .collect();
        let winner: Vec<(String, usize)> = expected.iter().take(1).cloned().collect();
        prop_assert_eq!(steps, winner);
        prop_assert_eq!(explanation.served, !expected.is_empty());
    }

    #[test]
    fn every_losing_match_loses_by_a_criterion(state in a_state()) {
        let explanation = state.explained(&state.objects());
        let mut expected = state.by_hand();
        let Some(step) = explanation.steps.first() else { return Ok(()) };
        expected.remove(0);
        let lost = |by: Criterion| {
            step.considered.iter().filter(move |c| (c.by == Criterion::Listener) == (by == Criterion::Listener))
        };
        for considered in &step.considered {
            prop_assert!(!considered.message.is_empty(), "{:?}", considered);
            prop_assert!(considered.by != Criterion::NotEvaluated && considered.by != Criterion::NotAttached);
        }
        // All rules of the listener that match the request are listed, in order.
        let lost_by_path: Vec<String> = lost(Criterion::Path).map(|c| named(&c.route)).collect();
        let all: Vec<String> = expected.iter().map(|(route, _)| route.clone()).collect();
        let shown = lost_by_path.len().min(all.len());
        prop_assert_eq!(&lost_by_path[..shown], &all[..shown]);
        prop_assert!(lost_by_path.len() == all.len() || step.considered_more > 0);
    }
}
