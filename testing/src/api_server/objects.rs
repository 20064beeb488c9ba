//! Objects for the fake API server.

use attache::engine::model::ids::{GroupKind, ObjectKey};
use serde_json::{Value, json};

pub fn crd(group: &str, kind: &str, plural: &str, version: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "served": true, "storage": true}],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    })
}

pub fn gateway_crd() -> Value {
    crd("gateway.networking.k8s.io", "Gateway", "gateways", "v1")
}

/// The CRD of a policy kind; its plural is formed like that of `RetryPolicy`.
pub fn policy_crd(group: &str, kind: &str) -> Value {
    let plural = kind.to_lowercase().replace("policy", "policies");
    let mut crd = crd(group, kind, &plural, "v1");
    crd["metadata"]["labels"] = json!({"gateway.networking.k8s.io/policy": "Direct"});
    crd
}

pub fn gateway(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "gatewayClassName": "test",
            "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
        },
    })
}

pub fn policy(kind: &str, namespace: &str, name: &str, gateway: &str) -> Value {
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": gateway});
    json!({
        "apiVersion": "example.dev/v1",
        "kind": kind,
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"targetRefs": [target]},
    })
}

pub fn service(n: usize) -> Value {
    json!({
        "metadata": {"namespace": "shop", "name": format!("s{n}")},
        "spec": {"ports": [{"name": "web", "port": 80}]},
    })
}

pub fn gateway_key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(GroupKind::gateway_api("Gateway"), namespace, name)
}

pub fn retry_gk() -> GroupKind {
    GroupKind::new("example.dev", "RetryPolicy")
}
