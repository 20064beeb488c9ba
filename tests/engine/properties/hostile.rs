//! Absurd topologies: every query still returns.

use std::sync::Arc;

use attache::engine::effective::Resolver;
use attache::engine::effective::impact::impact;
use attache::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use attache::engine::state::snapshot::Change;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::answers::{about, answers, reviewed, statuses};
use super::events::{GROUP, empty, object};

/// A few names for everything, all bad; and everything refers to everything.
const NAMES: [&str; 3] = ["", "x", "*"];
const REFS: [(&str, &str); 6] = [
    (GATEWAY_API, "Gateway"),
    (GATEWAY_API, "ListenerSet"),
    (GATEWAY_API, "HTTPRoute"),
    ("", "Service"),
    ("", "Namespace"),
    (GATEWAY_API, "GatewayClass"),
];

fn reference() -> impl Strategy<Value = Value> {
    (
        select(&REFS[..]),
        select(&NAMES[..]),
        select(&NAMES[..]),
        select(&NAMES[..]),
    )
        .prop_map(|((group, kind), namespace, name, section)| {
            json!({"group": group, "kind": kind, "namespace": namespace, "name": name,
                   "sectionName": section, "port": 0})
        })
}

fn listener() -> impl Strategy<Value = Value> {
    (select(&NAMES[..]), select(&NAMES[..])).prop_map(|(name, host)| {
        json!({"name": name, "hostname": host, "port": 0, "protocol": "",
               "allowedRoutes": {"namespaces": {"from": "All"}}})
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        select(&REFS[..]),
        select(vec![
            (GROUP, "Deep"),
            (GROUP, "Upper"),
            (GROUP, "Mesh"),
            (GROUP, "Newest")
        ]),
    ];
    let refs = vec(reference(), 0..3);
    let names = (select(&NAMES[..]), select(&NAMES[..]), select(&NAMES[..]));
    (kind, names, refs, vec(listener(), 0..3)).prop_map(
        |((group, kind), (namespace, name, class), refs, listeners)| {
            let sections: Vec<Value> = listeners.iter().map(|l| l["name"].clone()).collect();
            let parent = refs.first().cloned().unwrap_or(json!({}));
            let rules = sections.iter();
            let rules = rules.map(|name| json!({"name": name, "backendRefs": refs}));
            let ports = sections.iter().map(|name| json!({"name": name, "port": 0}));
            json!({
                "apiVersion": format!("{group}/v1"), "kind": kind,
                "metadata": {"namespace": namespace, "name": name},
                "spec": {
                    "gatewayClassName": class, "listeners": listeners, "parentRef": parent,
                    "allowedListeners": {"namespaces": {"from": "All"}}, "parentRefs": refs,
                    "rules": rules.collect::<Vec<_>>(), "ports": ports.collect::<Vec<_>>(),
                    "hostnames": sections, "targetRefs": refs, "x": 1,
                },
            })
        },
    )
}

fn own(kind: &str) -> Value {
    json!({"group": if kind == "Service" { "" } else { GATEWAY_API }, "kind": kind, "name": "self"})
}

/// An object whose references all point to itself or to the Service with its name.
fn snake(kind: &str, group: &str) -> Value {
    json!({
        "apiVersion": format!("{group}/v1"), "kind": kind,
        "metadata": {"namespace": "ns", "name": "self"},
        "spec": {
            "gatewayClassName": "self", "parentRef": own(kind),
            "listeners": [{"name": "self", "port": 80, "protocol": "HTTP"}],
            "parentRefs": [own(kind), own("Service"), own("Gateway"), own("ListenerSet")],
            "rules": [{"name": "self", "backendRefs": [own(kind), own("Service")]}],
            "ports": [{"name": "self", "port": 80}],
        },
    })
}

fn policy(kind: &str, name: &str, target: &Value, section: Option<&str>) -> Value {
    let mut target = target.clone();
    if let Some(section) = section {
        target["sectionName"] = json!(section);
    }
    json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind,
           "metadata": {"namespace": "ns", "name": name},
           "spec": {"targetRefs": [target], name: 1}})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_topology_is_answered(objects in vec(any_object(), 0..16)) {
        let mut snapshot = empty();
        let mut before = snapshot.clone();
        for value in &objects {
            before = snapshot;
            snapshot = before.apply(Change::Applied(Arc::new(object(value))));
        }
        answers(&snapshot, &objects);
        let mut resolver = Resolver::new(&snapshot);
        for value in &objects {
            about(&mut resolver, &object(value).key);
        }
        if let Some(last) = objects.last() {
            impact(&before, &snapshot, &[object(last).key]);
        }
    }
}

