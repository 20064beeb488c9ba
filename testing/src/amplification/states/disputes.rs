//! Policies that conflict by their settings, and targets that set fields themselves.

use serde_json::{Map, Value, json};

use super::{gateway, policy, route};

/// The limit of targets per policy.
const TARGETS: usize = 64;

pub fn disputed() -> Vec<Value> {
    let mut values: Vec<Value> = (0..TARGETS)
        .map(|i| gateway(&format!("g{i}"), &["http".to_owned()]))
        .collect();
    let on_all: Vec<Value> = (0..TARGETS)
        .map(|i| json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": format!("g{i}")}))
        .collect();
    let mut on_all = |kind: &str, name: &str, settings: Map<String, Value>| {
        let mut policy = policy(kind, "infra", name, "Gateway", "g0", None);
        let mut spec = settings;
        spec.insert("targetRefs".to_owned(), json!(on_all));
        policy["spec"] = Value::Object(spec);
        values.push(policy);
    };
    // No two share a field.
    for i in 0..20 {
        let settings = (0..35).map(|leaf| (format!("own{i}x{leaf}"), json!(leaf)));
        on_all("DisputedPolicy", &format!("d{i}"), settings.collect());
    }
    // All have the same large field.
    let mode = "m".repeat(200_000);
    for i in 0..40 {
        let settings = [("mode".to_owned(), json!(mode))].into_iter();
        on_all("AgreeingPolicy", &format!("a{i}"), settings.collect());
    }
    // On one Gateway, too many policies with many settings to compare all; on another, just few enough.
    for (name, policies) in [("edge", 60), ("near", 5)] {
        values.push(gateway(name, &["http".to_owned()]));
        for i in 0..policies {
            let mut policy = policy(
                "OverlapPolicy",
                "infra",
                &format!("{name}{i}"),
                "Gateway",
                name,
                None,
            );
            let spec = policy["spec"].as_object_mut().unwrap();
            spec.retain(|key, _| key == "targetRef");
            spec.extend((0..4_500).map(|leaf| (format!("own{i}x{leaf}"), json!(leaf))));
            values.push(policy);
        }
    }
    // Settings nested a hundred fields deep.
    values.push(gateway("deep", &["http".to_owned()]));
    values.push(route(0, "deep"));
    let mut deep = policy("RetryPolicy", "infra", "deep", "Gateway", "deep", None);
    let settings = (0..1_300).map(|i| (format!("leaf{i}"), json!(i)));
    let above = |below, _| json!({"k": below, "j": 0});
    deep["spec"]["k"] = (0..100).fold(Value::Object(settings.collect()), above);
    values.push(deep);
    values
}

pub fn owned() -> Vec<Value> {
    let mut values = vec![gateway("edge", &["http".to_owned()])];
    let own: Map<String, Value> = (0..20).map(|i| (format!("o{i}"), json!(i))).collect();
    values.extend((0..2_000).map(|i| {
        let mut route = route(i, "edge");
        route["spec"]["own"] = json!(own);
        route["spec"]["rest"] = json!(vec!["x"; 4_000]);
        route
    }));
    values
}
