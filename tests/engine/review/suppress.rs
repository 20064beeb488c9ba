//! `attache.dev/ignore` at the webhook: which findings an object suppresses, until when, and who may suppress refusals.

use attache::cache::directory::Loaded;
use attache::cache::manifest::Manifests;
use attache::config::Configuration;
use attache::engine::admission::evidence::Evidence;
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use serde_json::{Value, json};

/// The scene of the findings' pages: `HTTPRoute` shop/cart has the rules checkout and browse.
const SCENE: &str = include_str!("../../../docs/findings/scene.yaml");

/// The answer to the CREATE of a policy on a section of `HTTPRoute` shop/cart, with this annotation and by a member of
/// this group.
fn answer(config: &str, ignore: &str, route: &str, section: &str, group: &str) -> Value {
    let text = format!("apiVersion: attache.dev/v1\nkind: Configuration\n{config}");
    let config: Configuration = serde_saphyr::from_str(&text).unwrap();
    let mut manifests = Manifests::default();
    manifests.add("scene.yaml", SCENE);
    let state = Loaded::new(manifests, &config.rules(testing::builtin()), "default").snapshot;
    let (kind, resource) = ("BackendTrafficPolicy", "backendtrafficpolicies");
    let group_of = "gateway.envoyproxy.io";
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "kind": {"group": group_of, "version": "v1alpha1", "kind": kind},
            "resource": {"group": group_of, "version": "v1alpha1", "resource": resource},
            "operation": "CREATE",
            "namespace": "shop",
            "name": "retries",
            "userInfo": {"username": "ana", "groups": [group]},
            "object": {
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": kind,
                "metadata": {"name": "retries", "namespace": "shop", "annotations": {"attache.dev/ignore": ignore}},
                "spec": {
                    "targetRefs": [{
                        "group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": route, "sectionName": section
                    }],
                    "retry": {"numRetries": 2},
                },
            },
        },
    });
    let body = review.to_string();
    let evidence = Evidence::Authoritative;
    let bytes = respond(
        &state,
        &config.review_settings(),
        &evidence,
        Endpoint::Validate,
        body.as_bytes(),
    );
    serde_json::from_slice::<Value>(&bytes.unwrap()).unwrap()["response"].clone()
}

#[test]
fn any_author_may_suppress_a_warning() {
    let answer = |ignore: &str| answer("", ignore, "later", "a", "shop")["warnings"].clone();
    assert_eq!(
        answer("target-not-found: it comes with the next release"),
        Value::Null
    );
    // This function has no clock, so every suppression with an end counts as expired.
    assert_eq!(
        answer("target-not-found until 2027-01-31: it comes in January"),
        json!([
            "target-not-found: spec.targetRefs[0]: HTTPRoute shop/later does not exist (was suppressed until 2027-01-31)"
        ])
    );
    assert_eq!(
        answer("target-not-found"),
        json!([
            "target-not-found: spec.targetRefs[0]: HTTPRoute shop/later does not exist",
            "suppression-invalid: metadata.annotations[attache.dev/ignore]: no reason; write \"target-not-found: why\""
        ])
    );
}

#[test]
fn a_refusal_is_left_out_only_by_those_whom_the_configuration_names() {
    let ignore = "section-unknown: the rule comes later";
    let allowed = |config: &str, group: &str| {
        let response = answer(config, ignore, "cart", "refunds", group);
        response["allowed"].as_bool().unwrap()
    };
    assert!(!allowed("", "platform-eu"));
    let named = "suppressions: {refusals: {groups: [\"platform-*\"]}}\n";
    assert!(allowed(named, "platform-eu"));
    assert!(!allowed(named, "shop"));
    let refused = answer(named, ignore, "cart", "refunds", "shop");
    let message = refused["status"]["message"].as_str().unwrap();
    assert!(
        message.ends_with("(attache.dev/ignore cannot suppress a refusal)"),
        "{message}"
    );
}
