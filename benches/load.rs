//! Load on `/validate` over TLS, with the engine and without it: `make bench`.
//!
//! The server is a child process, so that its memory and the client's are apart. Both runs use the
//! same server, state and requests; the floor answers "allowed" without asking the engine. Runs
//! alternate, and the medians and their ratio are printed: machines are noisy.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

use std::io::{BufRead, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use attache::engine;
use attache::engine::verdict::Verdict;
use attache::http::admission::{App, Judge, Outside};
use attache::http::drain::Phase;
use attache::http::router::{Limits, router};
use attache::http::server::{Bound, Options, Server};
use attache::http::tls::{Certificates, server_config};
use attache::metrics::Metrics;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

#[path = "soak/args.rs"]
mod args;
#[path = "soak/objects.rs"]
mod objects;
#[path = "soak/review.rs"]
mod review;
#[path = "soak/state.rs"]
mod state;

use args::Args;
use review::review;
use state::state;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Connections of the client; the API server keeps up to 25 idle ones for a host.
const CONNECTIONS: usize = 8;
/// Different requests, so that no cache of the processor holds one answer.
const REQUESTS: usize = 64;

/// What is promised, against the floor.
const THROUGHPUT: f64 = 0.8;
const P50: f64 = 1.25;
const P99: f64 = 1.5;

struct Setup {
    routes: usize,
    policies: usize,
    seconds: u64,
    rounds: usize,
}

struct Run {
    per_second: f64,
    p50: Duration,
    p99: Duration,
    resident: u64,
}

fn main() {
    let args = Args::read();
    let setup = Setup {
        routes: args.number("--routes").unwrap_or(10_000),
        policies: args.number("--policies").unwrap_or(5_000),
        seconds: args.number("--seconds").unwrap_or(5),
        rounds: args.number("--rounds").unwrap_or(5),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    if let Some(mode) = args.value("--serve") {
        runtime.block_on(serve(&setup, mode == "engine"));
    } else {
        runtime.block_on(measure(&setup));
    }
}

// The server.

async fn serve(setup: &Setup, engine: bool) {
    let snapshot = Arc::new(ArcSwap::from_pointee(state(setup.routes, setup.policies)));
    let metrics = Arc::new(Metrics::new().unwrap());
    let judge: Judge = if engine {
        engine::review::review
    } else {
        |_: &_, _: &_, _: &_| Verdict::default()
    };
    let app = App::judged_by(
        judge,
        snapshot,
        Arc::default(),
        Outside::default(),
        metrics.clone(),
        Limits::default(),
    );
    let certificates = Certificates::self_signed(jiff::civil::date(2026, 1, 1)).unwrap();
    let bound = Bound::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    println!("{}", bound.addr);
    let (_running, phase) = tokio::sync::watch::channel(Phase::Running);
    let server = Server {
        router: router(app),
        tls: Some(server_config(certificates).unwrap()),
        options: Options::default(),
        metrics,
        phase,
    };
    server.serve(bound).await;
}

// The client.

async fn measure(setup: &Setup) {
    let (mut engine, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..setup.rounds {
        floor.push(one(setup, "floor").await);
        engine.push(one(setup, "engine").await);
    }
    println!(
        "{} routes, {} policies, {CONNECTIONS} connections, {} rounds of {} s, medians",
        setup.routes, setup.policies, setup.rounds, setup.seconds
    );
    println!("| | reviews/s | p50 | p99 | resident |\n|---|---|---|---|---|");
    for (name, runs) in [("no engine", &floor), ("engine", &engine)] {
        println!(
            "| {name} | {:.0} | {:.0} us | {:.0} us | {:.1} MiB |",
            median(runs, |r| r.per_second),
            median(runs, |r| micros(r.p50)),
            median(runs, |r| micros(r.p99)),
            median(runs, |r| r.resident as f64 / 1024.0)
        );
    }
    let ratio = |f: fn(&Run) -> f64| median(&engine, f) / median(&floor, f);
    let (throughput, p50, p99) = (
        ratio(|r| r.per_second),
        ratio(|r| micros(r.p50)),
        ratio(|r| micros(r.p99)),
    );
    println!("\n| what | measured | budget | of the budget |\n|---|---|---|---|");
    let row = |what: &str, measured: f64, budget: f64, share: f64| {
        println!(
            "| HTTPS review against no engine, {what} | {measured:.2}x | {budget}x | {share:.2}x |"
        );
    };
    row(
        "throughput",
        throughput,
        THROUGHPUT,
        THROUGHPUT / throughput,
    );
    row("p50", p50, P50, p50 / P50);
    row("p99", p99, P99, p99 / P99);
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn median(runs: &[Run], f: impl Fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(f).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Ends the server with the run, also when the run fails.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn one(setup: &Setup, mode: &str) -> Run {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--serve", mode, "--routes", &setup.routes.to_string()])
        .args(["--policies", &setup.policies.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Served(child);
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let addr: SocketAddr = line.trim().parse().unwrap();
    let bodies: Arc<Vec<Bytes>> = Arc::new((0..REQUESTS).map(|i| body(i, setup)).collect());
    load(addr, &bodies, Duration::from_millis(500)).await;
    let started = Instant::now();
    let mut times = load(addr, &bodies, Duration::from_secs(setup.seconds)).await;
    let took = started.elapsed();
    times.sort();
    Run {
        per_second: times.len() as f64 / took.as_secs_f64(),
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
        resident: resident_kib(child.0.id()),
    }
}

fn body(i: usize, setup: &Setup) -> Bytes {
    let route = objects::route(i * 37 % setup.routes);
    Bytes::from(review("CREATE", false, Some(&route), None).to_string())
}

async fn load(addr: SocketAddr, bodies: &Arc<Vec<Bytes>>, time: Duration) -> Vec<Duration> {
    let until = Instant::now() + time;
    let clients = (0..CONNECTIONS).map(|n| {
        let bodies = Arc::clone(bodies);
        tokio::spawn(async move {
            let mut sender = connect(addr).await;
            let mut times = Vec::new();
            while Instant::now() < until {
                let body = bodies[(times.len() + n * 7) % bodies.len()].clone();
                let started = Instant::now();
                ask(&mut sender, body).await;
                times.push(started.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        times.extend(client.await.unwrap());
    }
    times
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, body: Bytes) {
    let request = Request::post("/validate?timeout=10s")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(body))
        .unwrap();
    sender.ready().await.unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    assert!(answer.len() > 100, "an answer has a body");
}

async fn connect(addr: SocketAddr) -> SendRequest<Full<Bytes>> {
    let config = trusting::config();
    let stream = TcpStream::connect(addr).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(config)
        .connect(name, stream)
        .await
        .unwrap();
    let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// Resident memory of a process, in KiB.
fn resident_kib(pid: u32) -> u64 {
    let mut status = String::new();
    let file = std::fs::File::open(format!("/proc/{pid}/status"));
    file.unwrap().read_to_string(&mut status).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A client that trusts any certificate: the server makes its own, on loopback.
mod trusting {
    use std::sync::Arc;

    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

    #[derive(Debug)]
    struct Trusting;

    impl ServerCertVerifier for Trusting {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            default_provider()
                .signature_verification_algorithms
                .supported_schemes()
        }
    }

    pub(super) fn config() -> Arc<ClientConfig> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous();
        let verifier = builder.with_custom_certificate_verifier(Arc::new(Trusting));
        Arc::new(verifier.with_no_client_auth())
    }
}
