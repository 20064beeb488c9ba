//! A live read confirms a refusal that rests on what the cache does not have.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use attache::engine::model::object::{Node, Object};
use attache::http::dependencies::Confirm;
use futures::FutureExt;

use super::server::{Setup, edge, on_listener, start_with};

/// A fake answer of the API server, and the number of reads.
fn says(answer: Result<Option<Object>, String>) -> (Confirm, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let confirm: Confirm = Arc::new(move |key| {
        assert_eq!(key.to_string(), "Gateway infra/edge");
        count.fetch_add(1, Ordering::Relaxed);
        let answer = answer.clone();
        async move { answer }.boxed()
    });
    (confirm, asked)
}

async fn review(confirm: Confirm, listener: &str) -> serde_json::Value {
    let server = start_with(Setup {
        confirm: Some(confirm),
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate?timeout=1s", on_listener(listener).as_bytes())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["response"].clone()
}

#[tokio::test]
async fn confirmed_is_refused() {
    let (confirm, asked) = says(Ok(Some(edge())));
    let response = review(confirm, "htpp").await;
    assert_eq!(response["allowed"], false, "{response}");
    assert_eq!(response["status"]["code"], 422);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_listener_found_by_a_live_read_passes() {
    let mut fresh = edge();
    if let Node::Gateway { listeners, .. } = &mut fresh.node {
        listeners[0].name = "htpp".into();
    }
    let (confirm, _) = says(Ok(Some(fresh)));
    let response = review(confirm, "htpp").await;
    assert_eq!(response["allowed"], true, "{response}");
    assert!(response.get("warnings").is_none(), "{response}");
}

#[tokio::test]
async fn a_gateway_that_is_gone_is_a_warning() {
    let (confirm, _) = says(Ok(None));
    let response = review(confirm, "htpp").await;
    assert_eq!(response["allowed"], true, "{response}");
    assert_eq!(
        response["auditAnnotations"]["findings"], "target-not-found",
        "{response}"
    );
}

#[tokio::test]
async fn no_answer_is_a_warning_that_says_why() {
    let (confirm, _) = says(Err("forbidden".to_owned()));
    let response = review(confirm, "htpp").await;
    assert_eq!(response["allowed"], true, "{response}");
    let warning = response["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("could not be confirmed (forbidden)"),
        "{warning}"
    );
}

#[tokio::test]
async fn a_live_read_without_an_answer_ends_with_the_callers_timeout() {
    let confirm: Confirm = Arc::new(|_| std::future::pending().boxed());
    let started = std::time::Instant::now();
    let response = review(confirm, "htpp").await;
    assert_eq!(response["allowed"], true, "{response}");
    let warning = response["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("could not be confirmed (no time left)"),
        "{warning}"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_cached_object_needs_no_live_read() {
    let (confirm, asked) = says(Ok(None));
    let response = review(confirm, "http").await;
    assert_eq!(response["allowed"], true);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}
