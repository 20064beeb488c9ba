//! An API server with an unknown host name: the process stays alive, is not ready, and says why.

use super::process::{Process, Setup, signal};

/// `.invalid` never resolves.
const KUBECONFIG: &str = r"
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://api.attache.invalid:6443', insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: t}}]
";

#[tokio::test]
async fn an_api_server_whose_name_is_not_known_is_waited_for() {
    let mut process = Process::start(&Setup {
        state: vec!["--kubeconfig={dir}/kubeconfig".to_owned()],
        files: vec![("kubeconfig", KUBECONFIG.to_owned())],
        ..Setup::default()
    });
    let crds = "[-]cache:CustomResourceDefinition.apiextensions.k8s.io failed (not required): ";
    process.until("/readyz?verbose", 503, crds).await;
    // The resolver's own message.
    process
        .until("/readyz?verbose", 503, "failed to lookup address")
        .await;
    assert_eq!(process.get("/livez").await.status, 200);
    process
        .until("/metrics", 200, "attache_watch_errors_total")
        .await;
    // Requests meanwhile are answered without unfounded findings.
    process
        .until("/readyz?verbose", 503, "[+]certificate ok")
        .await;
    let mut client = process.connect().await;
    let review = super::process::review("htpp");
    let answer = client.post("/validate?timeout=5s", review.as_bytes()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(
        answer.json()["response"]["allowed"],
        true,
        "{}",
        answer.body
    );
    signal("TERM", process.pid().to_string());
    assert_eq!(process.ended().await.code(), Some(0));
}
