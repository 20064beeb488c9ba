//! The webhook configurations that make the API server ask one attache about one test's namespaces.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Attache;

/// The label on the namespaces of one test.
pub(super) const LABEL: &str = "attache.dev/test";

/// The groups of the policy kinds of all tests.
const POLICY_GROUPS: [&str; 18] = [
    "policies.example.com",
    "policies.controller.io",
    "late.example.com",
    "weather.example.org",
    "growing.example.com",
    "gateway.envoyproxy.io",
    "kuadrant.io",
    "gateway.nginx.org",
    "gateway.kgateway.dev",
    "security.istio.io",
    "telemetry.istio.io",
    "extensions.istio.io",
    "networking.istio.io",
    "policy.linkerd.io",
    "apisix.apache.org",
    "configuration.konghq.com",
    "application-networking.k8s.aws",
    "networking.gke.io",
];

/// Both configurations as one list, for `kubectl apply -f -`.
pub(super) fn configurations(attache: &Attache) -> String {
    let list = json!({
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            configuration(attache, "MutatingWebhookConfiguration", "/mutate"),
            configuration(attache, "ValidatingWebhookConfiguration", "/validate"),
        ],
    });
    list.to_string()
}

fn configuration(attache: &Attache, kind: &str, path: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": format!("attache-{}", attache.name())},
        "webhooks": [
            webhook(attache, "", path, "namespaceSelector", &rules()),
            // Guardrails are cluster-scoped; those of other tests are left out by their label.
            webhook(attache, "guardrails.", path, "objectSelector", &[rule("attache.dev", "guardrails", "Cluster")]),
        ],
    })
}

/// A webhook for objects that have the label of this test, themselves or on their namespace.
fn webhook(attache: &Attache, prefix: &str, path: &str, selector: &str, rules: &[Value]) -> Value {
    json!({
        "name": format!("{prefix}{}.attache.dev", attache.name()),
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 10,
        // Not for real clusters: here an error in the answer must be visible.
        "failurePolicy": "Fail",
        "clientConfig": {
            "url": format!("{}{path}", attache.address),
            "caBundle": STANDARD.encode(attache.ca()),
        },
        selector: {"matchLabels": {LABEL: attache.name()}},
        "rules": rules,
    })
}

fn rules() -> Vec<Value> {
    let groups = POLICY_GROUPS.iter();
    let mut rules: Vec<Value> = groups.map(|group| rule(group, "*", "Namespaced")).collect();
    rules.push(rule("gateway.networking.k8s.io", "*", "Namespaced"));
    rules.push(rule("", "services", "Namespaced"));
    rules.push(rule("", "secrets", "Namespaced"));
    rules.push(rule("", "namespaces", "Cluster"));
    rules
}

fn rule(group: &str, resource: &str, scope: &str) -> Value {
    json!({
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "apiGroups": [group],
        "apiVersions": ["*"],
        "resources": [resource],
        "scope": scope,
    })
}
