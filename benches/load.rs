//! Puts load on `/validate` over TLS, with and without the engine: `make bench`.
//!
//! The server is a child process, so that its memory is measured separately from the client's. All runs use the same
//! server, state and requests. The floor answers "allowed" without calling the engine. Another mode answers every
//! request with the engine's first verdict, which shows the cost of the answer itself. Runs alternate, and the medians
//! and their ratio are printed, because machines are noisy.
//!
//! `--peer PROGRAM` also measures another webhook server in the same rounds. The program prints the address that it
//! serves at; `tests/cluster/cluster.sh program webhook` builds one.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::Request as Asked;
use attache::engine::admission::review::review as engine;
use attache::engine::admission::verdict::Verdict;
use attache::engine::state::snapshot::Snapshot;
use attache::http::admission::{App, ReviewFn};
use attache::http::dependencies::Dependencies;
use attache::http::drain::Phase;
use attache::http::limits::Limits;
use attache::http::router::router;
use attache::http::server::{BoundListener, Options, Server};
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

use testing::load::args::Args;
use testing::load::objects;
use testing::load::review::review;
use testing::load::state::state;
use testing::load::usage::{kib, worked};

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Connections of the client; the API server keeps up to 25 idle ones per host.
const CONNECTIONS: usize = 8;
/// Different requests, so that the CPU caches do not hold one answer.
const REQUESTS: usize = 64;

/// The budgets, relative to the peer. p50 has none.
const THROUGHPUT: f64 = 2.0;
const P99: f64 = 0.2;
const MEMORY: f64 = 0.25;

/// A server: this program in one of its modes, or another program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Served<'a> {
    /// Allows every request without calling the engine.
    Floor,
    /// Gives the engine's first verdict to every request.
    Told,
    /// Calls the engine, as in production.
    Engine,
    /// Another program.
    Peer(&'a str),
}

struct Setup {
    routes: usize,
    policies: usize,
    seconds: u64,
    rounds: usize,
    peer: Option<String>,
}

struct Run {
    per_second: f64,
    p50: Duration,
    p99: Duration,
    resident: u64,
    /// CPU time per review, of the server and of the client, including the kernel's.
    server: Duration,
    client: Duration,
}

