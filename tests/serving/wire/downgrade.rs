//! Clients that speak anything but HTTP over TLS 1.2 or newer are rejected, and others are served meanwhile.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::good::Good;
use super::process::Process;
use super::server::{Running, start, until};
use testing::client::{LONG, tls};

/// The record type of TLS alerts.
const ALERT: u8 = 0x15;
/// TLS 1.0, 1.1 and 1.2 on the wire.
const OLD: [[u8; 2]; 2] = [[3, 1], [3, 2]];
const TLS12: [u8; 2] = [3, 3];

/// Cipher suites of TLS 1.0 and 1.1, and one that TLS 1.2 also has.
const SUITES: [u8; 6] = [0x00, 0x2f, 0xc0, 0x09, 0xc0, 0x2b];

/// The hello of a client that supports nothing newer than `version`.
fn hello(version: [u8; 2], suites: &[u8]) -> Vec<u8> {
    // One curve and one signature algorithm; without them there is nothing to negotiate.
    let extensions = [
        &[0, 10, 0, 4, 0, 2, 0, 23][..],
        &[0, 11, 0, 2, 1, 0],
        &[0, 13, 0, 4, 0, 2, 4, 3],
    ]
    .concat();
    let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let body = [
        &version[..],
        &[7; 32],
        &[0],
        &length(suites),
        suites,
        &[1, 0],
        &length(&extensions),
        &extensions,
    ]
    .concat();
    let handshake = [&[1, 0][..], &length(&body), &body].concat();
    [&[22, 3, 1][..], &length(&handshake), &handshake].concat()
}

/// Everything that the server sends until it closes.
async fn answer_to(addr: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let read = timeout(LONG, stream.read_to_end(&mut answer)).await;
    // The server resets the connection if it leaves bytes unread.
    let _ = read.expect("the server closes");
    answer
}

fn failed(server: &Running) -> u64 {
    let errors = &server.metrics.connection_errors;
    errors.with_label_values(&["tls"]).get()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn older_tls_and_weak_suites_get_an_alert() {
    let server = start().await;
    let good = Good::start(server.addr, &server.made.ca_pem).await;
    // The server accepts the same hello with TLS 1.2, so the version is the reason for the refusal.
    let mut newer = TcpStream::connect(server.addr).await.unwrap();
    newer.write_all(&hello(TLS12, &SUITES)).await.unwrap();
    assert_eq!(newer.read_u8().await.unwrap(), 22, "a handshake record");
    for version in OLD {
        let answer = answer_to(server.addr, &hello(version, &SUITES)).await;
        // Fatal, protocol_version.
        assert_eq!(
            (answer[0], &answer[5..]),
            (ALERT, &[2, 70][..]),
            "{version:?}"
        );
    }
    // RC4, 3DES, CBC without forward secrecy.
    let weak = [0x00, 0x05, 0x00, 0x0a, 0x00, 0x2f];
    let answer = answer_to(server.addr, &hello(TLS12, &weak)).await;
    assert_eq!((answer[0], answer[5]), (ALERT, 2), "{answer:?}");
    // A client may read the alert before the server counts it.
    until("all are counted", || failed(&server) == 3).await;
    good.served(10).await;
    good.stop("older TLS").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_gets_no_answer() {
    let server = start().await;
    let good = Good::start(server.addr, &server.made.ca_pem).await;
    let scans: [&[u8]; 6] = [
        b"GET /validate HTTP/1.1\r\nhost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        // SSL 2.
        &[0x80, 0x2e, 1, 0, 2, 0, 21, 0, 0, 0, 16],
        &[0; 4096],
        &[22, 3, 1, 255, 255, 1, 255, 255, 255],
    ];
    for scan in scans {
        let answer = answer_to(server.addr, scan).await;
        assert!(answer.is_empty() || answer[0] == ALERT, "{answer:?}");
    }
    until("all are counted", || failed(&server) == 6).await;
    good.served(10).await;
    good.stop("port scans").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_protocol_that_is_not_spoken_is_refused_and_another_name_is_not() {
    let server = start().await;
    for alpn in [&["h3"][..], &["http/1.0", "spdy/3"]] {
        let error = tls(server.addr, &server.made.ca_pem, alpn)
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("NoApplicationProtocol"),
            "{error}"
        );
    }
    let stream = tls(server.addr, &server.made.ca_pem, &["h3", "http/1.1"])
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    until("both are counted", || failed(&server) == 2).await;
    // An unknown server name: the client judges the only certificate.
    let connector = testing::client::connector(&server.made.ca_pem, &[]);
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let other = connector
        .connect("other.example.com".try_into().unwrap(), stream)
        .await;
    let why = other.unwrap_err().to_string();
    assert!(why.contains("not valid for name"), "{why}");
}

/// With the openssl program, since no TLS library here can renegotiate; repeatedly, next to a good client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renegotiation_is_refused() {
    let mut process = Process::start();
    std::fs::write(process.file("ca.crt"), &process.ca_pem).unwrap();
    let good = Good::start(process.addr, &process.ca_pem).await;
    for _ in 0..20 {
        let (addr, ca) = (process.addr, process.file("ca.crt"));
        let answer = tokio::task::spawn_blocking(move || renegotiated(addr, &ca));
        let answer = answer.await.unwrap();
        assert!(answer.contains("Protocol  : TLSv1.2"), "{answer}");
        assert!(answer.contains("RENEGOTIATING"), "{answer}");
        assert!(answer.contains("no renegotiation"), "{answer}");
    }
    good.served(10).await;
    good.stop("clients that want to renegotiate").await;
    assert!(process.runs());
}

/// The output of `openssl` when it asks for another handshake.
fn renegotiated(addr: SocketAddr, ca: &Path) -> String {
    let client = Command::new("openssl")
        .args(["s_client", "-tls1_2", "-connect"])
        .arg(addr.to_string())
        .arg("-CAfile")
        .arg(ca)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut client = client.expect("openssl, which the tests on a real API server need too");
    // It exits when the connection closes.
    let mut commands = client.stdin.take().unwrap();
    commands.write_all(b"R\n").unwrap();
    let output = client.wait_with_output().unwrap();
    drop(commands);
    let answer = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&answer).into_owned()
}
