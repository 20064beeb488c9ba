//! One `attache serve` process.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::cluster::{CONFIGURATION, Cluster, path};
use testing::balancer::Replica;
use testing::eventually::{SOON, eventually};

const PROGRAM: &str = env!("CARGO_BIN_EXE_attache");

pub(crate) struct Attache {
    child: Child,
    name: String,
    /// The base URL for reviews.
    pub(crate) address: String,
    admin: String,
    ca: PathBuf,
    log: PathBuf,
    pid_file: PathBuf,
}

impl Attache {
    /// Starts attache and returns when its sockets are open; it may not be ready yet.
    pub(crate) fn serve(cluster: &Cluster, name: &str) -> Self {
        Self::configured(cluster, name, Path::new(CONFIGURATION))
    }

    /// Starts attache with another configuration.
    pub(crate) fn configured(cluster: &Cluster, name: &str, configuration: &Path) -> Self {
        Self::serve_with(
            cluster,
            name,
            &cluster.kubeconfig(),
            configuration,
            &[],
            &[],
        )
    }

    /// Starts attache with this configuration and environment; it manages its webhook configurations and logs JSON.
    pub(crate) fn observed(
        cluster: &Cluster,
        name: &str,
        configuration: &Path,
        environment: &[(&str, &str)],
    ) -> Self {
        let more = ["--manage-webhooks", "--log-format=json", "--reports"];
        let kubeconfig = cluster.kubeconfig();
        Self::serve_with(
            cluster,
            name,
            &kubeconfig,
            configuration,
            &more,
            environment,
        )
    }

    /// Starts attache as another user; it manages its webhook configurations and their CA.
    pub(crate) fn managing(cluster: &Cluster, name: &str, kubeconfig: &Path) -> Self {
        let ca = cluster.certs(make_certs).join("ca.crt");
        let more = ["--manage-webhooks", "--ca-cert", path(&ca)];
        let configuration = Path::new(CONFIGURATION);
        Self::serve_with(cluster, name, kubeconfig, configuration, &more, &[])
    }

    /// Starts attache as another user with additional arguments.
    pub(crate) fn with(cluster: &Cluster, name: &str, kubeconfig: &Path, more: &[&str]) -> Self {
        let configuration = Path::new(CONFIGURATION);
        Self::serve_with(cluster, name, kubeconfig, configuration, more, &[])
    }

    /// The same, with environment variables.
    pub(crate) fn in_environment(
        cluster: &Cluster,
        name: &str,
        kubeconfig: &Path,
        more: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let configuration = Path::new(CONFIGURATION);
        Self::serve_with(cluster, name, kubeconfig, configuration, more, environment)
    }

    fn serve_with(
        cluster: &Cluster,
        name: &str,
        kubeconfig: &Path,
        configuration: &Path,
        more: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let certs = cluster.certs(make_certs);
        let files = [certs.join("tls.crt"), certs.join("tls.key")];
        let files = ["--tls-cert", path(&files[0]), "--tls-key", path(&files[1])];
        let is_own = more.contains(&"--manage-certs");
        let mut command = Command::new(PROGRAM);
        command
            .arg("serve")
            .args(["--kubeconfig", path(kubeconfig)])
            .args(["--config", path(configuration)])
            .args(more)
            .args(if is_own { &[][..] } else { &files })
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .args(["--drain-delay", "0s"])
            .envs(environment.iter().copied());
        Self::start(cluster, name, command, certs.join("ca.crt"))
    }

    /// Starts a program of attache as a pod would, with all its arguments.
    pub(crate) fn as_pod(
        cluster: &Cluster,
        name: &str,
        program: &Path,
        kubeconfig: &Path,
        args: &[String],
    ) -> Self {
        let mut command = Command::new(program);
        command.args(args).args(["--kubeconfig", path(kubeconfig)]);
        let ca = cluster.certs(make_certs).join("ca.crt");
        Self::start(cluster, name, command, ca)
    }

