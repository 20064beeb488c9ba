//! A review that rests on stale data says so.

use std::sync::Arc;
use std::time::Duration;

use attache::engine::admission::staleness::StaleKinds;
use attache::engine::model::ids::GroupKind;
use attache::http::dependencies::Age;
use futures::FutureExt;

use super::server::{ALLOWED, Setup, edge, on_listener, start_with};

fn old(kinds: &[GroupKind]) -> Age {
    let age = Duration::from_secs(432);
    let old: StaleKinds = kinds.iter().map(|gk| (gk.clone(), age)).collect();
    Arc::new(move || old.clone())
}

#[tokio::test]
async fn a_review_of_stale_kinds_warns_once_and_is_counted() {
    let kinds = ["Gateway", "HTTPRoute", "GRPCRoute", "TLSRoute"].map(GroupKind::gateway_api);
    let server = start_with(Setup {
        age: Some(old(&kinds)),
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate?timeout=2s", on_listener("http").as_bytes())
        .await;
    let response = &answer.json()["response"];
    assert_eq!(response["allowed"], true, "{response}");
    let warning = "unverified: no update for GRPCRoute, Gateway and 2 more in 7 minutes; this may be out of date";
    assert_eq!(response["warnings"][0], warning, "{response}");
    let warnings = response["warnings"].as_array().unwrap().iter();
    let unverified = warnings.filter(|line| line.as_str().unwrap().starts_with("unverified"));
    assert_eq!(unverified.count(), 1, "{response}");
    let metrics = server.metrics.text().unwrap();
    assert!(
        metrics.contains("attache_unverified_total{reason=\"age\"} 1\n"),
        "{metrics}"
    );

    // An allowed request without findings rests on nothing.
    let answer = client
        .post("/validate?timeout=2s", ALLOWED.as_bytes())
        .await;
    assert!(
        answer.json()["response"].get("warnings").is_none(),
        "{}",
        answer.body
    );
    // The validating endpoint already warns.
    let answer = client
        .post("/mutate?timeout=2s", on_listener("http").as_bytes())
        .await;
    assert!(
        answer.json()["response"].get("warnings").is_none(),
        "{}",
        answer.body
    );
}

/// The Gateway was just read live, so its age does not matter.
#[tokio::test]
async fn a_confirmed_refusal_holds_with_a_stale_cache() {
    let gateways = [GroupKind::gateway_api("Gateway")];
    for (answer, allowed) in [
        (Ok(Some(edge())), false),
        (Err("forbidden".to_owned()), true),
    ] {
        let server = start_with(Setup {
            age: Some(old(&gateways)),
            confirm: Some(Arc::new(move |_| {
                let answer = answer.clone();
                async move { answer }.boxed()
            })),
            ..Setup::default()
        })
        .await;
        let mut client = server.connect().await;
        let answer = client
            .post("/validate?timeout=2s", on_listener("htpp").as_bytes())
            .await;
        assert_eq!(
            answer.json()["response"]["allowed"],
            allowed,
            "{}",
            answer.body
        );
    }
}
