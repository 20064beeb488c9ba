//! Shutdown: first not ready but still answering; then running requests finish; then the end.

use std::sync::Arc;
use std::time::Duration;

use attache::http::admin::{self, Check};
use attache::http::dependencies::Confirm;
use attache::http::drain::Phase;
use attache::http::server::{BoundListener, Options, Server};
use attache::metrics::Metrics;
use futures::FutureExt;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

use super::server::{ALLOWED, Running, Setup, edge, on_listener, start_with, until};
use testing::client::{Answer, Client};
use testing::eventually::becomes;

/// Live reads that wait for the test.
fn gated() -> (Confirm, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let held = gate.clone();
    let confirm: Confirm = Arc::new(move |_| {
        let held = held.clone();
        async move {
            held.acquire().await.unwrap().forget();
            Ok(Some(edge()))
        }
        .boxed()
    });
    (confirm, gate)
}

async fn under_way(server: &Running) -> tokio::task::JoinHandle<Option<Answer>> {
    let mut client = server.connect().await;
    let task = tokio::spawn(async move {
        let body = on_listener("htpp");
        let head = format!(
            "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client.send(format!("{head}{body}").as_bytes()).await;
        client.try_answer().await
    });
    until("the request is under way", || {
        server.metrics.in_flight.get() == 1
    })
    .await;
    task
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_rejects_nobody_and_waits_for_requests_in_progress() {
    let (confirm, gate) = gated();
    let server = start_with(Setup {
        confirm: Some(confirm),
        ..Setup::default()
    })
    .await;
    let mut idle = server.connect().await;
    assert_eq!(
        idle.post("/validate", on_listener("http").as_bytes())
            .await
            .header("connection"),
        None
    );
    let mut silent = server.connect().await;
    let slow = under_way(&server).await;

    server.phase.send_replace(Phase::Draining);
    // New connections are still accepted, and told to close.
    let mut late = server.connect().await;
    for client in [&mut late, &mut idle] {
        let answer = client
            .post("/validate", on_listener("http").as_bytes())
            .await;
        assert_eq!(
            (&*answer.body, answer.header("connection")),
            (ALLOWED, Some("close"))
        );
        client.closed().await;
    }
    // After the delay, new connections are refused and silent ones closed.
    silent.closed().await;
    let addr = server.addr;
    becomes("connections are refused", async || {
        let connected = TcpStream::connect(addr).await;
        connected
            .err()
            .map(drop)
            .ok_or_else(|| "one is taken".to_owned())
    })
    .await;
    assert!(!server.serving.is_finished(), "a request is under way");
    gate.add_permits(1);
    let answer = slow.await.unwrap().expect("an answer");
    assert_eq!(answer.json()["response"]["allowed"], false);
    assert_eq!(answer.header("connection"), Some("close"));
    server.serving.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_requests_are_cut_at_the_end_of_the_drain() {
    let (confirm, _gate) = gated();
    let options = Options {
        drain_delay: Duration::ZERO,
        drain_timeout: Duration::from_millis(100),
        ..Options::default()
    };
    let server = start_with(Setup {
        confirm: Some(confirm),
        options,
        ..Setup::default()
    })
    .await;
    let slow = under_way(&server).await;
    server.phase.send_replace(Phase::Draining);
    assert!(slow.await.unwrap().is_none());
    server.serving.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once() {
    let (confirm, _gate) = gated();
    let options = Options {
        drain_delay: Duration::from_mins(1),
        ..Options::default()
    };
    let server = start_with(Setup {
        confirm: Some(confirm),
        options,
        ..Setup::default()
    })
    .await;
    let slow = under_way(&server).await;
    server.phase.send_replace(Phase::Draining);
    server.phase.send_replace(Phase::Aborted);
    assert!(slow.await.unwrap().is_none());
    server.serving.await.unwrap();
}

#[tokio::test]
async fn probes_and_metrics_on_the_plain_port() {
    let (phase, phases) = watch::channel(Phase::Running);
    let (ready, readiness) = watch::channel(false);
    let metrics = Arc::new(Metrics::new().unwrap());
    let check = |name: &str, ok, required, detail: &str| Check {
        name: name.into(),
        ok,
        required,
        detail: detail.into(),
    };
    let checks: admin::Checks = Arc::new(move || {
        vec![
            check(
                "certificate",
                *readiness.borrow(),
                true,
                "no certificate yet",
            ),
            check("retrypolicies", false, false, "forbidden"),
        ]
    });
    let server = Server {
        router: admin::router(checks, metrics.clone(), phases.clone()),
        tls: None,
        options: Options::default(),
        metrics,
        phase: phases,
    };
    let bound = BoundListener::bind(([127, 0, 0, 1], 0).into())
        .await
        .unwrap();
    let addr = bound.addr;
    let serving = tokio::spawn(server.serve(bound));
    let get = async |path: &str| {
        let mut client = Client::new(TcpStream::connect(addr).await.unwrap());
        let answer = client.get(path).await;
        (answer.status, answer.body)
    };
    assert_eq!(get("/livez").await, (200, "ok\n".to_owned()));
    let failing = "[-]certificate failed: no certificate yet\n[-]retrypolicies failed (not required): forbidden\n[+]shutdown ok\nreadyz check failed\n";
    assert_eq!(get("/readyz").await, (503, failing.to_owned()));
    ready.send_replace(true);
    assert_eq!(get("/readyz").await, (200, "ok\n".to_owned()));
    let verbose = "[+]certificate ok\n[-]retrypolicies failed (not required): forbidden\n[+]shutdown ok\nreadyz check passed\n";
    assert_eq!(get("/readyz?verbose").await, (200, verbose.to_owned()));
    let (status, text) = get("/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains("attache_build_info{version="), "{text}");

    // Readiness fails at the first signal, while the process still answers.
    phase.send_replace(Phase::Draining);
    let (status, text) = get("/readyz").await;
    assert_eq!(status, 503);
    assert!(
        text.contains("[-]shutdown failed: the server is shutting down\n"),
        "{text}"
    );
    assert_eq!(get("/livez").await.0, 200);
    phase.send_replace(Phase::Aborted);
    serving.await.unwrap();
}