    fn start(cluster: &Cluster, name: &str, mut command: Command, ca: PathBuf) -> Self {
        let log = cluster.dir().join(format!("attache-{name}.log"));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).expect("a writable folder"))
            .spawn()
            .expect("attache runs");
        let pid_file = cluster.dir().join(format!("attache-{name}.pid"));
        fs::write(&pid_file, child.id().to_string()).expect("a writable folder");
        let lines = lines_of(child.stdout.take().expect("piped"));
        let mut attache = Self {
            child,
            name: name.to_owned(),
            address: String::new(),
            admin: String::new(),
            ca,
            log,
            pid_file,
        };
        while attache.address.is_empty() || attache.admin.is_empty() {
            let Ok(line) = lines.recv_timeout(SOON) else {
                panic!("attache did not say where it listens");
            };
            if let Some((_, rest)) = line.split_once("admin http://") {
                rest.trim().clone_into(&mut attache.admin);
            } else if let Some((_, rest)) = line.split_once("https://") {
                let address = rest.split('/').next().unwrap_or(rest).trim();
                attache.address = format!("https://{address}");
            }
        }
        attache
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The port of the webhook endpoint.
    pub(crate) fn port(&self) -> u16 {
        let (_, port) = self.address.rsplit_once(':').expect("a port");
        port.parse().expect("a port")
    }

    /// Its addresses on this machine.
    pub(crate) fn replica(&self) -> Replica {
        let (_, admin) = self.admin.rsplit_once(':').expect("a port");
        let local = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        Replica {
            webhook: local(self.port()),
            admin: local(admin.parse().expect("a port")),
        }
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("a log")
    }

    /// The output of `attache manifests` for this server.
    pub(crate) fn manifests(&self, cluster: &Cluster, more: &[&str]) -> String {
        let own = ["--url", &self.address, "--ca-bundle", path(&self.ca)];
        printed(cluster, "manifests", &[&own, more].concat())
    }

    /// The output of `attache kinds` for a cluster.
    pub(crate) fn kinds(cluster: &Cluster, more: &[&str]) -> String {
        printed(cluster, "kinds", more)
    }

    /// The folder with `tls.crt`, `tls.key` and `ca.crt` of a server that is given files.
    pub(crate) fn files(cluster: &Cluster) -> &Path {
        cluster.certs(make_certs)
    }

    /// The CA that the API server must trust, in PEM.
    pub(crate) fn ca(&self) -> String {
        fs::read_to_string(&self.ca).expect("ca.crt")
    }

    /// The address of the admin port.
    pub(crate) fn admin(&self) -> SocketAddr {
        self.admin.parse().expect("an address")
    }

    /// GET on the admin port: the status code and the rest of the answer.
    pub(crate) fn get(&self, path: &str) -> Result<(u16, String), String> {
        let answer = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(&self.admin)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            write!(
                stream,
                "GET {path} HTTP/1.1\r\nHost: attache\r\nConnection: close\r\n\r\n"
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = answer().map_err(|error| format!("GET {path}: {error}"))?;
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        Ok((code.ok_or_else(|| answer.clone())?, answer))
    }

    /// `Ok` if the admin port answers `path` with `code`.
    pub(crate) fn answers(&self, path: &str, code: u16) -> Result<(), String> {
        match self.get(path)? {
            (got, _) if got == code => Ok(()),
            (_, answer) => Err(answer),
        }
    }

    pub(crate) fn wait_until_ready(&self) {
        eventually("attache is ready", || self.answers("/readyz?verbose", 200));
    }

    /// Kills it, without a chance to give anything up.
    pub(crate) fn kill(&self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", "KILL", &pid]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Sends SIGTERM and returns the exit status.
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        let sent = Command::new("kill")
            .args(["-s", "TERM", &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        eventually("attache ends", || {
            let ended = self.child.try_wait().map_err(|error| error.to_string())?;
            ended.ok_or_else(|| "it still runs".to_owned())
        })
    }
}

impl Drop for Attache {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.pid_file);
        if thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            let from = log.len().saturating_sub(4000);
            let tail = log.get(from..).unwrap_or(&log);
            eprintln!("--- attache {}:\n{tail}", self.name);
        }
    }
}

fn make_certs(dir: &Path) {
    let made = Command::new(PROGRAM)
        .args(["certs", "--out", path(dir)])
        .args(["--san", "127.0.0.1", "--san", "localhost"])
        .output()
        .expect("attache runs");
    let output = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "attache certs: {output}");
}

/// The lines of the output. Reads to the end, so that the writer never blocks.
fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    receive
}

/// The output of a command that reads a cluster.
fn printed(cluster: &Cluster, command: &str, more: &[&str]) -> String {
    let printed = Command::new(PROGRAM)
        .arg(command)
        .args(["--kubeconfig", path(&cluster.kubeconfig())])
        .args(["--config", CONFIGURATION])
        .args(more)
        .output()
        .expect("attache runs");
    let output = String::from_utf8_lossy(&printed.stderr);
    assert!(printed.status.success(), "attache {command}: {output}");
    String::from_utf8(printed.stdout).expect("text")
}