#[test]
fn self_references_are_answered() {
    let kinds = [
        (GATEWAY_API, "Gateway"),
        (GATEWAY_API, "ListenerSet"),
        (GATEWAY_API, "HTTPRoute"),
        (GATEWAY_API, "GRPCRoute"),
        ("", "Service"),
    ];
    let mut objects: Vec<Value> = kinds
        .iter()
        .map(|(group, kind)| snake(kind, group))
        .collect();
    for (i, (_, kind)) in kinds.iter().enumerate() {
        for policies in ["Deep", "Upper", "Mesh", "Newest", "Opaque"] {
            objects.push(policy(policies, &format!("p{i}"), &own(kind), None));
            objects.push(policy(policies, &format!("s{i}"), &own(kind), Some("self")));
        }
    }
    let applied = objects
        .iter()
        .map(|value| Change::Applied(Arc::new(object(value))));
    let snapshot = applied.fold(empty(), |s, change| s.apply(change));
    answers(&snapshot, &objects);
    let mut resolver = Resolver::new(&snapshot);
    for value in &objects {
        let key = object(value).key;
        about(&mut resolver, &key);
        impact(
            &snapshot,
            &snapshot.apply(Change::Deleted(key.clone())),
            &[key],
        );
    }
}

/// The largest supported number of listeners, some with equal names, with as many rules and ports, and a policy on each
/// listener.
#[test]
fn many_sections_are_answered() {
    const MANY: usize = 256;
    let named = |i: usize| format!("s{}", i % 246);
    let mut gateway = snake("Gateway", GATEWAY_API);
    let sections = (0..MANY).map(|i| json!({"name": named(i), "port": i + 1}));
    let sections: Vec<Value> = sections.collect();
    gateway["spec"]["listeners"] = json!(sections);
    let mut service = snake("Service", "");
    service["spec"]["ports"] = json!(sections);
    let mut route = snake("HTTPRoute", GATEWAY_API);
    route["spec"]["parentRefs"] = json!([own("Gateway")]);
    let backend = |i: usize| json!({"name": "self", "port": i + 1});
    let rules = (0..MANY).map(|i| json!({"name": named(i), "backendRefs": [backend(i)]}));
    route["spec"]["rules"] = json!(rules.collect::<Vec<_>>());
    let mut objects = vec![gateway, service, route];
    for i in 0..MANY {
        let on = own("Gateway");
        objects.push(policy("Newest", &format!("p{i}"), &on, Some(&named(i))));
    }
    objects.push(policy("Deep", "deep", &own("Service"), Some("s7")));
    let applied = objects
        .iter()
        .map(|value| Change::Applied(Arc::new(object(value))));
    let snapshot = applied.fold(empty(), |s, change| s.apply(change));
    let mut resolver = Resolver::new(&snapshot);
    for value in objects.iter().take(3) {
        about(&mut resolver, &object(value).key);
        reviewed(&snapshot, value);
    }
    statuses(&mut resolver);
    let route = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "ns", "self");
    let groups = resolver.paths_through(&route, &GroupKind::new(GROUP, "Newest"));
    let paths: usize = groups
        .iter()
        .map(attache::engine::effective::PathGroup::path_count)
        .sum();
    // A path knows only one of two listeners with the same name.
    assert_eq!(paths, 246 * 246);
}
