//! `attache serve --from examples/quickstart` in a process of its own, so that what it takes can be measured.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::client::{Answer, Client, LONG, Tls};
use crate::server::pair;

const PROGRAM: &str = env!("CARGO_BIN_EXE_attache");

/// Ended with the test.
pub(crate) struct Process {
    child: Child,
    pub(crate) addr: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) ca_pem: String,
    /// Where `tls.crt` and `tls.key` are.
    dir: TempDir,
}

impl Process {
    pub(crate) fn start() -> Self {
        Self::start_with(|_, attache| attache)
    }

    /// `change` may add arguments, or put another program in front; it is given the folder of the certificate.
    pub(crate) fn start_with(change: impl FnOnce(&Path, Command) -> Command) -> Self {
        let made = pair();
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("tls.crt"), &made.cert_pem).unwrap();
        std::fs::write(dir.path().join("tls.key"), &made.key_pem).unwrap();
        let mut child = change(dir.path(), command(dir.path()))
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut after = |prefix: &str| {
            let found = lines.find_map(|line| {
                let line = line.unwrap();
                let rest = line.strip_prefix(prefix)?;
                rest.split('/').next()?.parse().ok()
            });
            found.unwrap_or_else(|| panic!("no line with {prefix:?}"))
        };
        Self {
            addr: after("attache: https://"),
            admin: after("attache: admin http://"),
            child,
            ca_pem: made.ca_pem,
            dir,
        }
    }

    pub(crate) async fn connect(&self) -> Tls {
        Tls::connect(self.addr, &self.ca_pem).await
    }

    /// GET on the admin port.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let stream = TcpStream::connect(self.admin).await.unwrap();
        Client::new(stream).get(path).await
    }

    /// Waits until `/readyz?verbose` holds the text.
    pub(crate) async fn says(&self, text: &str) {
        let mut last = String::new();
        let said = async {
            loop {
                last = self.get("/readyz?verbose").await.body;
                if last.contains(text) {
                    return;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = timeout(LONG, said).await;
        assert!(waited.is_ok(), "no {text:?} in {last}");
    }

    /// A file beside the certificate.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What it wrote to standard error so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.file("log")).unwrap()
    }

    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Bytes of memory.
    pub(crate) fn resident(&self) -> usize {
        let statm = self.proc("statm");
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    }

    /// Open file descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.child.id());
        std::fs::read_dir(folder).unwrap().count()
    }

    /// Processor time, in hundredths of a second.
    pub(crate) fn ticks(&self) -> u64 {
        let stat = self.proc("stat");
        let (_, after) = stat.rsplit_once(") ").unwrap();
        let fields: Vec<&str> = after.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    fn proc(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- attache: {:?}", self.child.try_wait());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = self.log();
            eprintln!("--- attache:\n{}", &log[log.len().saturating_sub(4000)..]);
        }
    }
}

fn command(certificates: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("serve")
        .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        .arg("--from")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart"))
        .arg("--tls-cert")
        .arg(certificates.join("tls.crt"))
        .arg("--tls-key")
        .arg(certificates.join("tls.key"))
        .env("ATTACHE_LOG", "warn");
    command
}
