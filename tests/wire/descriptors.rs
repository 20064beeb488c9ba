//! A process that may open nothing more: it waits between its tries, and goes on when it may again.

use std::process::Command;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::client::{Client, connector};
use crate::process::Process;
use crate::server::{on_listener, until};

/// Between two tries to accept.
const PAUSE: Duration = Duration::from_millis(50);
/// Tries that are waited for.
const TRIES: u32 = 10;

/// Sets how many descriptors it may have, from the next one on.
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

/// No connection is there that could make room: only waiting helps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_any_descriptor_accepting_pauses_and_goes_on_afterwards() {
    let process = Process::start();
    process.says("[+]certificate ok").await;
    may_open(&process, 3);
    let began = Instant::now();
    let waiting = TcpStream::connect(process.addr).await.unwrap();
    until("it tries again and again", || tries(&process) >= TRIES).await;
    let (tries, took) = (tries(&process), began.elapsed());
    assert!(took >= PAUSE * (tries - 1), "{tries} tries in {took:?}");
    may_open(&process, 1024);
    // Who came meanwhile is served, and who comes.
    let name = "localhost".try_into().unwrap();
    let waited = connector(&process.ca_pem, &["http/1.1"]).connect(name, waiting);
    let mut waited = Client::new(waited.await.unwrap());
    for client in [&mut waited, &mut process.connect().await] {
        let body = on_listener("http");
        let answer = client.post("/validate", body.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}
