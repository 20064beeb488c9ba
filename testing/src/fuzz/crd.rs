//! Derives a profile from the JSON of a CRD, and reviews policies of its kind.

use std::sync::Arc;

use attache::engine::admission::evidence::Evidence;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::{Crd, Node, Object};
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::review_state::ReviewState;
use super::{budget, files};
use crate::answers;

/// Parses a CRD, and reviews it and policies that it allows.
pub fn run(input: &[u8]) {
    let Some(raw) = std::str::from_utf8(input)
        .ok()
        .and_then(|text| serde_json::from_str::<&RawValue>(text).ok())
    else {
        return;
    };
    let gk = GroupKind::CRD;
    let read = || Object::from_json(&gk, raw);
    let Ok(object) = budget::within(input.len(), "a definition", read) else {
        return;
    };
    let Node::Crd(crd) = &object.node else {
        panic!("no definition: {object:?}");
    };
    let again = read().expect("read before");
    assert!(
        matches!(&again.node, Node::Crd(other) if other == crd),
        "the same again"
    );
    let state = ReviewState::get();
    let after = state
        .listed
        .apply(Change::Applied(Arc::new(object.clone())));
    check_messages(&state.listed, &review(&gk, raw));
    check_messages(&after, &review(&gk, raw));
    if let Some(profile) = after.profile(&crd.gk).cloned() {
        assert_eq!(profile.gk, crd.gk);
        for policy in policies(crd, profile.refs.value.iter().map(|field| &*field.path)) {
            let raw = serde_json::value::to_raw_value(&policy).expect("JSON");
            check_messages(&after, &review(&crd.gk, &raw));
            if let Ok(object) = Object::from_json(&crd.gk, &raw) {
                check_messages(
                    &after.apply(Change::Applied(Arc::new(object))),
                    &review(&crd.gk, &raw),
                );
            }
        }
    }
    let gone = after.apply(Change::Deleted(object.key.clone()));
    // For a kind that the state already defines, this is a second CRD, which the API server would not accept.
    if state.listed.definition(&crd.gk).is_none() {
        assert_eq!(gone.profile(&crd.gk), state.listed.profile(&crd.gk));
    }
}

fn check_messages(snapshot: &Snapshot, body: &[u8]) {
    let state = ReviewState::get();
    for endpoint in [Endpoint::Validate, Endpoint::Mutate] {
        let evidence = Evidence::Authoritative;
        let ask = |body: &[u8]| {
            respond(snapshot, &state.review_settings, &evidence, endpoint, body).expect("a review")
        };
        let answer = budget::within(body.len(), "a review", || ask(body));
        answers::settled(body, &answer, endpoint == Endpoint::Mutate, ask);
    }
}

fn review(gk: &GroupKind, raw: &RawValue) -> Vec<u8> {
    let kind = json!({"group": &*gk.group, "kind": &*gk.kind});
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE","name":"x","namespace":"shop","kind":{kind},"object":{raw}}}}}"#
    )
    .into_bytes()
}

/// Policies that use each target field of the kind, alone and together.
fn policies<'a>(crd: &Crd, fields: impl Iterator<Item = &'a str>) -> Vec<Value> {
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "gateway", "name": "edge", "sectionName": "htpp"});
    let object = |spec: Value| {
        json!({"apiVersion": format!("{}/v1", crd.gk.group), "kind": &*crd.gk.kind,
               "metadata": {"namespace": "shop", "name": "x"}, "spec": spec})
    };
    let mut together =
        json!({"limit": {"requests": 5}, "strategy": "x", "mergeStrategy": "PatchDefaults"});
    let mut policies_made = Vec::new();
    for field in fields {
        let mut spec = json!({"limit": 1});
        let mut at = &mut spec;
        for key in field.split('.') {
            at = &mut at[key];
        }
        *at = if field.ends_with('s') {
            json!([target, target])
        } else {
            target.clone()
        };
        if let (Value::Object(all), Value::Object(one)) = (&mut together, spec.clone()) {
            all.extend(one);
        }
        policies_made.push(object(spec));
    }
    policies_made.push(object(together));
    policies_made.push(object(json!({})));
    policies_made
}

/// All CRDs in tests.
pub fn seeds() -> Vec<Vec<u8>> {
    // The expectations of cases are not manifests.
    let yaml = |path: &std::path::Path| {
        path.extension().is_some_and(|end| end == "yaml") && !path.ends_with("expected.yaml")
    };
    let mut paths = files::find("tests/review", &yaml);
    paths.extend(files::find("tests/mutate", &yaml));
    paths.extend(files::find("tests/effective", &yaml));
    paths.extend(files::find("tests/cluster/projects", &yaml));
    paths.extend(files::find("examples", &yaml));
    let mut seeds_read = Vec::new();
    for document in paths.iter().flat_map(|path| files::documents(path)) {
        let candidates = [&document, &document["object"], &document["old"]];
        for candidate in candidates {
            if candidate["kind"] == "CustomResourceDefinition" {
                seeds_read.push(candidate.to_string().into_bytes());
            }
        }
    }
    seeds_read.sort();
    seeds_read.dedup();
    seeds_read
}
