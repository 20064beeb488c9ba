//! The service account's token and CA are renewed in place: attache presents the new token and trusts the new CA.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use attache::cache::served::Served;
use attache::cache::tuned;
use attache::certificates::{CaAndPair, make_ca_and_pair};
use attache::http::tls::{Certificates, server_config};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use tempfile::TempDir;
use testing::eventually::{becomes_within, until_within};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::process::{Process, Setup};

/// The files are read again after at most a minute.
const MINUTE: Duration = Duration::from_mins(1);
/// For a busy machine.
const SLACK: Duration = Duration::from_secs(10);

/// The credentials that clients presented, and when.
type Shown = Arc<Mutex<Vec<(Instant, String)>>>;

/// An API server that always fails and records its clients.
async fn notes() -> (std::net::SocketAddr, Shown) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let seen = Shown::default();
    let notes = seen.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let notes = notes.clone();
            let answer = service_fn(move |request: Request<hyper::body::Incoming>| {
                let shown = request.headers().get("authorization");
                let shown = shown.map(|value| value.to_str().unwrap().to_owned());
                let shown = (Instant::now(), shown.unwrap_or_default());
                notes.lock().unwrap().push(shown);
                let answer = Response::builder().status(503).body(String::new());
                async move { Ok::<_, Infallible>(answer.unwrap()) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    (addr, seen)
}

/// Takes the minute after which the file is read again.
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
        let wanted = format!("Bearer {token}");
        let seen = seen.lock().unwrap();
        seen.iter().any(|(_, shown)| *shown == wanted)
    };
    process.until("/livez", 200, "").await;
    until_within(2 * MINUTE, "the first is shown", || is_shown("first")).await;
    replace(&process.file("token"), "second");
    let renewed = Instant::now();
    until_within(2 * MINUTE, "the second is shown", || is_shown("second")).await;
    let all = seen.lock().unwrap();
    let old = all.iter().filter(|(_, shown)| shown == "Bearer first");
    let last = old.map(|(when, _)| *when).max().unwrap();
    let took = last.saturating_duration_since(renewed);
    assert!(
        took <= MINUTE + SLACK,
        "the old one is shown after {took:?}"
    );
}

/// Atomically, as kubelet does.
fn replace(file: &Path, text: &str) {
    let next = file.with_extension("next");
    fs::write(&next, text).unwrap();
    fs::rename(next, file).unwrap();
}

/// An API server without resources, with a new connection and the current certificate for each request.
async fn serves(certificates: Arc<Certificates>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut tls = ServerConfig::clone(&server_config(certificates).unwrap());
    // A resumed session would skip the certificate.
    tls.send_tls13_tickets = 0;
    let tls = TlsAcceptor::from(Arc::new(tls));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let tls = tls.clone();
            tokio::spawn(async move {
                let answer = service_fn(|_| async {
                    Ok::<_, Infallible>(Response::new(r#"{"groups": []}"#.to_owned()))
                });
                // A client that does not trust it disconnects.
                if let Ok(stream) = tls.accept(stream).await {
                    let http = http1::Builder::new().keep_alive(false).to_owned();
                    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
                }
            });
        }
    });
    addr
}

/// The client library with a Pod's service account, tuned as in attache; takes the minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewed_ca_is_believed_within_the_minute() {
    let made = || make_ca_and_pair(&["127.0.0.1".to_owned()], jiff::Zoned::now().date()).unwrap();
    let (first, second) = (made(), made());
    let certificates = Certificates::new();
    let show = |made: &CaAndPair| {
        let (cert, key) = (made.cert_pem.as_bytes(), made.key_pem.as_bytes());
        certificates.store(cert, key).unwrap();
    };
    show(&first);
    let addr = serves(certificates.clone()).await;
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("ca.crt");
    replace(&file, &first.ca_pem);
    let mut config = kube::Config::new(format!("https://{addr}").parse().unwrap());
    config.root_cert_file = Some(file.clone());
    let client = kube::Client::try_from(tuned(config)).unwrap();
    assert!(Served::ask(&client).await.unwrap().is_empty());

    replace(&file, &second.ca_pem);
    // The old CA stays valid until the server replaces its certificate too.
    Served::ask(&client).await.unwrap();
    show(&second);
    becomes_within(MINUTE + SLACK, "the new one is believed", async || {
        Served::ask(&client).await.map_err(|why| why.to_string())
    })
    .await;
    show(&first);
    let believed = Served::ask(&client).await;
    assert!(believed.is_err(), "the old one is believed");
}
