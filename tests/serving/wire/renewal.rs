//! A hundred new certificates while clients call. Every unusable one is refused and reported.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use attache::http::tls::{Certificates, Files, Reload};
use attache::metrics::Metrics;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::task::JoinHandle;

use super::authority::{Authority, Pair, When};
use super::process::Process;
use super::server::{ALLOWED, Running, Setup, on_listener, start_with, until};
use testing::client::{Tls, tls};

const ROTATIONS: usize = 100;

/// The procedure by which the new pair is installed.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// One file after the other, each atomically: for a moment they do not match.
    Rename,
    /// As kubelet does: `tls.crt -> ..data/tls.crt`, `..data -> ..<version>`.
    Symlink,
}

impl Way {
    fn put(self, root: &Path, version: &str, pair: &Pair) {
        match self {
            Self::Rename => {
                for (name, text) in [("tls.crt", &pair.cert), ("tls.key", &pair.key)] {
                    fs::write(root.join("next"), text).unwrap();
                    fs::rename(root.join("next"), root.join(name)).unwrap();
                }
            }
            Self::Symlink => {
                let directory = root.join(format!("..{version}"));
                fs::create_dir(&directory).unwrap();
                fs::write(directory.join("tls.crt"), &pair.cert).unwrap();
                fs::write(directory.join("tls.key"), &pair.key).unwrap();
                symlink(&directory, root.join("..data_tmp")).unwrap();
                let before = fs::read_link(root.join("..data"));
                fs::rename(root.join("..data_tmp"), root.join("..data")).unwrap();
                for name in ["tls.crt", "tls.key"] {
                    let link = root.join(name);
                    if !link.is_symlink() {
                        let _ = fs::remove_file(&link);
                        symlink(format!("..data/{name}"), link).unwrap();
                    }
                }
                if let Ok(before) = before {
                    fs::remove_dir_all(root.join(before)).unwrap();
                }
            }
        }
    }
}

/// Calls repeatedly on kept and on new connections, until it is stopped.
struct Load {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    async fn start(server: &Running, ca_pem: &str) -> Self {
        let (stop, calls) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut tasks = Vec::new();
        for keeps in [true, true, false, false] {
            let (stop, calls) = (stop.clone(), calls.clone());
            let (addr, ca_pem) = (server.addr, ca_pem.to_owned());
            let mut client = Tls::connect(addr, &ca_pem).await;
            tasks.push(tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let body = on_listener("http");
                    let answer = client.post("/validate", body.as_bytes()).await;
                    assert_eq!(answer.body, ALLOWED);
                    calls.fetch_add(1, Ordering::Relaxed);
                    if !keeps {
                        client = Tls::connect(addr, &ca_pem).await;
                    }
                }
            }));
        }
        Self { stop, calls, tasks }
    }

    /// Fails if any call failed. Returns the number of calls.
    async fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.expect("no call fails");
        }
        self.calls.load(Ordering::Relaxed)
    }
}

fn following(root: &Path, metrics: &Arc<Metrics>) -> (Arc<Certificates>, Reload) {
    let certificates = Certificates::new();
    let files = Files {
        cert: root.join("tls.crt"),
        key: root.join("tls.key"),
    };
    let reload = Reload::new(files, certificates.clone(), metrics.clone());
    (certificates, reload)
}

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// The certificate that a new client receives.
async fn shown(addr: std::net::SocketAddr, ca_pem: &str) -> CertificateDer<'static> {
    let stream = tls(addr, ca_pem, &["http/1.1"]).await.unwrap();
    let chain = stream.get_ref().1.peer_certificates().unwrap();
    chain[0].clone().into_owned()
}

