//! What the largest bodies make of a process: the body itself, TLS and the allocator included.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use attache::http::tls::{Made, make_ca_and_pair};
use tempfile::TempDir;

use crate::bodies;
use crate::client::Tls;

/// Beside four times the body: buffers, and what the allocator keeps for threads.
const FIXED: usize = 32 << 20;

/// `attache serve --from examples/quickstart`; ended with the test.
struct Process {
    child: Child,
    addr: SocketAddr,
    made: Made,
    _files: TempDir,
}

impl Process {
    fn start() -> Self {
        let made = make_ca_and_pair(&["localhost".to_owned()], jiff::Zoned::now().date()).unwrap();
        let files = TempDir::new().unwrap();
        let (cert, key) = (files.path().join("tls.crt"), files.path().join("tls.key"));
        std::fs::write(&cert, &made.cert_pem).unwrap();
        std::fs::write(&key, &made.key_pem).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart");
        let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args([
                "serve",
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
            made,
            _files: files,
        }
    }

    /// The most that it has held at once since `forget`.
    fn most(&self) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kilobytes.unwrap().parse::<usize>().unwrap() * 1024
    }

    fn forget(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One of each sort; the kinds of the quickstart make policies of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_takes_four_times_a_body_at_most() {
    let process = Process::start();
    let groups = [
        bodies::settings,
        bodies::targets,
        bodies::topology,
        bodies::definitions,
    ];
    let mut beyond = Vec::new();
    for group in groups {
        for hostile in group().iter().step_by(3) {
            let body = hostile.body().replace("PlainPolicy", "RetryPolicy");
            let mut client = Tls::connect(process.addr, &process.made.ca_pem).await;
            process.forget();
            let before = process.most();
            let answer = client.post("/validate", body.as_bytes()).await;
            assert_eq!(answer.status, 200, "{}: {}", hostile.name, answer.body);
            let grown = process.most().saturating_sub(before);
            if grown > 4 * body.len() + FIXED {
                beyond.push(format!(
                    "{}: {grown} bytes for {}",
                    hostile.name,
                    body.len()
                ));
            }
        }
    }
    assert_eq!(beyond, Vec::<String>::new());
}
