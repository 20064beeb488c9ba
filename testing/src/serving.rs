//! `attache serve` as a separate process: starts it, finds its addresses, and kills it at the end of the test.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use attache::certificates::make_ca_and_pair;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::client::{Answer, Client, Tls};
use crate::eventually::becomes;
use crate::{program, root};

/// The number of bytes of the log that a failed test shows.
const SHOWN: usize = 4_000;

/// Killed at the end of the test.
pub struct Serving {
    pub child: Child,
    pub addr: SocketAddr,
    pub admin: SocketAddr,
    pub ca_pem: String,
    /// Holds `tls.crt` and `tls.key`, the log, and the test's own files.
    dir: TempDir,
}

/// The state of most tests.
pub fn quickstart() -> PathBuf {
    root().join("examples/quickstart")
}

impl Serving {
    /// `change` sets the source of the state and may wrap the program; it receives the directory.
    pub fn start(change: impl FnOnce(&Path, Command) -> Command) -> Self {
        Self::start_logging(None, change)
    }

    /// [`Self::start`] with another destination of the log.
    pub fn start_logging(
        log: Option<Stdio>,
        change: impl FnOnce(&Path, Command) -> Command,
    ) -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = make_ca_and_pair(&names, jiff::Zoned::now().date()).unwrap();
        let dir = TempDir::new().unwrap();
        let (cert, key) = (dir.path().join("tls.crt"), dir.path().join("tls.key"));
        fs::write(&cert, &made.cert_pem).unwrap();
        fs::write(&key, &made.key_pem).unwrap();
        let mut command = Command::new(program());
        command
            .args(["serve", "--listen=127.0.0.1:0", "--admin=127.0.0.1:0"])
            .arg("--tls-cert")
            .arg(cert)
            .arg("--tls-key")
            .arg(key)
            .env_remove("RUST_LOG")
            .env("ATTACHE_LOG", "warn");
        let log = log.unwrap_or_else(|| File::create(dir.path().join("log")).unwrap().into());
        let mut child = change(dir.path(), command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        // The pipe is closed after these two lines, so later output fails.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut after = |what: &str| -> SocketAddr {
            let address_found =
                lines.find_map(|line| Some(line.unwrap().strip_prefix(what)?.to_owned()));
            let address = address_found.unwrap_or_else(|| panic!("it does not say {what:?}"));
            address.split(['/', ' ']).next().unwrap().parse().unwrap()
        };
        Self {
            addr: after("attache: https://"),
            admin: after("attache: admin http://"),
            child,
            ca_pem: made.ca_pem,
            dir,
        }
    }

    /// Waits until a path of the admin port answers with this status and text.
    pub async fn until(&self, path: &str, status: u16, text: &str) {
        let what = format!("{path} answers {status} with {text:?}");
        becomes(&what, async || {
            let answer = self.get(path).await;
            let is_so = answer.status == status && answer.body.contains(text);
            is_so.then_some(()).ok_or_else(|| format!("{answer:?}"))
        })
        .await;
    }

    /// Waits until a sample of the metrics, named with its labels, is above zero.
    pub async fn counts(&self, sample: &str) {
        becomes(&format!("{sample} counts"), async || {
            let body = self.get("/metrics").await.body;
            let value = body.lines().find_map(|line| line.strip_prefix(sample));
            let value = value.and_then(|value| value.trim().parse::<f64>().ok());
            let is_so = value.is_some_and(|value| value > 0.0);
            is_so.then_some(()).ok_or(body)
        })
        .await;
    }

    /// Waits until a path of the admin port answers with this text, whatever the status.
    pub async fn says(&self, path: &str, text: &str) {
        becomes(&format!("{path} says {text:?}"), async || {
            let answer = self.get(path).await;
            let is_so = answer.body.contains(text);
            is_so.then_some(()).ok_or(answer.body)
        })
        .await;
    }

    /// Waits until it is ready.
    pub async fn ready(&self) {
        self.until("/readyz", 200, "").await;
    }

    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the exit and returns its status.
    pub async fn ended(&mut self) -> ExitStatus {
        ended(&mut self.child).await
    }

    /// The process id; that of the wrapping program, if there is one.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub async fn connect(&self) -> Tls {
        Tls::connect(self.addr, &self.ca_pem).await
    }

    /// GET on the admin port.
    pub async fn get(&self, path: &str) -> Answer {
        let stream = TcpStream::connect(self.admin).await.unwrap();
        Client::new(stream).get(path).await
    }

    /// A file in its directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.file("log")).unwrap()
    }
}

/// Waits for the exit of a process and returns its status.
pub async fn ended(process: &mut Child) -> ExitStatus {
    becomes("it ends", async || {
        let status = process.try_wait().unwrap();
        status.ok_or_else(|| "it runs".to_owned())
    })
    .await
}

impl Drop for Serving {
    fn drop(&mut self) {
        let fails = std::thread::panicking();
        if fails {
            eprintln!("--- attache: {:?}", self.child.try_wait());
        }
        // SIGKILL also ends a stopped process.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if fails {
            let log = fs::read(self.file("log")).unwrap_or_default();
            let end = &log[log.len().saturating_sub(SHOWN)..];
            eprintln!("--- attache:\n{}", String::from_utf8_lossy(end));
        }
    }
}
