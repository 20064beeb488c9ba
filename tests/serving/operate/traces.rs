//! The traces of a server whose environment names a collector.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;

use super::process::{Process, Setup, review};
use testing::client::Tls;
use testing::collector::{attribute, collector, collector_with_tls, hex};
use testing::eventually::becomes;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

async fn post(client: &mut Tls, headers: &str, body: &str) -> u16 {
    let head = format!(
        "POST /validate?timeout=5s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    client.send(format!("{head}{body}").as_bytes()).await;
    client.answer().await.status
}

#[tokio::test]
async fn a_review_is_a_span_of_the_callers_trace() {
    let (addr, seen) = collector().await;
    let mut server = Process::start(&Setup {
        environment: &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{addr}")),
            (
                "OTEL_EXPORTER_OTLP_HEADERS",
                "authorization=Bearer%20s3cret",
            ),
            ("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=one"),
            ("OTEL_BSP_SCHEDULE_DELAY", "20"),
            ("OTEL_TRACES_SAMPLER", "parentbased_always_off"),
            ("ATTACHE_LOG", "debug"),
        ],
        ..Setup::default()
    });
    let mut client = server.connect().await;
    let bad = review("u-7", "bad-name", "htpp", &json!({})).to_string();
    let span_of =
        |flags: &str| format!("traceparent: 00-{TRACE}-{PARENT}-{flags}\r\ntracestate: a=1\r\n");
    // The caller does not record a trace for either of these.
    assert_eq!(post(&mut client, "", &bad).await, 200);
    assert_eq!(post(&mut client, &span_of("00"), &bad).await, 200);
    assert_eq!(post(&mut client, &span_of("01"), &bad).await, 200);
    let spans = seen.wait_for(4).await;
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["validate", "receive", "parse", "engine"]);
    let root = &spans[0];
    assert_eq!(hex(&root.parent_span_id), PARENT);
    assert_eq!((root.kind, &*root.trace_state), (2, "a=1"));
    assert_eq!(
        root.flags & 0x301,
        0x301,
        "sampled, and the parent is elsewhere"
    );
    for (key, value) in [
        ("attache.uid", "u-7"),
        ("attache.operation", "CREATE"),
        ("attache.kind", "RetryPolicy.policies.example.com"),
        ("attache.decision", "denied"),
        ("attache.findings", "section-unknown"),
        ("attache.dry_run", "false"),
        ("http.response.status_code", "200"),
    ] {
        assert_eq!(
            attribute(&root.attributes, key).as_deref(),
            Some(value),
            "{key}"
        );
    }
    for span in &spans {
        assert_eq!(hex(&span.trace_id), TRACE);
        assert!(
            span.start_time_unix_nano >= root.start_time_unix_nano,
            "{}",
            span.name
        );
        assert!(
            span.end_time_unix_nano <= root.end_time_unix_nano,
            "{}",
            span.name
        );
        assert!(
            span.start_time_unix_nano <= span.end_time_unix_nano,
            "{}",
            span.name
        );
    }
    for child in &spans[1..] {
        assert_eq!(child.parent_span_id, root.span_id, "{}", child.name);
    }
    let taken = seen.requests().remove(0);
    assert_eq!(taken.path, "/v1/traces");
    assert_eq!(taken.headers["content-type"], "application/x-protobuf");
    assert_eq!(taken.headers["authorization"], "Bearer s3cret");
    let resource = taken.request.resource_spans[0].resource.clone().unwrap();
    let of_resource = |key: &str| attribute(&resource.attributes, key);
    assert_eq!(of_resource("service.name").as_deref(), Some("attache"));
    assert_eq!(of_resource("k8s.cluster.name").as_deref(), Some("one"));
    let sent = format!("{taken:?}", taken = taken.request);
    assert!(!sent.contains("bad-name"), "a name of an object: {sent}");

    let log = server.log();
    assert!(!log.contains("s3cret"), "{log}");
    let line = format!(r#""trace":"{TRACE}""#);
    let reviewed = log.lines().filter(|line| line.contains("\"reviewed\""));
    assert_eq!(
        reviewed.filter(|output| output.contains(&line)).count(),
        1,
        "{log}"
    );
}

