//! The token of the service account is renewed by kubelet, in place: attache shows the new one.

use std::convert::Infallible;
use std::fs;
use std::sync::{Arc, Mutex};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::process::{Process, Setup};

/// An API server that is never well, and notes who asks.
async fn notes() -> (std::net::SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let notes = notes.clone();
            let answer = service_fn(move |request: Request<hyper::body::Incoming>| {
                let shown = request.headers().get("authorization");
                let shown = shown.map(|value| value.to_str().unwrap().to_owned());
                notes.lock().unwrap().push(shown.unwrap_or_default());
                let answer = Response::builder().status(503).body(String::new());
                async move { Ok::<_, Infallible>(answer.unwrap()) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    (addr, seen)
}

/// It takes the minute after which the file is read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewed_token_is_shown_within_the_minute() {
    let (addr, seen) = notes().await;
    let kubeconfig = format!(
        "{{apiVersion: v1, kind: Config, current-context: c,
        contexts: [{{name: c, context: {{cluster: c, user: u}}}}],
        clusters: [{{name: c, cluster: {{server: 'http://{addr}'}}}}],
        users: [{{name: u, user: {{tokenFile: token}}}}]}}"
    );
    let process = Process::start(&Setup {
        state: vec!["--kubeconfig={dir}/kubeconfig".to_owned()],
        files: vec![("kubeconfig", kubeconfig), ("token", "first".to_owned())],
        ..Setup::default()
    });
    let is_shown = |token: &str| {
        let shown = format!("Bearer {token}");
        seen.lock().unwrap().contains(&shown)
    };
    process.until("/livez", 200, "").await;
    until("the first is shown", || is_shown("first")).await;
    fs::write(process.file("next"), "second").unwrap();
    fs::rename(process.file("next"), process.file("token")).unwrap();
    until("the second is shown", || is_shown("second")).await;
    let all = seen.lock().unwrap();
    let from = all
        .iter()
        .position(|shown| shown == "Bearer second")
        .unwrap();
    let old = all[from..]
        .iter()
        .filter(|shown| *shown == "Bearer first")
        .count();
    assert!(old <= 3, "{old} with the old one after that");
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let waited = async {
        while !holds() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_mins(2), waited).await;
    assert!(waited.is_ok(), "not in time: {what}");
}
