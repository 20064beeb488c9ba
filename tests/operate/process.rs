//! `attache serve` as a process, answering from a directory.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use attache::http::tls::make_ca_and_pair;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answer, Client, Tls};

/// A run that does not end by itself ends with the test.
pub(crate) struct Process {
    child: Child,
    dir: TempDir,
    ca_pem: String,
    pub(crate) webhook: SocketAddr,
    pub(crate) admin: SocketAddr,
}

/// A server of the shipped example, with more files beside, and more in its environment.
pub(crate) struct Setup<'a> {
    pub(crate) files: &'a [(&'a str, &'a str)],
    pub(crate) environment: &'a [(&'a str, &'a str)],
    pub(crate) args: &'a [&'a str],
    /// Else the log goes to a file.
    pub(crate) unread_log: bool,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            files: &[],
            environment: &[],
            args: &["--log-format=json"],
            unread_log: false,
        }
    }
}

impl Process {
    pub(crate) fn start(setup: &Setup<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        copy(Path::new("examples/quickstart"), &state);
        for (name, text) in setup.files {
            fs::write(state.join(name), text).unwrap();
        }
        let names = ["localhost".to_owned()];
        let made = make_ca_and_pair(&names, jiff::Zoned::now().date()).unwrap();
        let (cert, key) = (dir.path().join("cert"), dir.path().join("key"));
        fs::write(&cert, &made.cert_pem).unwrap();
        fs::write(&key, &made.key_pem).unwrap();
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command
            .args([
                "serve",
                "--listen=127.0.0.1:0",
                "--admin=127.0.0.1:0",
                "--drain-delay=0s",
            ])
            .arg("--from")
            .arg(&state)
            .arg("--tls-cert")
            .arg(&cert)
            .arg("--tls-key")
            .arg(&key)
            .args(setup.args)
            .env_remove("RUST_LOG")
            .env_remove("ATTACHE_LOG")
            .envs(setup.environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(if setup.unread_log {
                Stdio::piped()
            } else {
                Stdio::from(log)
            });
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let mut line = |with: &str| {
            let line = said.find_map(|line| Some(line.split_once(with)?.1.to_owned()));
            line.unwrap_or_else(|| panic!("it does not say {with:?}"))
        };
        let webhook = line("https://").replace("/validate", "").parse().unwrap();
        let admin = line("admin http://").parse().unwrap();
        Self {
            child,
            dir,
            ca_pem: made.ca_pem,
            webhook,
            admin,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Connects as soon as there is a certificate.
    pub(crate) async fn connect(&self) -> Tls {
        let ready = async {
            while self.get("/readyz").await.status != 200 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let ready = tokio::time::timeout(Duration::from_secs(20), ready).await;
        ready.expect("it does not become ready");
        Tls::connect(self.webhook, &self.ca_pem).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let stream = tokio::net::TcpStream::connect(self.admin).await.unwrap();
        Client::new(stream).get(path).await
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let asked = Command::new("kill").arg(self.pid().to_string()).status();
        assert!(asked.unwrap().success());
        self.child.wait().unwrap()
    }

    /// The log, once the process has ended.
    pub(crate) fn log(&mut self) -> String {
        assert!(self.end().success(), "{}", self.read_log());
        self.read_log()
    }

    fn read_log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A review of a `RetryPolicy` on a listener of the example's Gateway.
pub(crate) fn review(uid: &str, name: &str, section: &str, more: &Value) -> Value {
    let target = json!({
        "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge", "sectionName": section,
    });
    let mut object = json!({
        "apiVersion": "policies.example.com/v1", "kind": "RetryPolicy",
        "metadata": {"namespace": "infra", "name": name},
        "spec": {"targetRef": target, "retries": 3},
    });
    json_patch::merge(&mut object, more);
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": {"group": "policies.example.com", "version": "v1", "kind": "RetryPolicy"},
            "operation": "CREATE", "namespace": "infra", "name": name, "object": object,
        },
    })
}
