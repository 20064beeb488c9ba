//! States in which large numbers multiply.

use serde_json::{Value, json};

use super::{gateway, policy, route};

const API: &str = "gateway.networking.k8s.io";

/// A Gateway with 64 listeners, and routes to Services.
pub fn backends() -> Vec<Value> {
    let listeners: Vec<String> = (0..64).map(|i| format!("l{i}")).collect();
    let mut values = vec![gateway("edge", &listeners)];
    values.extend((0..1_000).map(|i| route(2 * i, "edge")));
    values.extend((0..4).map(|i| service(&format!("svc{i}"))));
    values.push(policy(
        "ReachingPolicy",
        "infra",
        "on",
        "Gateway",
        "edge",
        None,
    ));
    values
}

/// Policies that select all routes of their namespace, and some that select none.
pub fn selected() -> Vec<Value> {
    let mut values = vec![gateway("edge", &["http".to_owned()])];
    values.extend((0..3_000).map(|i| route(2 * i, "edge")));
    let selecting = |name: String, team: &str, entries: usize| {
        let mut policy = policy("SeveralPolicy", "infra", &name, "Gateway", "edge", None);
        let entry = json!({"group": API, "kind": "HTTPRoute", "matchLabels": {"team": team}});
        policy["spec"] = json!({"targetRefs": vec![entry; entries], "retries": 3});
        policy
    };
    values.extend((0..1_000).map(|i| selecting(format!("all{i}"), "x", 1)));
    values.extend((0..1_000).map(|i| selecting(format!("none{i}"), "nobody", 16)));
    values
}

/// A Gateway with 64 listeners with different hostnames, and routes with sixteen hostnames each.
pub fn hostnames() -> Vec<Value> {
    let listeners: Vec<String> = (0..64).map(|i| format!("l{i}")).collect();
    let mut edge = gateway("edge", &listeners);
    let listeners = edge["spec"]["listeners"].as_array_mut().unwrap();
    for (i, listener) in listeners.iter_mut().enumerate() {
        listener["hostname"] = json!(format!("h{i}.example.com"));
    }
    let mut values = vec![edge];
    values.extend((0..10_000_usize).map(|i| {
        let mut route = route(i, "edge");
        let hostnames = (0..16).map(|h| format!("h{}.example.com", (i * (h + 1) + h) % 97));
        route["spec"]["hostnames"] = hostnames.collect();
        route
    }));
    values
}

/// Direct policies on very many sections of one object, and policies with custom merge rules.
pub fn sections() -> Vec<Value> {
    let mut values = vec![gateway("edge", &["http".to_owned()]), route(0, "edge")];
    for i in 0..80 {
        let entry = |s| json!({"group": "example.com", "kind": "Thing", "name": "t", "sectionName": format!("s{i}x{s}")});
        let mut policy = policy(
            "AgreeingPolicy",
            "infra",
            &format!("s{i}"),
            "Gateway",
            "edge",
            None,
        );
        policy["spec"] = json!({"targetRefs": (0..64).map(entry).collect::<Vec<_>>(), "mode": i});
        values.push(policy);
    }
    let own = |i| {
        policy(
            "OpaquePolicy",
            "infra",
            &format!("o{i}"),
            "Gateway",
            "edge",
            None,
        )
    };
    values.extend((0..3_000).map(own));
    values
}

/// Policies with long lists as values, on a hundred Gateways and their routes, and on one Gateway with kinds whose
/// policies conflict.
pub fn long() -> Vec<Value> {
    let list = json!(vec![json!({"a": 0}); 2_500]);
    let mut values = vec![gateway("edge", &["http".to_owned()]), route(1_000, "edge")];
    let mut on = |kind: &str, name: &str, target: &str| {
        let mut policy = policy(kind, "infra", name, "Gateway", target, None);
        policy["spec"]["mergeStrategy"] = json!("PatchDefaults");
        if kind == "OlderPolicy" {
            policy["spec"]["defaults"] = json!({"list": list});
        } else {
            policy["spec"][name] = list.clone();
        }
        values.push(policy);
    };
    for i in 0..600 {
        on("RetryPolicy", &format!("p{i}"), &format!("g{}", i / 6));
    }
    for i in 0..100 {
        on("OverlapPolicy", &format!("p{i}"), "edge");
        on("OlderPolicy", &format!("p{i}"), "edge");
    }
    for i in 0..100 {
        let name = format!("g{i}");
        values.push(gateway(&name, &["http".to_owned()]));
        values.push(route(2 * i, &name));
    }
    values
}

/// Ten thousand Services in one Namespace that clients of a mesh call.
pub fn called() -> Vec<Value> {
    let mut values: Vec<Value> = (0..10_000).map(|i| service(&format!("s{i}"))).collect();
    values.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "infra"}}));
    let mut wide = policy("MeshPolicy", "infra", "wide", "Namespace", "infra", None);
    wide["spec"]["targetRef"]["group"] = json!("");
    values.push(wide);
    values
}

fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "infra", "name": name},
        "spec": {"ports": [{"port": 80}]}})
}