async fn rotate(way: Way) {
    let root = tempfile::tempdir().unwrap();
    let ca = Authority::new();
    let setup = Setup::default();
    let (certificates, mut reload) = following(root.path(), &setup.metrics);
    way.put(root.path(), "0", &ca.server(When::Now));
    reload.poll().await;
    let server = start_with(Setup {
        certificates: Some(certificates),
        ..setup
    })
    .await;
    let polling = tokio::spawn(reload.run(Duration::from_millis(10)));
    let load = Load::start(&server, &ca.pem()).await;
    let mut longest = Duration::ZERO;
    for version in 1..=ROTATIONS {
        let (pair, before) = (ca.server(When::Now), load.calls.load(Ordering::Relaxed));
        let expected = der(&pair.cert);
        way.put(root.path(), &version.to_string(), &pair);
        let started = Instant::now();
        while shown(server.addr, &ca.pem()).await != expected {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{way:?} {version}"
            );
        }
        longest = longest.max(started.elapsed());
        let calls = || load.calls.load(Ordering::Relaxed);
        until("calls go on", || {
            calls() > before + 4 || load.tasks.iter().any(JoinHandle::is_finished)
        })
        .await;
    }
    let calls = load.stop().await;
    println!("{way:?}: {calls} calls, {ROTATIONS} rotations, longest {longest:.1?}");
    assert_eq!(
        server
            .metrics
            .cert_current
            .with_label_values(&["serving"])
            .get(),
        1
    );
    polling.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_renewals_by_rename_fail_no_call() {
    rotate(Way::Rename).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_renewals_by_symlink_fail_no_call() {
    rotate(Way::Symlink).await;
}

/// Unusable pairs, and the error for each.
fn broken(ca: &Authority, good: &Pair) -> Vec<(Pair, &'static str)> {
    let other = ca.server(When::Now);
    let pair = |cert: &str, key: &str| Pair {
        cert: cert.to_owned(),
        key: key.to_owned(),
    };
    let half = |text: &str| text[..text.len() / 2].to_owned();
    // No two consecutive errors are equal, so that each can be observed.
    vec![
        (
            pair(&other.cert, &good.key),
            "keys may not be consistent: KeyMismatch",
        ),
        (
            pair(&half(&other.cert), &other.key),
            "the certificate chain: the file ends in the middle of it",
        ),
        (
            pair(&other.cert, &half(&other.key)),
            "the private key: the file ends in the middle of it",
        ),
        (pair("", ""), "the certificate chain: the file has none"),
        (pair(&other.cert, ""), "the private key: the file has none"),
        // Key and certificate swapped.
        (
            pair(&other.key, &other.cert),
            "the certificate chain: the file has none",
        ),
        (ca.server(When::Past), "it ended at 2002-01-01T00:00:00Z"),
        (
            pair("\u{0}\u{1}", "key"),
            "the certificate chain: the file has none",
        ),
        (
            ca.server(When::Future),
            "it begins to count at 2080-01-01T00:00:00Z",
        ),
    ]
}

/// The program with this pair in its files.
fn start_with_pair(pair: &Pair, change: impl FnOnce(&Path, Command) -> Command) -> Process {
    Process::start_with(|dir, attache| {
        fs::write(dir.join("tls.crt"), &pair.cert).unwrap();
        fs::write(dir.join("tls.key"), &pair.key).unwrap();
        change(dir, attache)
    })
}

/// The whole program: log, metric and `/readyz?verbose` report the error, and the old pair stays in use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unusable_pair_is_refused_and_reported_and_the_old_pair_stays() {
    let ca = Authority::new();
    let good = ca.server(When::Now);
    let process = start_with_pair(&good, |_, attache| attache);
    let root = process.file("");
    process.says("[+]certificate ok").await;
    let all = broken(&ca, &good);
    for (n, (pair, why)) in all.iter().enumerate() {
        Way::Symlink.put(&root, &format!("broken-{n}"), pair);
        process.says(why).await;
        let answer = process.get("/readyz?verbose").await;
        let line = "[-]certificate failed (not required): ";
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains(line), "{}", answer.body);
        let shown = shown(process.addr, &ca.pem()).await;
        assert_eq!(shown, der(&good.cert), "{why}");
    }
    let metrics = process.get("/metrics").await.body;
    assert!(
        metrics.contains("attache_cert_current{file=\"serving\"} 0"),
        "{metrics}"
    );
    let failed = metrics.lines().find_map(|line| {
        let count = line.strip_prefix("attache_cert_reload_total{result=\"failed\"} ")?;
        count.parse::<usize>().ok()
    });
    assert!(failed >= Some(all.len()), "{metrics}");
    let log = process.log();
    for (_, why) in &all {
        let mut lines = log.lines().filter(|line| line.contains(why));
        let is_logged = lines.any(|line| line.contains("failed to load the serving certificate"));
        assert!(is_logged, "{why}: {log}");
    }
    assert!(!log.contains("PRIVATE KEY"), "{log}");
    // A good pair is still accepted.
    let renewed = ca.server(When::Now);
    Way::Symlink.put(&root, "good", &renewed);
    process.says("[+]certificate ok").await;
    assert_eq!(shown(process.addr, &ca.pem()).await, der(&renewed.cert));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_key_is_reported() {
    let ca = Authority::new();
    let good = ca.server(When::Now);
    let process = start_with_pair(&good, as_nobody);
    let mode = |mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(process.file("tls.key"), mode).unwrap();
    };
    process.says("[+]certificate ok").await;
    mode(0o000);
    process.says("Permission denied (os error 13)").await;
    assert_eq!(shown(process.addr, &ca.pem()).await, der(&good.cert));
    mode(0o444);
    process.says("[+]certificate ok").await;
    assert!(process.log().contains("Permission denied"));
}

