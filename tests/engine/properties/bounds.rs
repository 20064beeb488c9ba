//! The limits of what a review computes.

use std::sync::Arc;

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::finding::{Code, Finding};
use attache::engine::admission::request::Operation;
use attache::engine::admission::review::review;
use attache::engine::model::ids::GATEWAY_API;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::{Value, json};

use super::events::{GROUP, asked, definition, empty, object};

const GATEWAYS: usize = 40;
const POLICIES: usize = 30;
const SETTINGS: usize = 50;

fn gateway_api(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{GATEWAY_API}/v1"), "kind": kind,
           "metadata": {"namespace": "a", "name": name}, "spec": spec})
}

/// A policy with many settings and a merge strategy.
fn policy(name: &str, kind: &str, target: &str, strategy: &str) -> Value {
    let mut spec = json!({"mergeStrategy": strategy,
                          "targetRef": {"group": GATEWAY_API, "kind": kind, "name": target}});
    for i in 0..SETTINGS {
        spec[format!("s{i}")] = json!(name);
    }
    json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Newest",
           "metadata": {"namespace": "a", "name": name}, "spec": spec})
}

/// Gateways of one class with a route each, and many policies on each Gateway.
fn crowded(strategy: &str) -> Snapshot {
    let mut class = gateway_api("GatewayClass", "c", &json!({"controllerName": "e.com/c"}));
    class["metadata"]["namespace"] = json!("");
    let mut all = vec![class];
    for g in 0..GATEWAYS {
        let name = format!("g{g}");
        let listener = json!({"name": "l", "port": 80, "protocol": "HTTP"});
        let spec = json!({"gatewayClassName": "c", "listeners": [listener]});
        all.push(gateway_api("Gateway", &name, &spec));
        let route = json!({"parentRefs": [{"name": name}], "rules": [{}]});
        all.push(gateway_api("HTTPRoute", &format!("r{g}"), &route));
        let on_it = (0..POLICIES).map(|p| format!("{name}p{p}"));
        all.extend(on_it.map(|policy_name| policy(&policy_name, "Gateway", &name, strategy)));
    }
    let applied = all
        .iter()
        .map(|value| Change::Applied(Arc::new(object(value))));
    applied.fold(empty(), |state, change| state.apply(change))
}

/// The warnings about a new policy on the class.
fn said(strategy: &str) -> String {
    let state = crowded(strategy);
    let mut policy = policy("wide", "GatewayClass", "c", strategy);
    policy["metadata"]["namespace"] = json!("");
    asked(Operation::Create, Some(&policy), None, |request| {
        let verdict = review(&state, request, &Evidence::Authoritative);
        verdict.warnings().join("\n")
    })
}

#[test]
fn atomic_winners_leave_budget_for_many_paths() {
    let answer = said("AtomicDefaults");
    let first = "overridden: it has no effect on GatewayClass c: overridden by \
                 Newest.policies.example.com a/g0p9, which sets s0=g0p9, ";
    assert!(answer.starts_with(first), "{answer}");
    assert!(!answer.contains("too much"), "{answer}");
}

#[test]
fn merging_is_bounded() {
    let answer = said("PatchDefaults");
    let warning = "computing the effect of this policy exceeds the work limit of a review; run attache describe";
    assert!(answer.contains(warning), "{answer}");
}

#[test]
fn the_first_of_many_conflicts_are_reported() {
    let older = |name: &str, value: &str| {
        let fields = (0..3_000).map(|i| (format!("s{i}"), json!(value)));
        let defaults = Value::Object(fields.collect());
        json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Legacy",
               "metadata": {"namespace": "a", "name": name},
               "spec": {"targetRef": {"group": GATEWAY_API, "kind": "Gateway", "name": "g0"},
                        "defaults": defaults}})
    };
    let stanza = json!({"type": "object", "properties": {"s0": {}}, "x-kubernetes-preserve-unknown-fields": true});
    let fields = json!({"targetRef": {"properties": {"group": {}, "kind": {}, "name": {}}},
                        "defaults": stanza, "overrides": stanza});
    let kind = definition("Legacy", &fields);
    let there = [kind, older("first", "x")];
    let there = there.map(|value| Change::Applied(Arc::new(object(&value))));
    let state = crowded("AtomicDefaults");
    let state = there
        .into_iter()
        .fold(state, |state, change| state.apply(change));
    let policy = older("new", "y");
    let found = asked(Operation::Create, Some(&policy), None, |request| {
        review(&state, request, &Evidence::Authoritative).findings
    });
    let conflicts = found.iter().filter(|f| f.code == Code::FieldConflict);
    assert_eq!(conflicts.count(), 1_000);
    let more = |f: &Finding| f.message.starts_with("computing further conflicts exceeds");
    assert!(found.iter().any(more));
    assert!(found.iter().any(|f| f.code == Code::Overridden));
}

/// A grant between two namespaces, and this many routes with a reference that it covers.
#[test]
fn the_first_of_many_granted_references_are_reported() {
    let route = |i: usize| {
        let backend = json!({"name": "s", "namespace": "a", "port": 80});
        let spec = json!({"rules": [{"backendRefs": [backend]}]});
        let mut route = gateway_api("HTTPRoute", &format!("r{i:04}"), &spec);
        route["metadata"]["namespace"] = json!("b");
        route
    };
    let from = json!({"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "b"});
    let to = json!({"group": "", "kind": "Service"});
    let grant = json!({"from": [from, from], "to": [to]});
    let grant = gateway_api("ReferenceGrant", "g", &grant);
    let answer = |routes: usize| {
        let routes = (0..routes).map(|i| Change::Applied(Arc::new(object(&route(i)))));
        let state = routes.fold(empty(), |state, change| state.apply(change));
        let found = asked(Operation::Create, Some(&grant), None, |request| {
            review(&state, request, &Evidence::Authoritative).findings
        });
        let opened = found.iter().filter(|f| f.code == Code::GrantOpened).count();
        let more = |f: &Finding| {
            f.message
                .starts_with("computing the effect on further references")
        };
        (opened, found.iter().any(more))
    };
    assert_eq!(answer(1_000), (1_000, false));
    assert_eq!(answer(1_001), (1_000, true));
}
