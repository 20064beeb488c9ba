//! `attache probe`, which `helm test` runs.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::run::{printed, root};

const PROGRAM: &str = env!("CARGO_BIN_EXE_attache");

/// A running attache, which ends with the test.
struct Served {
    child: Child,
    webhook: String,
    admin: String,
}

impl Served {
    fn start(certs: &Path) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--listen=[::]:0", "--admin=[::]:0", "--from"])
            .arg(root().join("examples/quickstart"))
            .arg("--tls-cert")
            .arg(certs.join("tls.crt"))
            .arg("--tls-key")
            .arg(certs.join("tls.key"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut ports = Vec::new();
        for line in lines.map(Result::unwrap) {
            if let Some((_, address)) = line.split_once("://") {
                let port = address.rsplit(':').next().unwrap();
                ports.push(port.trim_end_matches("/validate").to_owned());
            }
            if ports.len() == 2 {
                break;
            }
        }
        let [webhook, admin] = ports.try_into().expect("two ports");
        Self {
            child,
            webhook,
            admin,
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn probe(args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .arg("probe")
        .args(args)
        .output()
        .unwrap()
}

/// The message of the command on failure.
fn complaint(args: &[&str]) -> String {
    let output = probe(args);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The pair of a server that is called by the address of this machine.
fn certs(dir: &Path) {
    let made = Command::new(PROGRAM)
        .args(["certs", "--san", "127.0.0.1", "--san", "localhost", "--out"])
        .arg(dir)
        .output();
    printed(made.unwrap());
}

/// `[::]` takes calls by IPv4 too.
#[test]
fn a_server_that_answers_passes_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    certs(dir.path());
    let served = Served::start(dir.path());
    let ca = dir.path().join("ca.crt");
    let url = format!("https://127.0.0.1:{}/validate", served.webhook);
    let ready = format!("http://127.0.0.1:{}/readyz", served.admin);
    let output = printed(probe(&[&ready, &url, "--ca-cert", ca.to_str().unwrap()]));
    assert_eq!(
        output,
        format!("{ready}: 200 OK\n{url}: reviews are answered\n")
    );
    // By IPv6, where the machine has it.
    if fs::read_to_string("/proc/net/if_inet6").is_ok_and(|addresses| !addresses.is_empty()) {
        let ready = format!("http://[::1]:{}/readyz", served.admin);
        assert_eq!(printed(probe(&[&ready])), format!("{ready}: 200 OK\n"));
    }

    let output = complaint(&[&url, "--timeout=0s"]);
    assert!(
        output.contains("is not signed by a CA that this machine trusts"),
        "{output}"
    );
    let wrong = format!("http://127.0.0.1:{}/nowhere", served.admin);
    let output = complaint(&[&wrong, "--timeout=0s"]);
    assert!(output.contains("404 Not Found"), "{output}");
    drop(served);
    let output = complaint(&[&ready, "--timeout=0s"]);
    assert!(output.contains("refused"), "{output}");
}