/// As a user to whom file permissions apply: they do not apply to root, the usual user in a container.
fn as_nobody(dir: &Path, attache: Command) -> Command {
    const NOBODY: u32 = 65534;
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return attache;
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    // A copy of the files it needs, since their directories may be closed to other users.
    let (program, state) = (dir.join("attache"), dir.join("state"));
    fs::copy(attache.get_program(), &program).unwrap();
    fs::create_dir(&state).unwrap();
    let args = attache.get_args().map(|arg| {
        let is_folder = Path::new(arg).is_dir();
        if is_folder { state.as_os_str() } else { arg }
    });
    let mut copy = Command::new(program);
    copy.args(args).env("ATTACHE_LOG", "warn");
    copy.uid(NOBODY).gid(NOBODY);
    copy
}

/// attache cannot know whose clock is wrong, so it serves the pair and reports it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_pair_at_the_start_is_served_and_said() {
    let ca = Authority::new();
    let (past, good) = (ca.server(When::Past), ca.server(When::Now));
    let process = start_with_pair(&past, |_, attache| attache);
    let line = "[-]certificate failed (not required): it ended at 2002-01-01T00:00:00Z";
    process.says(line).await;
    assert_eq!(process.get("/readyz").await.status, 200);
    assert!(
        process
            .log()
            .contains("the serving certificate is not valid now")
    );
    let metrics = process.get("/metrics").await.body;
    let end = "attache_cert_not_after_timestamp_seconds 1009843200";
    assert!(metrics.contains(end), "{metrics}");
    // A client with a correct clock rejects it.
    let error = tls(process.addr, &ca.pem(), &["http/1.1"])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
    // The first valid pair is loaded.
    Way::Rename.put(&process.file(""), "", &good);
    process.says("[+]certificate ok").await;
    assert_eq!(shown(process.addr, &ca.pem()).await, der(&good.cert));
}

/// Expiry changes no file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pair_that_expires_while_served_is_reported_once() {
    let ca = Authority::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let soon = ca.server(When::Until(now.as_secs() + 4));
    let process = start_with_pair(&soon, |_, attache| attache);
    process.says("[+]certificate ok").await;
    process
        .says("[-]certificate failed (not required): it ended at ")
        .await;
    assert_eq!(process.get("/readyz").await.status, 200);
    let answer = "the serving certificate is not valid now";
    let lines = || process.log().matches(answer).count();
    until("the log says it", || lines() > 0).await;
    // A later renewal is detected, and there was no second report.
    Way::Rename.put(&process.file(""), "", &ca.server(When::Now));
    process.says("[+]certificate ok").await;
    assert_eq!(lines(), 1);
}

/// As other programs write them.
#[test]
fn rsa_keys_in_both_forms_are_taken() {
    let dir = tempfile::tempdir().unwrap();
    let openssl = |args: &[&str]| {
        let run = Command::new("openssl")
            .args(args)
            .current_dir(dir.path())
            .output();
        let run = run.expect("openssl, which the tests on a real API server need too");
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
    };
    let new =
        "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 30 -keyout pkcs8 -out cert";
    openssl(&new.split(' ').collect::<Vec<_>>());
    openssl(&["rsa", "-traditional", "-in", "pkcs8", "-out", "pkcs1"]);
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(read("pkcs1").contains("BEGIN RSA PRIVATE KEY"));
    for key in ["pkcs1", "pkcs8"] {
        let certificates = Certificates::new();
        let stored = certificates.store(read("cert").as_bytes(), read(key).as_bytes());
        stored.unwrap_or_else(|error| panic!("{key}: {error}"));
    }
}
