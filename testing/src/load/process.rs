//! Runs `attache serve` as in production, in a process of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use attache::certificates::{CaAndPair, make_ca_and_pair};
use tempfile::TempDir;

use crate::balancer::Replica;
use crate::eventually::becomes;
use crate::program;

use super::client::{Place, get};
use super::usage::{self, kib};

/// Longer than anything that is waited for.
pub const LONG: Duration = Duration::from_mins(1);

/// A running server, killed when dropped.
pub struct Process {
    pub child: Child,
    pub admin: SocketAddr,
    pub place: Place,
    dir: TempDir,
}

/// The server of this build, or another one for comparison.
fn server() -> OsString {
    let other = std::env::var_os("ATTACHE_BENCH_SERVER");
    other.unwrap_or_else(|| program().into())
}

/// A certificate for `localhost` and its CA.
pub fn pair() -> CaAndPair {
    make_ca_and_pair(&["localhost".to_owned()], jiff::Zoned::now().date()).unwrap()
}

impl Process {
    /// Its addresses.
    pub fn replica(&self) -> Replica {
        Replica {
            webhook: self.place.addr,
            admin: self.admin,
        }
    }

    /// Starts a server with this certificate, kubeconfig and configuration, and further arguments.
    pub fn start(made: &CaAndPair, kubeconfig: &str, config: &str, more: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let mut child = Command::new(server())
            .args(["serve", "--listen=127.0.0.1:0", "--admin=127.0.0.1:0"])
            .arg("--tls-cert")
            .arg(file("tls.crt", &made.cert_pem))
            .arg("--tls-key")
            .arg(file("tls.key", &made.key_pem))
            .arg("--kubeconfig")
            .arg(file("kubeconfig", kubeconfig))
            .arg("--config")
            .arg(file("attache.yaml", config))
            .args(more)
            .env_remove("RUST_LOG")
            .env("ATTACHE_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut after = |what: &str| -> SocketAddr {
            let value_found =
                lines.find_map(|line| Some(line.unwrap().split_once(what)?.1.to_owned()));
            let address = value_found.unwrap_or_else(|| panic!("it does not say {what:?}"));
            address.split(['/', ' ']).next().unwrap().parse().unwrap()
        };
        let (webhook, admin) = (after("attache: https://"), after("admin http://"));
        let place = Place::new(webhook, &made.ca_pem);
        Self {
            child,
            admin,
            place,
            dir,
        }
    }

    pub async fn ready(&self) {
        let ready = async || {
            self.is_ready()
                .await
                .then_some(())
                .ok_or_else(|| self.log())
        };
        becomes("ready", ready).await;
    }

    pub async fn is_ready(&self) -> bool {
        get(self.admin, "/readyz")
            .await
            .is_ok_and(|(status, _)| status == 200)
    }

    /// The sum of a metric over its labels; `None` if it cannot be read.
    pub async fn metric(&self, name: &str) -> Option<f64> {
        let (_, text) = get(self.admin, "/metrics").await.ok()?;
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        let values = lines.filter_map(|value| {
            (value.starts_with(['{', ' ']))
                .then(|| value.rsplit_once(' ')?.1.parse::<f64>().ok())?
        });
        Some(values.sum())
    }

    /// Resident memory in KiB.
    pub fn resident(&self) -> u64 {
        kib(self.child.id(), "VmRSS")
    }

    /// Peak resident memory in KiB, since it was last reset.
    pub fn peak(&self) -> u64 {
        kib(self.child.id(), "VmHWM")
    }

    /// Resets the peak.
    pub fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    pub fn descriptors(&self) -> u64 {
        let open = fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap();
        open.count() as u64
    }

    /// CPU time so far.
    pub fn worked(&self) -> Duration {
        usage::worked(self.child.id())
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- attache:\n{}", self.log());
        }
    }
}
