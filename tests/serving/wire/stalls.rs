//! Many clients that stall at once; a good client next to them is served.

use std::time::Duration;

use attache::http::limits::Limits;
use attache::http::server::Options;
use futures::future::join_all;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, interval};

use super::good::Good;
use super::process::Process;
use super::server::{Setup, on_listener, start_with, until};
use testing::client::{Client, Tls, connector};

const MIB: usize = 1 << 20;

/// A number of connections that a hostile client easily reaches.
const IDLE: usize = 10_000;
/// The number of these that speak TLS. That costs the client more than the server, but exceeds the server's limit.
const IDLE_TLS: usize = 1_200;
/// Below the limit of connections.
const STALLED: usize = 900;
/// Bodies that begin, and how many of them continue.
const BODIES: usize = 500;
const DRIPPING: usize = 50;
/// The time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The server's limit of connections, and the descriptors for itself.
const PLACES: usize = 1024;
const OWN: usize = 64;

const BEGIN: &str = "POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";

/// A review as a request.
fn review() -> Vec<u8> {
    let body = on_listener("http");
    format!("{BEGIN}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_that_stall() {
    let process = Process::start();
    let good = Good::start(process.addr, &process.ca_pem).await;
    let before = process.resident();
    let mut open = Vec::new();
    // A hello that announces 512 bytes: none of them, one byte, all but the last.
    let hello = [&[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3][..], &[7; 505]].concat();
    for i in 0..STALLED {
        let began = Instant::now();
        let mut stream = TcpStream::connect(process.addr).await.unwrap();
        let come = [0, 1, hello.len() - 1][i % 3];
        stream.write_all(&hello[..come]).await.unwrap();
        open.push((began, stream));
    }
    good.served(200).await;
    look("900 stalled handshakes", &process, before);
    let ends = open.iter_mut().map(|(began, stream)| async {
        let mut buffer = [0; 64];
        while let Ok(1..) = stream.read(&mut buffer).await {}
        began.elapsed()
    });
    for ended in join_all(ends).await {
        let is_in_time = (HANDSHAKE..HANDSHAKE * 2).contains(&ended);
        assert!(is_in_time, "ended after {ended:.1?}");
    }
    good.stop("900 stalled handshakes").await;
    // Each ran out of its own time; none was evicted.
    let stalled = format!("attache_connection_errors_total{{reason=\"tls-timeout\"}} {STALLED}\n");
    let metrics = process.get("/metrics").await.body;
    assert!(metrics.contains(&stalled), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_that_do_not_end() {
    let process = Process::start();
    let good = Good::start(process.addr, &process.ca_pem).await;
    let before = process.resident();
    let mut open = Vec::new();
    for _ in 0..400 {
        let mut client = process.connect().await;
        let most = format!("{BEGIN}x-long: {}", "a".repeat(16_000));
        client.send(most.as_bytes()).await;
        open.push(client);
    }
    for client in &mut open {
        client.send(b"a").await;
    }
    good.served(200).await;
    look("400 heads of 16 kB without an end", &process, before);
    good.stop("400 heads without an end").await;
}

/// The time limit applies to the whole head, however slowly it arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_in_drips_ends_with_its_time() {
    let options = Options {
        idle_timeout: Duration::from_millis(300),
        ..Options::default()
    };
    let server = start_with(Setup {
        options,
        ..Setup::default()
    })
    .await;
    let mut slow = server.connect().await.stream;
    let mut ticks = interval(Duration::from_millis(10));
    let mut sent = 0;
    while slow.write_all(b"P").await.is_ok() && slow.flush().await.is_ok() {
        sent += 1;
        assert!(sent < 1000, "the server waits for ever");
        ticks.tick().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_is_too_large_is_not_kept() {
    let server = start_with(Setup::default()).await;
    let many = "x-many: a\r\n".repeat(1000);
    for head in [format!("x-long: {}", "a".repeat(MIB)), many] {
        let mut client = server.connect().await;
        client
            .send(format!("{BEGIN}{head}\r\n\r\n").as_bytes())
            .await;
        if let Some(answer) = client.try_answer().await {
            assert_eq!((answer.status, &*answer.body), (431, ""));
        }
    }
    server.allows().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_bodies() {
    let process = Process::start();
    let good = Good::start(process.addr, &process.ca_pem).await;
    let before = process.resident();
    let mut open = Vec::new();
    for _ in 0..BODIES {
        let mut client = process.connect().await;
        client
            .send(format!("{BEGIN}content-length: 7000000\r\n\r\n{{").as_bytes())
            .await;
        open.push(client);
    }
    // Some continue, a byte at a time.
    let mut ticks = interval(Duration::from_millis(100));
    for _ in 0..20 {
        ticks.tick().await;
        for client in open.iter_mut().take(DRIPPING) {
            client.send(b" ").await;
        }
    }
    good.served(200).await;
    look("500 bodies that do not come", &process, before);
    for (i, client) in open.iter_mut().enumerate() {
        match client.try_answer().await {
            Some(answer) => assert_eq!(answer.status, 408),
            // Bytes after the deadline may reset the connection before the answer is read.
            None => assert!(i < DRIPPING, "{i} has no answer"),
        }
    }
    good.stop("500 bodies that do not come").await;
}

/// Nearly the whole of the largest body from each client, more than the memory for bodies: the oldest are evicted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_that_do_not_end_make_room() {
    let limits = Limits {
        body_memory: 8 * MIB,
        ..Limits::default()
    };
    let server = start_with(Setup {
        limits,
        ..Setup::default()
    })
    .await;
    let good = Good::start(server.addr, &server.made.ca_pem).await;
    let mut open = Vec::new();
    for _ in 0..6 {
        let mut client = server.connect().await;
        client
            .send(format!("{BEGIN}content-length: 7000000\r\n\r\n").as_bytes())
            .await;
        client.send(&vec![b' '; 3_500_000]).await;
        open.push(client);
    }
    good.served(50).await;
    // The last two may stay, and then run out of time.
    let mut statuses = Vec::new();
    for client in &mut open {
        let answer = client.answer().await;
        statuses.push((
            answer.status,
            answer.header("retry-after").map(str::to_owned),
        ));
    }
    let (busy, slow) = ((503, Some("1".to_owned())), (408, None));
    assert_eq!(statuses[..4], vec![busy; 4]);
    assert_eq!(statuses[4..], vec![slow; 2]);
    good.stop("bodies larger than the memory for them").await;
}

/// From the address of the good client itself, the worst case for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_idle_connections() {
    let mut process = Process::start();
    let good = Good::start(process.addr, &process.ca_pem).await;
    good.served(20).await;
    let (before, idle) = (process.resident(), idle_connections());
    let mut silent = Vec::new();
    for _ in 0..idle - IDLE_TLS {
        silent.push(TcpStream::connect(process.addr).await.unwrap());
    }
    good.served(50).await;
    look(
        &format!("{} silent connections", silent.len()),
        &process,
        before,
    );
    assert!(process.descriptors() <= PLACES + OWN);
    let connector = connector(&process.ca_pem, &["http/1.1"]);
    let mut idle_tls = Vec::new();
    for _ in 0..IDLE_TLS {
        let stream = TcpStream::connect(process.addr).await.unwrap();
        let name = "localhost".try_into().unwrap();
        idle_tls.push(connector.connect(name, stream).await.unwrap());
    }
    good.served(50).await;
    look(
        &format!("{} more that speak TLS", idle_tls.len()),
        &process,
        before,
    );
    assert!(process.descriptors() <= PLACES + OWN);
    until("all places are taken", || process.descriptors() > PLACES).await;
    good.stop(&format!("{idle} idle connections")).await;
    assert!(process.runs());
    drop((silent, idle_tls));
    until("all are gone", || process.descriptors() < OWN).await;
}

/// Fewer if this process may not open so many, since other tests need descriptors too.
fn idle_connections() -> usize {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let wanted = hard.min((IDLE + 2 * 4096) as u64);
    if soft < wanted {
        setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).unwrap();
    }
    let most = usize::try_from(soft.max(wanted)).unwrap_or(usize::MAX);
    let idle = IDLE.min(most.saturating_sub(4096).max(IDLE_TLS + PLACES));
    if idle < IDLE {
        eprintln!("only {idle} connections of {IDLE}: `ulimit -Hn` is {most}");
    }
    idle
}

/// There are fewer file descriptors than connection slots: idle clients are evicted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn descriptors_run_out() {
    let mut process = Process::start_with(|_, attache| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\""]);
        shell.arg(attache.get_program()).args(attache.get_args());
        shell.env("ATTACHE_LOG", "warn");
        shell
    });
    let good = Good::start(process.addr, &process.ca_pem).await;
    let mut open = Vec::new();
    for _ in 0..300 {
        open.push(TcpStream::connect(process.addr).await.unwrap());
    }
    let ticks = process.ticks();
    let started = Instant::now();
    good.served(100).await;
    println!(
        "{} ms of processor in {:.1?}",
        (process.ticks() - ticks) * 10,
        started.elapsed()
    );
    good.stop("300 connections on 64 descriptors").await;
    assert!(process.runs());
    let log = process.log();
    assert!(log.contains("failed to accept a connection"), "{log}");
    assert!(log.lines().count() < 50, "{log}");
}