fn main() {
    let args = Args::read();
    let setup = Setup {
        routes: args.number("--routes").unwrap_or(10_000),
        policies: args.number("--policies").unwrap_or(5_000),
        seconds: args.number("--seconds").unwrap_or(5),
        rounds: args.number("--rounds").unwrap_or(5),
        peer: args.value("--peer").map(str::to_owned),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    if let Some(mode) = args.value("--serve") {
        runtime.block_on(serve(&setup, mode));
    } else {
        runtime.block_on(measure(&setup));
    }
}

// The server.

/// Returns the engine's first verdict for every request.
fn verdict(snapshot: &Snapshot, request: &Asked<'_>, evidence: &Evidence) -> Verdict {
    static FIRST: OnceLock<Verdict> = OnceLock::new();
    let first = FIRST.get_or_init(|| engine(snapshot, request, evidence));
    first.clone()
}

async fn serve(setup: &Setup, mode: &str) {
    let snapshot = Arc::new(ArcSwap::from_pointee(state(setup.routes, setup.policies)));
    let metrics = Arc::new(Metrics::new().unwrap());
    let judge: ReviewFn = match mode {
        "engine" => engine,
        "told" => verdict,
        _ => |_: &_, _: &_, _: &_| Verdict::default(),
    };
    let app = App::judged_by(
        judge,
        snapshot,
        Arc::default(),
        Dependencies::default(),
        metrics.clone(),
        Limits::default(),
    );
    let certificates = Certificates::self_signed(jiff::civil::date(2026, 1, 1)).unwrap();
    let bound = BoundListener::bind("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
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
    let peer = setup.peer.as_deref().map(Served::Peer);
    let all = [Served::Floor, Served::Told, Served::Engine];
    let mut runs: Vec<(Served<'_>, Vec<Run>)> = all
        .into_iter()
        .chain(peer)
        .map(|s| (s, Vec::new()))
        .collect();
    for _ in 0..setup.rounds {
        for (served, runs) in &mut runs {
            runs.push(one(setup, *served).await);
        }
    }
    println!(
        "{} routes, {} policies, {CONNECTIONS} connections, {} rounds of {} s, medians",
        setup.routes, setup.policies, setup.rounds, setup.seconds
    );
    println!("| | reviews/s | p50 | p99 | resident | server | client |");
    println!("|---|---|---|---|---|---|---|");
    for (served, runs) in &runs {
        println!(
            "| {} | {:.0} | {:.0} us | {:.0} us | {:.1} MiB | {:.1} us | {:.1} us |",
            served.name(),
            median(runs, |r| r.per_second),
            median(runs, |r| micros(r.p50)),
            median(runs, |r| micros(r.p99)),
            median(runs, |r| r.resident as f64 / 1024.0),
            median(runs, |r| micros(r.server)),
            median(runs, |r| micros(r.client)),
        );
    }
    println!("\n| what | measured | budget | of the budget |\n|---|---|---|---|");
    let times_of = |which| &runs.iter().find(|(served, _)| *served == which).unwrap().1;
    let engine = times_of(Served::Engine);
    // The floor is reported without a budget.
    compare("no engine", engine, times_of(Served::Floor), None);
    if let Some(peer) = peer {
        let budgets = Some([THROUGHPUT, P99, MEMORY]);
        compare(
            "a Go webhook that does nothing",
            engine,
            times_of(peer),
            budgets,
        );
    }
}

/// Prints ratios to another server, with the budgets for throughput, p99 and memory.
fn compare(against: &str, engine: &[Run], other: &[Run], budgets: Option<[f64; 3]>) {
    let ratio = |f: fn(&Run) -> f64| median(engine, f) / median(other, f);
    let row = |what: &str, measured: f64, budget: Option<f64>, share: fn(f64, f64) -> f64| {
        let budget = match budget {
            Some(budget) => format!("{budget}x | {:.2}x", share(measured, budget)),
            None => "- | -".to_owned(),
        };
        println!("| HTTPS review against {against}, {what} | {measured:.2}x | {budget} |");
    };
    let at_least = |measured: f64, budget: f64| budget / measured;
    let at_most = |measured: f64, budget: f64| measured / budget;
    let [throughput, p99, memory] = budgets.map_or([None; 3], |budgets| budgets.map(Some));
    row("throughput", ratio(|r| r.per_second), throughput, at_least);
    row("p50", ratio(|r| micros(r.p50)), None, at_most);
    row("p99", ratio(|r| micros(r.p99)), p99, at_most);
    row("memory", ratio(|r| r.resident as f64), memory, at_most);
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn median(runs: &[Run], f: impl Fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(f).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Served<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Floor => "no engine",
            Self::Told => "no engine, as much to tell",
            Self::Engine => "engine",
            Self::Peer(_) => "peer",
        }
    }

    fn command(self, setup: &Setup) -> Command {
        let mode = match self {
            Self::Floor => "floor",
            Self::Told => "told",
            Self::Engine => "engine",
            Self::Peer(program) => return Command::new(program),
        };
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--serve", mode, "--routes", &setup.routes.to_string()])
            .args(["--policies", &setup.policies.to_string()]);
        command
    }
}

/// Kills the server when dropped, even if the run panics.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn one(setup: &Setup, served: Served<'_>) -> Run {
    let mut command = served.command(setup);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Running(child);
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let addr: SocketAddr = line.trim().parse().unwrap();
    let bodies: Arc<Vec<Bytes>> = Arc::new((0..REQUESTS).map(|i| body(i, setup)).collect());
    load(addr, &bodies, Duration::from_millis(500)).await;
    let pids = [child.0.id(), std::process::id()];
    let before = pids.map(worked);
    let started = Instant::now();
    let mut times = load(addr, &bodies, Duration::from_secs(setup.seconds)).await;
    let took = started.elapsed();
    let after = pids.map(worked);
    let count = u32::try_from(times.len()).unwrap();
    let each = |i: usize| after[i].checked_sub(before[i]).unwrap() / count;
    times.sort();
    Run {
        per_second: times.len() as f64 / took.as_secs_f64(),
        p50: times[times.len() / 2],
        p99: times[times.len() * 99 / 100],
        resident: kib(pids[0], "VmRSS"),
        server: each(0),
        client: each(1),
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

/// A client that trusts any certificate, because the server generates its own, on loopback.
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
