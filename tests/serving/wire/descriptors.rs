//! A process without free file descriptors pauses between attempts to accept, and recovers.

use std::process::Command;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::Instant;

use super::process::Process;
use super::server::{on_listener, until};
use testing::client::{Client, connector};

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);
/// The number of attempts to wait for.
const TRIES: u32 = 10;

/// Sets the process's limit of file descriptors.
fn may_open(process: &Process, most: usize) {
    let pid = process.pid().to_string();
    let set = Command::new("prlimit")
        .args(["--pid", &pid, &format!("--nofile={most}:")])
        .status();
    assert!(set.unwrap().success(), "prlimit");
}

fn tries(process: &Process) -> u32 {
    let log = process.log();
    let tries = log.matches("failed to accept a connection").count();
    tries.try_into().unwrap()
}

/// There is no connection to evict, so the server can only wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_descriptors_accepting_pauses_and_resumes() {
    let process = Process::start();
    process.says("[+]certificate ok").await;
    may_open(&process, 3);
    let began = Instant::now();
    let waiting = TcpStream::connect(process.addr).await.unwrap();
    until("it tries again and again", || tries(&process) >= TRIES).await;
    let (tries, took) = (tries(&process), began.elapsed());
    assert!(took >= PAUSE * (tries - 1), "{tries} tries in {took:?}");
    may_open(&process, 1024);
    // The waiting client and new clients are served.
    let name = "localhost".try_into().unwrap();
    let waited = connector(&process.ca_pem, &["http/1.1"]).connect(name, waiting);
    let mut waited = Client::new(waited.await.unwrap());
    for client in [&mut waited, &mut process.connect().await] {
        let body = on_listener("http");
        let answer = client.post("/validate", body.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}
