//! The patch of the mutating endpoint, as the API server receives it.

use attache::config::Configuration;
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::settings::ReviewSettings;
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::server::{review, snapshot};

const VERSIONED: &str = r#"{"targetRef":{"group":"gateway.networking.k8s.io/v1","kind":"Gateway","name":"edge"},"retries":3}"#;

fn asked(review_settings: &ReviewSettings, endpoint: Endpoint, spec: &str) -> Value {
    let body = review(spec);
    let evidence = Evidence::Authoritative;
    let answer = respond(
        &snapshot(),
        review_settings,
        &evidence,
        endpoint,
        body.as_bytes(),
    );
    serde_json::from_slice(&answer.unwrap()).unwrap()
}

fn review_settings(mutations: &str) -> ReviewSettings {
    let text =
        format!("{{apiVersion: attache.dev/v1, kind: Configuration, mutations: {{{mutations}}}}}");
    serde_saphyr::from_str::<Configuration>(&text)
        .unwrap()
        .review_settings()
}

#[test]
fn a_patch_is_sent_where_a_mutation_is_on() {
    let answer = asked(
        &review_settings("normalize-targets: true"),
        Endpoint::Mutate,
        VERSIONED,
    );
    let response = &answer["response"];
    assert_eq!(response["patchType"], "JSONPatch");
    let patch = STANDARD
        .decode(response["patch"].as_str().unwrap())
        .unwrap();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(
        patch,
        json!([{"op": "replace", "path": "/spec/targetRef/group",
                "value": "gateway.networking.k8s.io"}])
    );
}

#[test]
fn no_patch_when_mutations_are_off_nor_at_the_validating_endpoint() {
    let nothing = json!({"uid": "u-1", "allowed": true});
    let off = asked(&ReviewSettings::default(), Endpoint::Mutate, VERSIONED);
    assert_eq!(off["response"], nothing);
    let on = review_settings("normalize-targets: true");
    let judged = asked(&on, Endpoint::Validate, VERSIONED);
    assert_eq!(judged["response"]["allowed"], false);
    assert_eq!(judged["response"]["patch"], Value::Null);
}
