//! What hostile bodies leave behind in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::client::Tls;
use crate::input::{cases, odd_objects, too_large_by_length, too_large_in_chunks};
use crate::server::{pair, review};

const MIB: usize = 1 << 20;

/// `attache serve --from examples/quickstart`; ended with the test.
struct Process {
    child: Child,
    addr: SocketAddr,
    ca_pem: String,
    _certificates: TempDir,
}

impl Process {
    fn start() -> Self {
        let made = pair();
        let dir = TempDir::new().unwrap();
        let (cert, key) = (dir.path().join("tls.crt"), dir.path().join("tls.key"));
        std::fs::write(&cert, &made.cert_pem).unwrap();
        std::fs::write(&key, &made.key_pem).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart");
        let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
            .arg("serve")
            .args([
                "--listen",
                "127.0.0.1:0",
                "--admin",
                "127.0.0.1:0",
                "--from",
            ])
            .arg(from)
            .arg("--tls-cert")
            .arg(cert)
            .arg("--tls-key")
            .arg(key)
            .env("ATTACHE_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let addr = lines.find_map(|line| {
            let line = line.unwrap();
            let rest = line.strip_prefix("attache: https://")?;
            rest.split('/').next()?.parse().ok()
        });
        Self {
            child,
            addr: addr.expect("no address"),
            ca_pem: made.ca_pem,
            _certificates: dir,
        }
    }

    async fn connect(&self) -> Tls {
        Tls::connect(self.addr, &self.ca_pem).await
    }

    fn resident(&self) -> usize {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_bodies_again_and_again_leave_no_memory_behind() {
    let mut process = Process::start();
    let mut bodies: Vec<Vec<u8>> = cases().into_iter().map(|case| case.body).collect();
    bodies.extend(odd_objects().into_iter().map(|(_, body)| body.into_bytes()));
    let entries = vec![r#"{"a":0}"#; MIB / 32].join(",");
    bodies.push(review(&format!(r#"{{"targetRef":[{entries}]}}"#)).into_bytes());
    let round = async |process: &Process| {
        let mut client = process.connect().await;
        for body in &bodies {
            client.post("/validate", body).await;
        }
        too_large_by_length(process.connect().await).await;
        too_large_in_chunks(process.connect().await).await;
    };
    // The first rounds fill the allocator's caches.
    for _ in 0..3 {
        round(&process).await;
    }
    let before = process.resident();
    for _ in 0..50 {
        round(&process).await;
    }
    let grown = process.resident().saturating_sub(before);
    assert!(grown < 24 * MIB, "grew by {grown} bytes in 50 rounds");
    assert!(process.child.try_wait().unwrap().is_none(), "it ended");
}