/// Requests that are not reviews are traced too, and the last spans are sent before the exit.
#[tokio::test]
async fn the_last_spans_are_sent_at_the_end() {
    let (addr, seen) = collector().await;
    let mut server = Process::start(&Setup {
        environment: &[
            (
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                &format!("http://{addr}/in"),
            ),
            ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
        ],
        ..Setup::default()
    });
    let mut client = server.connect().await;
    assert_eq!(post(&mut client, "", "{").await, 400);
    drop(client);
    let ended = tokio::task::spawn_blocking(move || server.end())
        .await
        .unwrap();
    assert!(ended.success());
    let spans = seen.wait_for(3).await;
    assert!(spans[0].parent_span_id.is_empty(), "a trace of its own");
    let status = spans[0].status.clone().unwrap();
    assert_eq!((status.code, &*status.message), (2, "body"));
    assert_eq!(seen.requests()[0].path, "/in");
}

/// Each protocol, with and without TLS of a private CA.
#[tokio::test]
async fn spans_are_exported_by_http_and_by_grpc() {
    let (addr, seen) = collector().await;
    let (tls_addr, tls_seen, ca) = collector_with_tls().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, ca).unwrap();
    for (protocol, path) in [
        ("http/protobuf", "/v1/traces"),
        (
            "grpc",
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        ),
    ] {
        for (endpoint, seen) in [
            (format!("http://{addr}"), &seen),
            (format!("https://{tls_addr}"), &tls_seen),
        ] {
            let mut server = Process::start(&Setup {
                environment: &[
                    ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
                    ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
                    ("OTEL_EXPORTER_OTLP_CERTIFICATE", file.to_str().unwrap()),
                    (
                        "OTEL_EXPORTER_OTLP_HEADERS",
                        "authorization=Bearer%20s3cret",
                    ),
                ],
                ..Setup::default()
            });
            let mut client = server.connect().await;
            let good = review("u-1", "good", "http", &json!({})).to_string();
            assert_eq!(post(&mut client, "", &good).await, 200);
            drop(client);
            let ended = tokio::task::spawn_blocking(move || server.log());
            let log = ended.await.unwrap();
            let taken = seen.requests().pop();
            let taken = taken.unwrap_or_else(|| panic!("{protocol} {endpoint}: {log}"));
            assert_eq!(taken.path, path);
            assert_eq!(taken.headers["authorization"], "Bearer s3cret");
            let spans = &taken.request.resource_spans[0].scope_spans[0].spans;
            assert_eq!(spans.len(), 4, "{spans:?}");
            seen.forget();
        }
    }
}

#[tokio::test]
async fn a_collector_that_is_dead_or_silent_fails_no_review() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        closed.local_addr().unwrap()
    };
    for (addr, patience) in [(dead, "10000"), (silent.local_addr().unwrap(), "600000")] {
        let mut server = Process::start(&Setup {
            environment: &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{addr}")),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", patience),
                ("OTEL_BSP_SCHEDULE_DELAY", "1"),
            ],
            ..Setup::default()
        });
        let mut client = server.connect().await;
        let good = review("u-1", "good", "http", &json!({})).to_string();
        for _ in 0..700 {
            assert_eq!(post(&mut client, "", &good).await, 200);
        }
        let lost = if addr == dead { "failed" } else { "dropped" };
        // The exporter retries before it gives up.
        becomes(&format!("a span was {lost}"), async || {
            let page = server.get("/metrics").await.body;
            let count = |result: &str| {
                let line = format!("attache_spans_total{{result=\"{result}\"}} ");
                let output = page.lines().find_map(|said| said.strip_prefix(&*line));
                output.unwrap().parse::<u64>().unwrap()
            };
            assert_eq!(count("exported"), 0);
            (count(lost) > 0).then_some(()).ok_or(page)
        })
        .await;
        drop(client);
        let began = Instant::now();
        let log = tokio::task::spawn_blocking(move || server.log())
            .await
            .unwrap();
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "the process is kept"
        );
        let losses = log.matches("spans are lost").count();
        assert!(losses <= 1, "it is said once: {log}");
        if addr == dead {
            assert!(log.contains("Connection refused"), "{log}");
        }
    }
}

#[tokio::test]
async fn an_unusable_setting_ends_the_start() {
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_attache"))
        .args([
            "serve",
            "--from",
            "examples/quickstart",
            "--listen=127.0.0.1:0",
            "--admin=127.0.0.1:0",
        ])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    let output = String::from_utf8(run.stderr).unwrap();
    assert!(output.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{output}");
    assert!(output.contains("http://collector:4318"), "{output}");
}
