//! The objects of the benches: a Gateway per 100 routes, a Namespace per 20 routes, and policies on Gateways,
//! Namespaces and routes.

use serde_json::{Value, json};

pub const GATEWAY_API: &str = "gateway.networking.k8s.io";
/// Routes per Gateway.
pub const OF_GATEWAY: usize = 100;
/// Routes per Namespace.
const OF_NAMESPACE: usize = 20;

pub fn gateway(i: usize) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "infra", "name": format!("g{i}")},
        "spec": {"gatewayClassName": "c", "listeners": [
            {"name": "http", "port": 80, "allowedRoutes": {"namespaces": {"from": "All"}}},
            {"name": "https", "port": 443, "allowedRoutes": {"namespaces": {"from": "All"}}}]},
    })
}

pub fn crd() -> Value {
    let reference = json!({"properties": {"group": {}, "kind": {}, "name": {}, "sectionName": {}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "retrypolicies.policies.example.com"},
        "spec": {"group": "policies.example.com", "scope": "Namespaced",
            "names": {"kind": "RetryPolicy", "plural": "retrypolicies"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"properties": {"spec": {"properties": {"targetRef": reference}}}}}}]},
    })
}

pub fn policy(i: usize, routes: usize) -> Value {
    let n = i / 3;
    let (namespace, group, kind, name) = match i % 3 {
        0 => {
            let gateways = routes.div_ceil(OF_GATEWAY);
            (
                "infra".to_owned(),
                "gateway.networking.k8s.io",
                "Gateway",
                format!("g{}", n % gateways),
            )
        }
        1 => {
            let namespace = format!("ns{}", n % routes.div_ceil(OF_NAMESPACE));
            (namespace.clone(), "", "Namespace", namespace)
        }
        _ => {
            // A prime stride spreads the policies, so that not all target routes of the first Gateways.
            let route = n * 601 % routes;
            (
                format!("ns{}", route / OF_NAMESPACE),
                "gateway.networking.k8s.io",
                "HTTPRoute",
                format!("r{route}"),
            )
        }
    };
    json!({
        "apiVersion": "policies.example.com/v1", "kind": "RetryPolicy",
        "metadata": {"namespace": namespace, "name": format!("p{i}"), "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"targetRef": {"group": group, "kind": kind, "name": name},
                 "retries": i, "backoff": {"base": "1s", "max": "9s"}, "codes": [500, 502, 503]},
    })
}

pub fn route(i: usize) -> Value {
    let rules: Vec<Value> = (0..4)
        .map(|r| {
            json!({
                "name": format!("rule{r}"),
                "matches": [{"path": {"type": "PathPrefix", "value": format!("/{r}")}}],
                "backendRefs": [{"name": format!("svc{r}"), "port": 80, "weight": 1}],
            })
        })
        .collect();
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": format!("ns{}", i / OF_NAMESPACE), "name": format!("r{i}"),
                     "labels": {"app": format!("app{i}")}},
        "spec": {"parentRefs": [{"namespace": "infra", "name": format!("g{}", i / OF_GATEWAY)}],
                 "hostnames": [format!("h{i}.example.com")], "rules": rules},
    })
}
