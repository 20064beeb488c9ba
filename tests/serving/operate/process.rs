//! `attache serve` as a process, answering from a directory.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use testing::client::Tls;
use testing::serving::{Serving, quickstart};

/// Killed at the end of the test.
pub(crate) struct Process(Serving);

/// A server of the quickstart, with additional files and environment variables.
pub(crate) struct Setup<'a> {
    pub(crate) files: &'a [(&'a str, &'a str)],
    pub(crate) environment: &'a [(&'a str, &'a str)],
    pub(crate) args: &'a [&'a str],
    /// The log goes to a pipe that nobody reads; otherwise to a file.
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
        let log = setup.unread_log.then(Stdio::piped);
        Self(Serving::start_logging(log, |dir, mut attache| {
            let state = dir.join("state");
            copy(&quickstart(), &state);
            for (name, text) in setup.files {
                fs::write(state.join(name), text).unwrap();
            }
            attache
                .arg("--drain-delay=0s")
                .arg("--from")
                .arg(state)
                .args(setup.args)
                .env_remove("ATTACHE_LOG")
                .envs(setup.environment.iter().copied());
            attache
        }))
    }

    /// Connects as soon as there is a certificate.
    pub(crate) async fn connect(&self) -> Tls {
        self.ready().await;
        self.0.connect().await
    }

    /// Sends SIGTERM and waits for the exit.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let asked = Command::new("kill").arg(self.pid().to_string()).status();
        assert!(asked.unwrap().success());
        self.0.child.wait().unwrap()
    }

    /// Ends the process and returns its log.
    pub(crate) fn log(&mut self) -> String {
        assert!(self.end().success(), "{}", self.0.log());
        self.0.log()
    }
}

impl Deref for Process {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.0
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A review of a `RetryPolicy` on a listener of the quickstart's Gateway.
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
