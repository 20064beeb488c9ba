//! Logs contain the right data and never secrets, and logging blocks nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::process::{Process, Setup, review};

/// In specs, labels, annotations and unreadable files: never in a log.
const BODY: &str = "b0dy-s3cret";
/// The names of objects and namespaces: in a log only at `debug`.
const NAME: &str = "n4me-0f-object";
/// The names of users and groups: never in a log.
const USER: &str = "us3r-jane";

const UNREADABLE: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: infra, name: n4me-0f-object-odd}
spec: {gatewayClassName: example, listeners: "b0dy-s3cret"}
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {namespace: infra, name: "n4me-0f-object-broken
spec: [b0dy-s3cret
"#;

/// Sends every kind of request, with secrets in every field. Returns the uids of the answered ones.
async fn ask(server: &Process) -> Vec<&'static str> {
    let mut client = server.connect().await;
    let more = json!({
        "metadata": {"labels": {"a": BODY}, "annotations": {"attache.dev/a": BODY}},
        "spec": {"secret": BODY},
    });
    let mut concealed = review("u-told", NAME, "http", &more);
    concealed["request"]["userInfo"] =
        json!({"username": USER, "groups": [USER], "extra": {"a": [USER]}});
    let refused = review("u-refused", NAME, "htpp", &more);
    let mut odd = review("u-odd", NAME, "http", &json!({"spec": {"targetRef": BODY}}));
    odd["request"]["namespace"] = json!(NAME);
    let mut unknown = review("u-unknown", NAME, "http", &more);
    unknown["request"]["operation"] = json!(NAME);
    unknown["request"]["kind"]["kind"] = json!(NAME);
    let mut hostile = review(
        "u-hostile",
        &format!("{NAME}\n{{}}\u{1b}[31m"),
        "http",
        &more,
    );
    hostile["request"]["namespace"] = json!("\u{202e}");
    let all = [concealed, refused, odd, unknown, hostile];
    for path in ["/validate", "/mutate"] {
        for review in &all {
            let answer = client.post(path, review.to_string().as_bytes()).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    }
    let cut = format!(r#"{{"apiVersion":"{BODY}","request":{{"uid":"{BODY}"#);
    assert_eq!(client.post("/validate", cut.as_bytes()).await.status, 400);
    assert_eq!(client.get(&format!("/{BODY}")).await.status, 404);
    vec!["u-told", "u-refused", "u-odd", "u-unknown", "u-hostile"]
}

async fn logged(filter: &str, format: &str) -> (String, Vec<&'static str>) {
    let mut server = Process::start(&Setup {
        files: &[("unreadable.yaml", UNREADABLE)],
        environment: &[("ATTACHE_LOG", filter)],
        args: &[&format!("--log-format={format}")],
        ..Setup::default()
    });
    let uids = ask(&server).await;
    let log = tokio::task::spawn_blocking(move || server.log()).await;
    (log.unwrap(), uids)
}

fn lines(log: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    log.lines().map(parse).collect()
}

#[tokio::test]
async fn at_info_a_refusal_is_a_line_without_names() {
    let (log, _) = logged("info", "json").await;
    for secret in [BODY, NAME, USER] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    let lines = lines(&log);
    let denied: Vec<&Value> = lines.iter().filter(|l| l["message"] == "denied").collect();
    let uids: Vec<_> = denied.iter().map(|line| &line["uid"]).collect();
    assert_eq!(uids, ["u-refused", "u-odd"], "{log}");
    let line = denied[0];
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["codes"], "section-unknown");
    assert_eq!(line["kind"], "RetryPolicy.policies.example.com");
    assert_eq!(
        (&line["operation"], &line["endpoint"]),
        (&json!("CREATE"), &json!("validate"))
    );
    assert!(
        line["micros"].as_u64().is_some_and(|micros| micros > 0),
        "{line}"
    );
    let left_out = lines
        .iter()
        .filter(|l| l["file"].as_str().is_some_and(|f| f.contains("unreadable")));
    let places: BTreeSet<u64> = left_out.map(|l| l["line"].as_u64().unwrap()).collect();
    assert_eq!(places.len(), 2, "each with its line: {log}");
}

#[tokio::test]
async fn at_debug_each_review_is_a_line_with_names_and_without_bodies() {
    let (log, uids) = logged("debug", "json").await;
    let lines = lines(&log);
    let reviewed: Vec<&Value> = lines
        .iter()
        .filter(|l| l["message"] == "reviewed")
        .collect();
    for uid in &uids {
        let of_it = reviewed.iter().filter(|line| line["uid"] == *uid);
        assert_eq!(of_it.count(), 2, "one for each endpoint: {uid}: {log}");
    }
    assert_eq!(reviewed.len(), 2 * uids.len());
    let line_of = |uid| *reviewed.iter().find(|line| line["uid"] == uid).unwrap();
    assert_eq!(
        (&line_of("u-told")["name"], &line_of("u-told")["namespace"]),
        (&json!(NAME), &json!("infra"))
    );
    assert_eq!(line_of("u-told")["decision"], "warned");
    // The sender chooses these values.
    let unknown = line_of("u-unknown");
    assert_eq!(
        (&unknown["operation"], &unknown["kind"]),
        (&json!("other"), &json!("other"))
    );
    for secret in [BODY, USER] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

/// This holds at every log level, also for libraries.
#[tokio::test]
async fn bodies_and_users_are_in_no_log() {
    let everything = "trace,hyper=trace,h2=trace,hyper_util=trace,rustls=trace,tower=trace,axum=trace,kube_client=trace";
    let (log, _) = logged(everything, "text").await;
    assert!(log.contains("DEBUG"), "{log}");
    for secret in [BODY, USER] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    assert!(
        !log.contains('\u{1b}'),
        "nothing that a terminal obeys: {log}"
    );
    assert!(
        log.lines().all(|line| line.contains("Z ")),
        "a name that breaks the line: {log}"
    );
}

/// The log goes to a full pipe that nobody reads.
#[tokio::test]
async fn a_blocked_log_stops_no_review() {
    let mut server = Process::start(&Setup {
        environment: &[("ATTACHE_LOG", "debug")],
        unread_log: true,
        ..Setup::default()
    });
    let mut client = server.connect().await;
    let body = review("u-1", NAME, "http", &json!({})).to_string();
    for _ in 0..2_000 {
        assert_eq!(client.post("/validate", body.as_bytes()).await.status, 200);
    }
    let page = server.get("/metrics").await.body;
    let lost = page
        .lines()
        .find_map(|line| line.strip_prefix("attache_log_lines_lost_total "));
    assert!(lost.unwrap().parse::<u64>().unwrap() > 0, "{page}");
    drop(client);
    let ended = tokio::task::spawn_blocking(move || server.end())
        .await
        .unwrap();
    assert!(ended.success(), "{ended}");
}
