//! Guardrails of the configuration at the webhook: the user of the request counts, and the answer has the message.

use std::fs;
use std::path::{Path, PathBuf};

use attache::cache::directory::load;
use attache::config::Configuration;
use attache::engine::admission::review::Evidence;
use attache::http::admission::{Endpoint, respond};
use serde_json::{Value, json};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/guardrails")
}

/// A configuration with one of the examples.
fn configuration(example: &str) -> Configuration {
    let text = fs::read_to_string(examples().join(example)).unwrap();
    let guardrail: Value = serde_saphyr::from_str(&text).unwrap();
    let all = json!({
        "apiVersion": "attache.dev/v1",
        "kind": "Configuration",
        "guardrails": [guardrail],
    });
    serde_json::from_value(all).unwrap()
}

/// The answer to the deletion of a policy in namespace infra, by a member of a group.
fn deleted(example: &str, policy: &Value, group: &str) -> Value {
    let config = configuration(example);
    let rules = config.rules().unwrap();
    let loaded = load(&[examples().join("cluster")], &rules, "default");
    let body = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u-1",
            "kind": {"group": "gateway.envoyproxy.io", "version": "v1alpha1", "kind": policy["kind"]},
            "resource": {"group": "gateway.envoyproxy.io", "version": "v1alpha1", "resource": "policies"},
            "namespace": "infra",
            "name": policy["metadata"]["name"],
            "operation": "DELETE",
            "userInfo": {"username": "ann", "groups": [group]},
            "oldObject": policy,
        },
    });
    let (conduct, evidence) = (config.conduct(), Evidence::Authoritative);
    let body = body.to_string();
    let answer = respond(
        &loaded.snapshot,
        &conduct,
        &evidence,
        Endpoint::Validate,
        body.as_bytes(),
    );
    let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
    answer["response"].clone()
}

#[test]
fn the_deletion_of_the_last_authentication_is_refused() {
    let policy = json!({
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": {"name": "public-jwt", "namespace": "infra"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public"}],
            "jwt": {"providers": [{"name": "corp", "issuer": "https://login.example.com"}]},
        },
    });
    let response = deleted(
        "public-routes-need-authentication.yaml",
        &policy,
        "platform",
    );
    assert_eq!(response["allowed"], false, "{response}");
    let message = response["status"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "guardrail: \"public-routes-need-authentication\" is broken by HTTPRoute shop/cart through \
         Gateway infra/public listener https: routes on the Gateway public need authentication"
    );
}

#[test]
fn who_may_is_decided_by_the_user_of_the_request() {
    let policy = json!({
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "BackendTrafficPolicy",
        "metadata": {"name": "public-limit", "namespace": "infra"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public"}],
            "rateLimit": {"type": "Local", "local": {"rules": [{"limit": {"requests": 100, "unit": "Second"}}]}},
        },
    });
    let example = "limits-not-above-the-gateways.yaml";
    assert_eq!(deleted(example, &policy, "shop")["allowed"], false);
    assert_eq!(deleted(example, &policy, "platform")["allowed"], true);
}
