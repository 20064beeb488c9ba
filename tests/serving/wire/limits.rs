//! Paths, methods, headers, sizes, deadlines, and too many requests at once.

use std::sync::Arc;
use std::time::Duration;

use attache::http::dependencies::Confirm;
use attache::http::limits::Limits;
use futures::FutureExt;
use tokio::sync::Semaphore;

use super::input::{too_large_by_length, too_large_in_chunks};
use super::server::{Running, Setup, allows, on_listener, start, start_with, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_no_review_is_rejected() {
    let server = start().await;
    let mut client = server.connect().await;
    let answer = client.get("/validate").await;
    assert_eq!(
        (answer.status, &*answer.body),
        (405, r#"{"error":"only POST is allowed"}"#)
    );
    assert_eq!(answer.header("allow"), Some("POST"));
    let answer = client.post("/validat", b"{}").await;
    assert_eq!(
        (answer.status, &*answer.body),
        (404, r#"{"error":"no such path"}"#)
    );

    let json = r#"{"error":"Content-Type must be application/json"}"#;
    let encoded = r#"{"error":"Content-Encoding is not supported"}"#;
    for (headers, status, body) in [
        ("content-type: text/plain", 415, json),
        ("content-type: application/jsonx", 415, json),
        ("accept: */*", 415, json),
        (
            "content-type: application/json\r\ncontent-encoding: gzip",
            415,
            encoded,
        ),
        (
            "content-type: Application/JSON; charset=utf-8",
            400,
            r#"{"error":"the body must have apiVersion admission.k8s.io/v1 and kind AdmissionReview"}"#,
        ),
    ] {
        let mut client = server.connect().await;
        let request = format!(
            "POST /validate HTTP/1.1\r\nhost: x\r\n{headers}\r\ncontent-length: 2\r\n\r\n{{}}"
        );
        client.send(request.as_bytes()).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, &*answer.body), (status, body), "{headers}");
    }
    let text = server.metrics.text().unwrap();
    assert!(
        text.contains(r#"attache_malformed_total{reason="media-type"} 4"#),
        "{text}"
    );
    assert!(
        text.contains(r#"attache_malformed_total{reason="version"} 1"#),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_over_the_limit_is_refused_and_the_connection_closed() {
    let server = start().await;
    too_large_by_length(server.connect().await).await;
    too_large_in_chunks(server.connect().await).await;
    let text = server.metrics.text().unwrap();
    assert!(
        text.contains(r#"attache_malformed_total{reason="size"} 2"#),
        "{text}"
    );
    server.allows().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_body_times_out() {
    let limits = Limits {
        body_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let server = start_with(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    client
        .send(b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{")
        .await;
    let answer = client.answer().await;
    assert_eq!(
        (answer.status, &*answer.body),
        (408, r#"{"error":"the body did not come in time"}"#)
    );
    client.closed().await;
    assert_eq!(server.metrics.timeouts.get(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_reviews_as_a_number_can_say() {
    let limits = Limits {
        max_in_flight: usize::MAX,
        ..Limits::default()
    };
    let server = start_with(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    server.allows().await;
}

/// A server with one slot, and the gate that live reads wait for.
async fn with_one_place() -> (Running, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let held = gate.clone();
    let setup = Setup {
        limits: Limits {
            max_in_flight: 1,
            ..Limits::default()
        },
        confirm: Some(Arc::new(move |_| {
            let held = held.clone();
            async move {
                held.acquire().await.unwrap().forget();
                Ok(Some(super::server::edge()))
            }
            .boxed()
        })),
        ..Setup::default()
    };
    (start_with(setup).await, gate)
}

/// A review whose live read waits for the test occupies the slot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn excess_requests_wait_a_quarter_of_their_timeout_and_get_retry_after() {
    let (server, gate) = with_one_place().await;
    let mut first = server.connect().await;
    let slow = tokio::spawn(async move {
        first
            .post("/validate", on_listener("htpp").as_bytes())
            .await
    });
    until("the first is under way", || {
        server.metrics.in_flight.get() == 1
    })
    .await;

    let mut second = server.connect().await;
    let started = std::time::Instant::now();
    let answer = second
        .post("/validate?timeout=1s", on_listener("http").as_bytes())
        .await;
    assert_eq!(
        (answer.status, &*answer.body),
        (503, r#"{"error":"too many requests under way"}"#)
    );
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(started.elapsed() >= Duration::from_millis(250));
    assert_eq!(server.metrics.shed.get(), 1);

    gate.add_permits(1);
    let refused = slow.await.unwrap();
    assert_eq!(
        refused.json()["response"]["allowed"],
        false,
        "{}",
        refused.body
    );
    allows(&mut second).await;
}

/// The one slot, three requests in the queue, and one more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_rejects_at_once() {
    let (server, gate) = with_one_place().await;
    let mut asked = Vec::new();
    for (n, queued) in [0, 1, 2, 3].into_iter().enumerate() {
        let mut client = server.connect().await;
        asked.push(tokio::spawn(async move {
            client
                .post("/validate", on_listener("htpp").as_bytes())
                .await
        }));
        until("it is under way or waits", || {
            let metrics = &server.metrics;
            metrics.in_flight.get() == i64::try_from(n).unwrap() + 1
                && metrics.queued.get() == queued
        })
        .await;
    }
    // It could wait 2.5 s, but the others are still not answered, so it did not wait.
    let mut one_more = server.connect().await;
    let answer = one_more
        .post("/validate", on_listener("http").as_bytes())
        .await;
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("1"))
    );
    assert_eq!(
        (server.metrics.queued.get(), server.metrics.shed.get()),
        (3, 1)
    );
    gate.add_permits(4);
    for task in asked {
        assert_eq!(task.await.unwrap().status, 200);
    }
    assert_eq!(server.metrics.queued.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_ends_the_request_and_nothing_else() {
    let confirm: Confirm = Arc::new(|_| panic!("on purpose"));
    let server = start_with(Setup {
        confirm: Some(confirm),
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate", on_listener("htpp").as_bytes())
        .await;
    assert_eq!(
        (answer.status, &*answer.body),
        (500, r#"{"error":"internal error"}"#)
    );
    assert_eq!(server.metrics.panics.get(), 1);
    // The same connection stays usable.
    allows(&mut client).await;
}
