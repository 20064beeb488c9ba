//! Sends a body to the validating webhook: first to a pure function, then through the router with live reads and access
//! reviews.

use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwap;
use attache::engine::admission::evidence::Evidence;
use attache::engine::model::ids::ObjectKey;
use attache::http::admission::{App, respond};
use attache::http::call::Endpoint;
use attache::http::dependencies::Dependencies;
use attache::http::limits::Limits;
use attache::http::router::router;
use attache::metrics::Metrics;
use attache::telemetry::traces::Traces;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::review_state::ReviewState;
use super::{budget, files};
use crate::answers;

/// Answers a body with each kind of evidence and through the router, and checks the answers.
pub fn run(body: &[u8]) {
    let state = ReviewState::get();
    let must = answers::uid(body).is_some();
    for evidence in [Evidence::Authoritative, Evidence::Cached] {
        let ask = |snapshot| {
            respond(
                snapshot,
                &state.review_settings,
                &evidence,
                Endpoint::Validate,
                body,
            )
        };
        let answer = budget::within(body.len(), "a review", || ask(&state.listed));
        assert_eq!(answer.is_ok(), must, "{answer:?}");
        assert_eq!(
            answer,
            ask(&state.grown),
            "again, on the same state from other events"
        );
        if let Ok(answer) = answer {
            assert_eq!(answers::check(body, &answer, false), None);
        }
    }
    let answer = posted("/validate", body);
    assert_eq!(answer.is_some(), must);
    if let Some(answer) = answer {
        answers::check(body, &answer, false);
    }
}

/// The answer of the router; `None` if it says that the body is not a review.
fn posted(path: &str, body: &[u8]) -> Option<Vec<u8>> {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
    }
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(Body::from(body.to_vec()))
        .expect("a request");
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let response = ROUTER.clone().oneshot(request).await.expect("an answer");
            let status = response.status().as_u16();
            let body = response
                .into_body()
                .collect()
                .await
                .expect("a body")
                .to_bytes();
            match status {
                200 => Some(body.to_vec()),
                400 => {
                    let error: Value = serde_json::from_slice(&body).expect("a small JSON body");
                    answers::line(error["error"].as_str().expect("what is wrong"));
                    None
                }
                other => panic!("status {other}: {body:?}"),
            }
        })
    })
}

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let state = ReviewState::get();
    // The outcome of live reads and access reviews depends on the name, so that it is reproducible.
    let luck = |key: &ObjectKey| key.name.bytes().fold(0_u32, |sum, c| sum + u32::from(c));
    let confirm = move |key: ObjectKey| {
        let stored = state.listed.get(&key).map(|object| (**object).clone());
        let answer = match luck(&key) % 3 {
            0 => Ok(stored),
            1 => Ok(None),
            _ => Err("timed out after 300 ms".to_owned()),
        };
        async move { answer }.boxed()
    };
    let outside = Dependencies {
        traces: Traces::default(),
        confirm: Some(Arc::new(confirm)),
        list: None,
        may_get: Some(Arc::new(move |_, key| {
            async move { luck(&key) % 2 == 0 }.boxed()
        })),
        age: None,
        note: Some(Arc::new(|_, _, line| answers::line(&line))),
    };
    router(App::new(
        Arc::new(ArcSwap::new(state.listed.clone())),
        Arc::new(ArcSwap::new(state.review_settings.clone())),
        outside,
        Arc::new(Metrics::new().expect("metrics")),
        Limits::default(),
    ))
});

/// The requests of all cases, in the API server's format.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds_read = requests("review");
    seeds_read.extend(requests("mutate"));
    for path in files::of_cases("kinds", "ask.yaml") {
        let asks = files::documents(&path).into_iter();
        seeds_read.extend(asks.filter_map(|ask| ask.get("review").map(body)));
    }
    for path in files::find("examples", &|path| {
        path.extension().is_some_and(|end| end == "json")
    }) {
        seeds_read.push(files::text(&path).into_bytes());
    }
    seeds_read
}

/// The requests of the cases of a test.
pub fn requests(test: &str) -> Vec<Vec<u8>> {
    let paths = files::of_cases(test, "request.yaml");
    paths
        .iter()
        .map(|path| body(&files::documents(path)[0]))
        .collect()
}

/// Converts `{operation, object, old, …}` of a case to a body.
fn body(case: &Value) -> Vec<u8> {
    let subject = case
        .get("object")
        .or_else(|| case.get("old"))
        .unwrap_or(&Value::Null);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let version = text(&subject["apiVersion"]);
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "00000000-0000-4000-8000-000000000001",
            "kind": {"group": group, "version": version, "kind": subject["kind"]},
            "operation": case["operation"],
            "subResource": case["subresource"],
            "namespace": subject["metadata"]["namespace"],
            "name": subject["metadata"]["name"],
            "object": case["object"],
            "oldObject": case["old"],
            "dryRun": case["dryRun"].as_bool().unwrap_or_default(),
            "userInfo": {"username": case["user"].as_str().unwrap_or("jane"), "groups": case["groups"]},
            "options": {"fieldManager": case["fieldManager"]},
        },
    });
    review.to_string().into_bytes()
}
