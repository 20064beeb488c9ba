//! `check` against an API server: manifests on top of its state, and its state alone.
//!
//! The server only answers lists, from memory; `tests/cluster` has a real one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{check, json, root, stdout, with_code};

/// Lists by path; `None` if the list is forbidden.
pub(crate) type Lists = BTreeMap<String, Option<Vec<Value>>>;

/// A server with the manifests of the ratchet's state, and a kubeconfig for it.
pub(crate) fn serve(change: impl FnOnce(&mut Lists)) -> TempDir {
    let mut lists = Lists::new();
    for (kind, plural) in [
        ("Gateway", "gateways"),
        ("HTTPRoute", "httproutes"),
        ("ReferenceGrant", "referencegrants"),
    ] {
        let crd = json!({
            "metadata": {"name": format!("{plural}.gateway.networking.k8s.io")},
            "spec": {
                "group": "gateway.networking.k8s.io",
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural},
                "versions": [{"name": "v1", "served": true, "storage": true}],
            },
        });
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        put(&mut lists, crds, crd);
    }
    lists.insert("/api/v1/namespaces".to_owned(), Some(Vec::new()));
    for file in ["kinds.yaml", "gateway.yaml", "policies.yaml", "grants.yaml"] {
        let text = fs::read_to_string(root().join("ratchet/before").join(file)).unwrap();
        for mut object in serde_saphyr::from_multiple::<Value>(&text).unwrap() {
            object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
            let version = object["apiVersion"].as_str().unwrap();
            let root = if version == "v1" { "api" } else { "apis" };
            let kind = object["kind"].as_str().unwrap().to_lowercase();
            let plural = match kind.strip_suffix('y') {
                Some(stem) if kind != "gateway" => format!("{stem}ies"),
                _ => format!("{kind}s"),
            };
            put(&mut lists, &format!("/{root}/{version}/{plural}"), object);
        }
    }
    change(&mut lists);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let lists = Arc::new(lists);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let lists = lists.clone();
            std::thread::spawn(move || answer(stream, &lists));
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": format!("http://{address}")}}],
        "users": [{"name": "test", "user": {}}],
        "contexts": [{"name": "test",
            "context": {"cluster": "test", "user": "test", "namespace": "infra"}}],
    });
    fs::write(dir.path().join("config"), config.to_string()).unwrap();
    dir
}

fn put(lists: &mut Lists, path: &str, object: Value) {
    let list = lists.entry(path.to_owned()).or_insert(Some(Vec::new()));
    list.as_mut().unwrap().push(object);
}

fn answer(stream: TcpStream, lists: &Lists) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let first = lines.next()?.ok()?;
    while lines.next()?.ok().is_some_and(|line| !line.is_empty()) {}
    let path = first.split([' ', '?']).nth(1)?;
    let (code, body) = match lists.get(path) {
        Some(Some(items)) => (200, json!({"kind": "List", "metadata": {}, "items": items})),
        Some(None) => (403, status(403, "Forbidden", "listing is forbidden")),
        None => (404, status(404, "NotFound", "no such resource")),
    };
    let body = body.to_string();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .ok()
}

fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
           "reason": reason, "message": message})
}

fn config(dir: &TempDir) -> String {
    dir.path().join("config").to_str().unwrap().to_owned()
}

/// Code, severity and object of the findings that count.
fn counted_findings(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let counted = findings.filter(|finding| finding.get("notice").is_none());
    let mut lines: Vec<String> = counted
        .map(|finding| {
            let text = |path: &str| finding.pointer(path).and_then(Value::as_str).unwrap_or("-");
            format!(
                "{} {} {}",
                text("/severity"),
                text("/code"),
                text("/object/name")
            )
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn manifests_are_applied_on_top_of_the_cluster() {
    let dir = serve(|_| {});
    let args = [
        "after",
        "--cluster",
        "--kubeconfig",
        &config(&dir),
        "-o",
        "json",
    ];
    let output = check(&root().join("ratchet"), &args);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(
        counted_findings(&json(&output)),
        [
            "deny section-unknown forgotten",
            "warn grant-closed routes",
            "warn route-not-attached search",
            "warn section-orphaned edge",
            "warn section-unknown old-fault",
        ]
    );
}

#[test]
fn the_cluster_is_checked_without_manifests() {
    let dir = serve(|_| {});
    let config = config(&dir);
    let args = ["--cluster", "--kubeconfig", &config];
    let output = check(Path::new("."), &args);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let begins = "RetryPolicy infra/old-fault: deny section-unknown: ";
    assert!(text.lines().any(|line| line.starts_with(begins)), "{text}");
    let elsewhere = ["--cluster", "--kubeconfig", &config, "-n", "shop"];
    let output = check(Path::new("."), &elsewhere);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// Users must know what the answer does not cover.
#[test]
fn a_forbidden_kind_is_reported() {
    let gateways = "/apis/gateway.networking.k8s.io/v1/gateways";
    let dir = serve(|lists| drop(lists.insert(gateways.to_owned(), None)));
    let args = ["--cluster", "--kubeconfig", &config(&dir), "-o", "json"];
    let report = json(&check(Path::new("."), &args));
    let found = with_code(&report, "unverified");
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("Gateway cannot be listed"), "{message}");
    assert!(message.contains("forbidden"), "{message}");
}

#[test]
fn without_a_cluster_there_is_no_check() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"Config\", \"current-context\": \"test\", \
         \"clusters\": [{{\"name\": \"test\", \"cluster\": {{\"server\": \"http://{address}\"}}}}], \
         \"users\": [{{\"name\": \"test\", \"user\": {{}}}}], \
         \"contexts\": [{{\"name\": \"test\", \"context\": {{\"cluster\": \"test\", \"user\": \"test\"}}}}]}}"
    );
    fs::write(dir.path().join("config"), config).unwrap();
    let output = check(dir.path(), &["--cluster", "--kubeconfig", "config"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty());
}
