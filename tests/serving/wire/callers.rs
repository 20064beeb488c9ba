//! With a client CA, the handshake refuses clients without a certificate from it and tells them nothing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use attache::http::tls::{Callers, Reload};
use attache::metrics::Metrics;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, SupportedProtocolVersion};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::authority::{Authority, Pair, When};
use super::process::Process;
use super::server::{ALLOWED, Running, Setup, on_listener, start_with, until};
use testing::client::{Answer, Client, LONG, Tls, roots};

const WHO: &str = r#"{"error":"client certificate required"}"#;

/// A server that accepts clients of `ca` with one of these names; without names, with any.
async fn start(ca: &Authority, names: &[&str]) -> (Running, Arc<Callers>) {
    let metrics = Arc::new(Metrics::new().unwrap());
    let names = names.iter().map(ToString::to_string).collect();
    let callers = Callers::new(names, metrics.clone());
    callers.store(ca.pem().as_bytes()).unwrap();
    let setup = Setup {
        callers: Some(callers.clone()),
        metrics,
        ..Setup::default()
    };
    (start_with(setup).await, callers)
}

/// A client that presents this certificate, or none.
fn connector(
    ca_pem: &str,
    versions: &[&'static SupportedProtocolVersion],
    shows: Option<&Pair>,
) -> TlsConnector {
    TlsConnector::from(Arc::new(config(ca_pem, versions, shows)))
}

fn config(
    ca_pem: &str,
    versions: &[&'static SupportedProtocolVersion],
    shows: Option<&Pair>,
) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots(ca_pem));
    let mut config = match shows {
        Some(pair) => {
            let chain = CertificateDer::pem_slice_iter(pair.cert.as_bytes());
            let chain = chain.map(Result::unwrap).collect();
            let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    config
}

/// The answer to a review, or how the server closed the connection.
async fn ask(addr: SocketAddr, connector: &TlsConnector) -> Result<Answer, String> {
    let mut client = connect(addr, connector).await?;
    let body = on_listener("http");
    let head = format!(
        "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.send(format!("{head}{body}").as_bytes()).await;
    // With TLS 1.3 a client learns of its refusal only with the first read.
    let mut first = [0; 1];
    let read = timeout(LONG, client.stream.read_exact(&mut first)).await;
    read.expect("an end").map_err(|error| error.to_string())?;
    Ok(client.answer_after(&first).await)
}

async fn connect(addr: SocketAddr, connector: &TlsConnector) -> Result<Tls, String> {
    let stream = TcpStream::connect(addr).await.unwrap();
    let connected = timeout(
        LONG,
        connector.connect("localhost".try_into().unwrap(), stream),
    );
    let stream = connected.await.expect("an end");
    Ok(Client::new(stream.map_err(|error| error.to_string())?))
}

fn counted(server: &Running, reason: &str) -> u64 {
    let refused = &server.metrics.callers_refused;
    refused.with_label_values(&[reason]).get()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_client_certificate_is_refused_without_a_reason() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let (server, _) = start(&ours, &["kube-apiserver", "spiffe://cluster/api"]).await;
    let forbidden = [
        ("untrusted", theirs.client(&["kube-apiserver"], When::Now)),
        ("expired", ours.client(&["kube-apiserver"], When::Past)),
        ("expired", ours.client(&["kube-apiserver"], When::Future)),
        (
            "name",
            ours.client(&["kubelet", "kubelet.example.com"], When::Now),
        ),
        ("name", ours.client(&["kube-apiserver2"], When::Now)),
        ("name", ours.client(&["KUBE-APISERVER"], When::Now)),
        // A server certificate of the same CA.
        ("untrusted", ours.server(When::Now)),
    ];
    let allowed = [
        ours.client(&["kube-apiserver"], When::Now),
        ours.client(&["other", "kube-apiserver"], When::Now),
    ];
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let connector = |shows| connector(&server.made.ca_pem, &[version], shows);
        let mut reasons = Vec::new();
        for (reason, pair) in &forbidden {
            let before = counted(&server, reason);
            let why = ask(server.addr, &connector(Some(pair))).await.unwrap_err();
            assert_eq!(counted(&server, reason), before + 1, "{reason}");
            reasons.push(why);
        }
        assert!(reasons[0].contains("AccessDenied"), "{reasons:?}");
        assert!(reasons.iter().all(|why| *why == reasons[0]), "{reasons:?}");
        let before = counted(&server, "missing");
        let why = ask(server.addr, &connector(None)).await.unwrap_err();
        assert!(
            why.contains("CertificateRequired") || why.contains("HandshakeFailure"),
            "{why}"
        );
        assert_eq!(counted(&server, "missing"), before + 1);
        for pair in &allowed {
            let answer = ask(server.addr, &connector(Some(pair))).await.unwrap();
            assert_eq!(answer.body, ALLOWED);
        }
    }
    assert_eq!(server.metrics.in_flight.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_list_every_client_of_the_ca_may_call() {
    let ours = Authority::new();
    let (server, _) = start(&ours, &[]).await;
    let pair = ours.client(&["anybody"], When::Now);
    let connector = connector(&server.made.ca_pem, rustls::ALL_VERSIONS, Some(&pair));
    assert_eq!(ask(server.addr, &connector).await.unwrap().body, ALLOWED);
}

/// The file is replaced by rename, with broken versions in between. Open connections are judged by the new CA.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_client_ca_counts_for_open_connections_too() {
    let (old, new) = (Authority::new(), Authority::new());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.crt");
    let put = |text: &str| {
        let next = dir.path().join("next");
        std::fs::write(&next, text).unwrap();
        std::fs::rename(next, &file).unwrap();
    };
    put(&old.pem());
    let (server, callers) = start(&old, &[]).await;
    let metrics = server.metrics.clone();
    let loads = |result: &str| metrics.client_ca_reload.with_label_values(&[result]).get();
    let current = || metrics.cert_current.with_label_values(&["client-ca"]).get();
    let reload = Reload::client_ca(file.clone(), callers.clone(), metrics.clone());
    let polling = tokio::spawn(reload.run(Duration::from_millis(5)));
    until("it is loaded", || loads("loaded") == 1).await;

    let shows = |ca: &Authority| {
        let pair = ca.client(&["api"], When::Now);
        connector(&server.made.ca_pem, rustls::ALL_VERSIONS, Some(&pair))
    };
    let (of_old, of_new) = (shows(&old), shows(&new));
    let body = on_listener("http");
    let mut open = connect(server.addr, &of_old).await.unwrap();
    let mut silent = connect(server.addr, &of_old).await.unwrap();
    assert_eq!(open.post("/validate", body.as_bytes()).await.body, ALLOWED);
    assert!(ask(server.addr, &of_new).await.is_err());

    // A broken file does not replace the CA, and each is reported.
    for (n, broken) in ["", "a certificate", &old.pem()[..200]]
        .into_iter()
        .enumerate()
    {
        put(broken);
        until("it is refused", || loads("failed") == n as u64 + 1).await;
        assert!(
            callers.problem().unwrap().contains("client CA"),
            "{:?}",
            callers.problem()
        );
        assert_eq!(current(), 0);
        assert_eq!(open.post("/validate", body.as_bytes()).await.body, ALLOWED);
    }
    // With both CAs in the file, all clients are served.
    put(&format!("{}{}", old.pem(), new.pem()));
    until("both are loaded", || loads("loaded") == 2).await;
    assert_eq!((callers.problem(), current()), (None, 1));
    assert_eq!(open.post("/validate", body.as_bytes()).await.body, ALLOWED);
    assert_eq!(ask(server.addr, &of_new).await.unwrap().body, ALLOWED);
    // Without the old CA, its clients are refused.
    put(&new.pem());
    until("the new one is loaded", || loads("loaded") == 3).await;
    for client in [&mut open, &mut silent] {
        let answer = client.post("/validate", body.as_bytes()).await;
        assert_eq!((answer.status, &*answer.body), (401, WHO));
        assert_eq!(answer.header("connection"), Some("close"));
        client.closed().await;
    }
    assert!(ask(server.addr, &of_old).await.is_err());
    assert_eq!(ask(server.addr, &of_new).await.unwrap().body, ALLOWED);
    polling.abort();
}

/// A resumed session would skip the check of the certificate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tls_session_is_not_resumed() {
    let (old, new) = (Authority::new(), Authority::new());
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let (server, callers) = start(&old, &[]).await;
        let pair = old.client(&["api"], When::Now);
        let mut config = config(&server.made.ca_pem, &[version], Some(&pair));
        config.resumption = Resumption::in_memory_sessions(8);
        let connector = TlsConnector::from(Arc::new(config));
        for _ in 0..3 {
            assert_eq!(ask(server.addr, &connector).await.unwrap().body, ALLOWED);
        }
        callers.store(new.pem().as_bytes()).unwrap();
        let why = ask(server.addr, &connector).await.unwrap_err();
        assert!(why.contains("AccessDenied"), "{why}");
    }
}

/// The whole program: not ready until the CA is loaded; probes and metrics need no certificate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_and_metrics_need_no_certificate() {
    let ours = Authority::new();
    let process = Process::start_with(|dir, mut attache| {
        attache.arg("--client-ca").arg(dir.join("client-ca.crt"));
        attache.args(["--client-subject", "api"]);
        attache
    });
    let missing = "[-]client-ca failed: failed to read ";
    let answer = process.get("/readyz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains(missing), "{}", answer.body);
    assert_eq!(process.get("/livez").await.status, 200);
    let pair = ours.client(&["api"], When::Now);
    let connector = connector(&process.ca_pem, rustls::ALL_VERSIONS, Some(&pair));
    assert!(ask(process.addr, &connector).await.is_err());
    std::fs::write(process.file("client-ca.crt"), ours.pem()).unwrap();
    process.says("[+]client-ca ok").await;
    assert_eq!(process.get("/readyz").await.status, 200);
    let answer = ask(process.addr, &connector).await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(process.connect().await.try_answer().await.is_none());
    // A refusal is counted after its alert has been sent.
    for line in [
        "attache_callers_refused_total{reason=\"missing\"} 1",
        "attache_callers_refused_total{reason=\"no-ca\"} 1",
        "attache_cert_current{file=\"client-ca\"} 1",
    ] {
        process.until("/metrics", 200, line).await;
    }
}
