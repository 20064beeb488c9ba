//! `attache serve` as a process, for tests of signals, logs and starvation.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use testing::client::Tls;
use testing::serving::{Serving, quickstart};

/// Killed at the end of the test.
pub(crate) struct Process(Serving);

/// The settings with which the process starts.
pub(crate) struct Setup {
    /// In place of `--from examples/quickstart`; `{dir}` is the directory of the run.
    pub(crate) state: Vec<String>,
    pub(crate) more: Vec<String>,
    /// A command that wraps the program.
    pub(crate) by: Vec<String>,
    /// The destination of the log; by default a file.
    pub(crate) log: Option<PathBuf>,
    pub(crate) level: &'static str,
    /// Files in the directory of the run.
    pub(crate) files: Vec<(&'static str, String)>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            state: vec!["--from".to_owned(), quickstart().display().to_string()],
            more: vec!["--drain-delay=0s".to_owned()],
            by: Vec::new(),
            log: None,
            level: "info",
            files: Vec::new(),
        }
    }
}

impl Process {
    pub(crate) fn start(setup: &Setup) -> Self {
        let log = setup.log.as_ref().map(|path| {
            let file = File::options().write(true).open(path);
            Stdio::from(file.unwrap())
        });
        Self(Serving::start_logging(log, |dir, mut attache| {
            for (name, text) in &setup.files {
                fs::write(dir.join(name), text).unwrap();
            }
            let directory = dir.display().to_string();
            let output = setup.state.iter().chain(&setup.more);
            attache.args(output.map(|word| word.replace("{dir}", &directory)));
            let mut command = match &setup.by[..] {
                [] => attache,
                [program, words @ ..] => {
                    let mut command = Command::new(program);
                    command.args(words).arg(attache.get_program());
                    command.args(attache.get_args());
                    command
                }
            };
            command
                // Nothing may be written except to the log.
                .env("HOME", "/nonexistent")
                .env("TMPDIR", "/nonexistent")
                .env_remove("RUST_LOG")
                .env("ATTACHE_LOG", setup.level);
            command
        }))
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Serving {
        &mut self.0
    }
}

impl Deref for Process {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.0
    }
}

/// Sends a signal by its name.
pub(crate) fn signal(name: &str, pid: impl AsRef<OsStr>) {
    let sent = Command::new("kill")
        .arg(format!("-{name}"))
        .arg(pid)
        .status();
    assert!(sent.unwrap().success(), "kill -{name}");
}

/// A review of a policy on a listener of the quickstart's Gateway.
pub(crate) fn review(listener: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1","kind":{{"group":"policies.example.com","version":"v1","kind":"RetryPolicy"}},"operation":"CREATE","namespace":"infra","name":"retries","object":{{"metadata":{{"namespace":"infra","name":"retries"}},"spec":{{"targetRef":{{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"{listener}"}},"retries":3}}}}}}}}"#
    )
}

/// Sends reviews and checks their answers.
pub(crate) async fn ask(client: &mut Tls) {
    let answer = client
        .post("/validate?timeout=10s", review("http").as_bytes())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let response = &answer.json()["response"];
    assert_eq!(
        (&response["uid"], &response["allowed"]),
        (&"u-1".into(), &true.into())
    );
    let answer = client
        .post("/validate?timeout=10s", review("htpp").as_bytes())
        .await;
    assert_eq!(
        answer.json()["response"]["allowed"],
        false,
        "{}",
        answer.body
    );
}
