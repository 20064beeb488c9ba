//! `attache serve` as a process that signals, logs and starvation can be tried on.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use attache::http::tls::make_ca_and_pair;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::client::{Answer, Client, Tls};

/// Longer than anything here takes; a test that waits for it has failed.
const LONG: Duration = Duration::from_mins(1);

/// A run that does not end by itself ends with the test.
pub(crate) struct Process {
    child: Child,
    pub(crate) webhook: SocketAddr,
    pub(crate) admin: SocketAddr,
    ca_pem: String,
    dir: TempDir,
}

/// What is to be started.
pub(crate) struct Setup {
    /// In place of `--from examples/quickstart`; `{dir}` is the folder of the run.
    pub(crate) state: Vec<String>,
    pub(crate) more: Vec<String>,
    /// Put in front of the program.
    pub(crate) by: Vec<String>,
    /// Where the log goes; to a file of its own where nothing is said.
    pub(crate) log: Option<PathBuf>,
    pub(crate) level: &'static str,
    /// Files of the folder of the run.
    pub(crate) files: Vec<(&'static str, String)>,
}

impl Default for Setup {
    fn default() -> Self {
        let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart");
        Self {
            state: vec!["--from".to_owned(), quickstart.display().to_string()],
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
        let dir = tempfile::tempdir().unwrap();
        let made = make_ca_and_pair(&["localhost".to_owned()], jiff::Zoned::now().date()).unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        put("tls.crt", &made.cert_pem);
        put("tls.key", &made.key_pem);
        for (name, text) in &setup.files {
            put(name, text);
        }
        let here = dir.path().display().to_string();
        let said = setup.state.iter().chain(&setup.more);
        let mut words = setup.by.clone();
        words.push(env!("CARGO_BIN_EXE_attache").to_owned());
        words.extend(["serve", "--listen=127.0.0.1:0", "--admin=127.0.0.1:0"].map(str::to_owned));
        words.push(format!("--tls-cert={here}/tls.crt"));
        words.push(format!("--tls-key={here}/tls.key"));
        words.extend(said.map(|word| word.replace("{dir}", &here)));
        let log = setup.log.clone().unwrap_or(dir.path().join("log"));
        let log = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(log);
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            // Nothing may be written anywhere but to the log.
            .env("HOME", "/nonexistent")
            .env("TMPDIR", "/nonexistent")
            .env_remove("RUST_LOG")
            .env("ATTACHE_LOG", setup.level)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.unwrap());
        let mut child = command.spawn().unwrap();
        // Nobody reads on after these two lines: what is said later meets a pipe that is closed.
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut after = |what: &str| -> SocketAddr {
            let found = said.find_map(|line| Some(line.unwrap().split_once(what)?.1.to_owned()));
            let found = found.unwrap_or_else(|| panic!("it does not say {what:?}"));
            found.split(['/', ' ']).next().unwrap().parse().unwrap()
        };
        let (webhook, admin) = (after("attache: https://"), after("admin http://"));
        Self {
            child,
            webhook,
            admin,
            ca_pem: made.ca_pem,
            dir,
        }
    }

    /// Its number; that of the program in front of it, where there is one.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) async fn connect(&self) -> Tls {
        Tls::connect(self.webhook, &self.ca_pem).await
    }

    /// GET on the admin port.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let stream = TcpStream::connect(self.admin).await.unwrap();
        Client::new(stream).get(path).await
    }

    /// Waits until a path of the admin port answers so, with this text in it.
    pub(crate) async fn until(&self, path: &str, status: u16, text: &str) {
        let mut last = None;
        let so = async {
            loop {
                let answer = self.get(path).await;
                if answer.status == status && answer.body.contains(text) {
                    return;
                }
                last = Some(answer);
                sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = timeout(LONG, so).await;
        assert!(
            waited.is_ok(),
            "{path}: no {status} with {text:?}: {last:?}"
        );
    }

    pub(crate) async fn ready(&self) {
        self.until("/readyz", 200, "").await;
    }

    /// The status with which it ends.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let ends = async {
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(LONG, ends).await.expect("it does not end")
    }

    /// A file of its folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// What it logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that is stopped dies of this too.
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// A policy on a listener of the example's Gateway.
pub(crate) fn review(listener: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1","kind":{{"group":"policies.example.com","version":"v1","kind":"RetryPolicy"}},"operation":"CREATE","namespace":"infra","name":"retries","object":{{"metadata":{{"namespace":"infra","name":"retries"}},"spec":{{"targetRef":{{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"{listener}"}},"retries":3}}}}}}}}"#
    )
}

/// Asks, and has the answer that it should be.
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
