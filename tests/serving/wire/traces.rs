//! The spans of requests to the API server: each read, each access review, and the engine again after a read.

use std::sync::Arc;

use attache::http::dependencies::{Confirm, MayGet};
use attache::metrics::Metrics;
use attache::telemetry::traces::{Settings, Traces};
use futures::FutureExt;
use opentelemetry_proto::tonic::trace::v1::Span;

use super::server::{Setup, edge, on_listener, start_with};
use testing::collector::{Seen, attribute, collector};

async fn traces() -> (Traces, Seen) {
    let (addr, seen) = collector().await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{addr}")),
        ("OTEL_BSP_SCHEDULE_DELAY", "1".to_owned()),
    ];
    let get = move |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.clone())
    };
    let settings = Settings::from_variables(&get).unwrap().unwrap();
    let traces = Traces::to(settings, Arc::new(Metrics::new().unwrap())).unwrap();
    (traces, seen)
}

fn names(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

#[tokio::test]
async fn a_live_read_is_a_span_and_the_engine_runs_again() {
    let (traces, seen) = traces().await;
    let confirm: Confirm = Arc::new(|_| async { Ok(Some(edge())) }.boxed());
    let server = start_with(Setup {
        confirm: Some(confirm),
        traces,
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate", on_listener("htpp").as_bytes())
        .await;
    assert_eq!(answer.json()["response"]["allowed"], false);
    let spans = seen.wait_for(6).await;
    let expected = [
        "validate",
        "receive",
        "parse",
        "engine",
        "live confirm",
        "engine",
    ];
    assert_eq!(names(&spans), expected);
    let read = &spans[4];
    assert_eq!(read.kind, 3, "somebody else is asked");
    assert_eq!(
        attribute(&read.attributes, "attache.kind").as_deref(),
        Some("Gateway")
    );
    assert_eq!(
        attribute(&read.attributes, "attache.result").as_deref(),
        Some("found")
    );
}

#[tokio::test]
async fn an_access_review_is_a_span_without_the_name_of_the_policy() {
    let (traces, seen) = traces().await;
    let may_get: MayGet = Arc::new(|_, _| async { false }.boxed());
    let server = start_with(Setup {
        state: Some(super::disclosure::state(1)),
        may_get: Some(may_get),
        traces,
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate", super::disclosure::route().as_bytes())
        .await;
    assert_eq!(answer.status, 200);
    let spans = seen.wait_for(5).await;
    let expected = ["validate", "receive", "parse", "engine", "access review"];
    assert_eq!(names(&spans), expected);
    assert_eq!(
        attribute(&spans[4].attributes, "attache.allowed").as_deref(),
        Some("false")
    );
    for name in ["p0", "alice", "infra"] {
        assert!(
            !format!("{spans:?}").contains(&format!("\"{name}\"")),
            "{name}: {spans:?}"
        );
    }
}

#[tokio::test]
async fn a_panic_ends_its_trace() {
    let (traces, seen) = traces().await;
    let server = start_with(Setup {
        confirm: Some(Arc::new(|_| panic!("on purpose"))),
        traces,
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate", on_listener("htpp").as_bytes())
        .await;
    assert_eq!(answer.status, 500);
    let spans = seen.wait_for(5).await;
    let status = spans[0].status.clone().unwrap();
    assert_eq!((status.code, &*status.message), (2, "panic"));
}