/// The admin port has fewer slots and evicts in the same way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probes_are_answered_despite_idle_connections() {
    let process = Process::start();
    process.says("[+]certificate ok").await;
    let mut open = Vec::new();
    for i in 0..300 {
        let mut stream = TcpStream::connect(process.admin).await.unwrap();
        if i % 2 == 0 {
            stream.write_all(b"GET /readyz HTTP/1.1\r\n").await.unwrap();
        }
        open.push(stream);
        if i % 50 == 0 {
            assert_eq!(process.get("/readyz").await.status, 200);
        }
    }
    assert_eq!(process.get("/livez").await.status, 200);
    assert!(
        process.descriptors() < 64 + OWN,
        "{}",
        process.descriptors()
    );
}

/// Answers fill the sockets until writing blocks; then the server gives up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_not_read() {
    let options = Options {
        write_timeout: Duration::from_millis(500),
        ..Options::default()
    };
    let server = start_with(Setup {
        options,
        ..Setup::default()
    })
    .await;
    let good = Good::start(server.addr, &server.made.ca_pem).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let stream = socket.connect(server.addr).await.unwrap();
    let connector = connector(&server.made.ca_pem, &["http/1.1"]);
    let stream = connector
        .connect("localhost".try_into().unwrap(), stream)
        .await
        .unwrap();
    let (_unread, mut to) = tokio::io::split(stream);
    let reviews = review().repeat(100);
    let mut sent = 0;
    while to.write_all(&reviews).await.is_ok() {
        sent += 100;
        assert!(sent < 1_000_000, "the server answers for ever");
    }
    let unread = server
        .metrics
        .connection_errors
        .with_label_values(&["unread"]);
    until("it is counted", || unread.get() == 1).await;
    println!("after {sent} reviews");
    good.stop("a client that reads no answers").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_http2_client_that_only_answers_pings_is_idle() {
    let options = Options {
        idle_timeout: Duration::from_millis(200),
        ..Options::default()
    };
    let server = start_with(Setup {
        options,
        ..Setup::default()
    })
    .await;
    let stream = super::frames::open(server.addr, &server.made.ca_pem).await;
    let mut idle = Client::new(stream);
    let mut ended = Vec::new();
    let _ = idle.stream.read_to_end(&mut ended).await;
    // And a client that sends nothing at all.
    let silent = testing::client::tls(server.addr, &server.made.ca_pem, &["h2"])
        .await
        .unwrap();
    let mut silent: Tls = Client::new(silent);
    let _ = silent.stream.read_to_end(&mut ended).await;
}

/// Checks that their cost is bounded.
fn look(attack: &str, process: &Process, before: usize) {
    let more = process.resident().saturating_sub(before) / MIB;
    let descriptors = process.descriptors();
    println!("{attack}: {more} MiB more, {descriptors} file descriptors");
    assert!(more < 48, "{attack}: {more} MiB more");
    assert!(descriptors < 1100, "{attack}: {descriptors} descriptors");
}
