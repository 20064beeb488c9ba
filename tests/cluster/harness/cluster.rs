//! An API server with etcd. A child process stops it even if the tests panic or are killed.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write, stderr};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio, id};
use std::sync::{LazyLock, OnceLock};
use std::thread;

use super::Kubectl;
use tempfile::NamedTempFile;
use testing::eventually::eventually;

const PROGRAM: &str = env!("CARGO_BIN_EXE_attache");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/cluster.sh");
pub(super) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/fixtures");
/// The configuration of most tests.
pub(super) const CONFIGURATION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/cluster/fixtures/attache.yaml"
);
/// The fixtures of each project.
pub(super) const PROJECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/projects");

/// The policy kinds and the configuration from the documentation.
pub(super) const QUICKSTART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/quickstart");
pub(super) const POLICY_KINDS: &str = "10-policy-kinds.yaml";

const POLICY_REPORTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/cluster/policy-reports/crds.yaml"
);
const GUARDRAILS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/guardrails/crd.yaml");

/// The exit code of `cluster.sh` if the machine cannot build a cluster.
const CANNOT_BUILD: i32 = 3;

/// `None` if the tests are skipped; an error if they must fail.
static ASSETS: LazyLock<Result<Option<Assets>, String>> = LazyLock::new(Assets::of_script);

/// The cluster that most tests share. It stops with the process.
static SHARED: LazyLock<Cluster> =
    LazyLock::new(|| Cluster::start("shared", assets().expect("asked for after a look"), |_| {}));

/// The files that `cluster.sh` makes for the versions that the environment chooses.
struct Assets {
    /// The directory with etcd, kube-apiserver and kubectl.
    programs: PathBuf,
    /// The directory with the CRDs of the Gateway API.
    gateway_api: PathBuf,
}

pub(crate) struct Cluster {
    dir: PathBuf,
    assets: &'static Assets,
    holder: Child,
    certs: OnceLock<PathBuf>,
}

impl Cluster {
    /// The shared cluster. `None` if clusters are not available.
    pub(crate) fn shared() -> Option<&'static Self> {
        assets()?;
        Some(&SHARED)
    }

    /// Whether clusters are available.
    pub(crate) fn is_available() -> bool {
        assets().is_some()
    }

    /// A cluster for one test. `None` if clusters are not available.
    pub(crate) fn own(name: &str) -> Option<Self> {
        Self::prepared(name, |_| {})
    }

    /// A cluster with files in its directory before anything starts. `apiserver.flags` holds flags of the API server.
    pub(crate) fn prepared(name: &str, prepare: impl FnOnce(&Path)) -> Option<Self> {
        Some(Self::start(name, assets()?, prepare))
    }

    /// Starts a cluster with the CRDs of the Gateway API and of the quickstart.
    fn start(name: &str, assets: &'static Assets, prepare: impl FnOnce(&Path)) -> Self {
        let dir = env::temp_dir().join(format!("attache-cluster-{}-{name}", id()));
        fs::create_dir(&dir).expect("a writable folder");
        prepare(&dir);
        let mut holder = Command::new(SCRIPT)
            .arg("hold")
            .arg(&dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // In its own process group, so that ^C does not stop it before it has cleaned up.
            .process_group(0)
            .spawn()
            .expect("cluster.sh runs");
        let mut line = String::new();
        BufReader::new(holder.stdout.as_mut().expect("piped"))
            .read_line(&mut line)
            .expect("cluster.sh speaks");
        assert_eq!(line, "ready\n", "cluster.sh hold {}", dir.display());
        let cluster = Self {
            dir,
            assets,
            holder,
            certs: OnceLock::new(),
        };
        cluster.install_crds();
        cluster
    }

    /// The directory of the cluster's files. Processes in its `*.pid` files are stopped with the cluster.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.dir.join("kubeconfig")
    }

    /// The kubeconfig of a user: `alice` and `bob` have only the rights that a test gives them; tests may add others.
    pub(crate) fn kubeconfig_of(&self, user: &str) -> PathBuf {
        self.dir.join(format!("kubeconfig-{user}"))
    }

    /// The token of a user with a kubeconfig.
    pub(crate) fn token_of(&self, user: &str) -> String {
        let text = fs::read_to_string(self.kubeconfig_of(user)).expect("a kubeconfig");
        let (_, rest) = text.split_once("token: ").expect("a token");
        let end = rest.find(['}', '\n']).unwrap_or(rest.len());
        rest[..end].trim().to_owned()
    }

    /// `kubectl` as an admin.
    pub(crate) fn kubectl(&self) -> Kubectl {
        self.client(&self.assets.programs.join("kubectl"), self.kubeconfig())
    }

    /// `kubectl` as a user with a kubeconfig.
    pub(crate) fn kubectl_as(&self, user: &str) -> Kubectl {
        self.client(
            &self.assets.programs.join("kubectl"),
            self.kubeconfig_of(user),
        )
    }

    /// `attache` as an admin, or as a user whom the admin impersonates.
    pub(crate) fn attache(&self, user: Option<&str>) -> Kubectl {
        let kubeconfig = match user {
            Some(user) => self.impersonating(user),
            None => self.kubeconfig(),
        };
        self.client(Path::new(PROGRAM), kubeconfig)
    }

    /// `attache` as a user with a kubeconfig.
    pub(crate) fn attache_as(&self, user: &str) -> Kubectl {
        self.client(Path::new(PROGRAM), self.kubeconfig_of(user))
    }

    /// `kubectl` as an admin who has attache installed as a plugin.
    pub(crate) fn kubectl_with_plugin(&self) -> Kubectl {
        self.kubectl().with_programs(self.plugins())
    }

    /// A folder with attache, under its own name and as a plugin of kubectl.
    pub(crate) fn plugins(&self) -> PathBuf {
        let folder = self.dir.join("plugins");
        fs::create_dir_all(&folder).expect("a writable folder");
        for name in ["attache", "kubectl-attache"] {
            let made = symlink(PROGRAM, folder.join(name));
            // Another test may have made it just now.
            assert!(made.is_ok() || folder.join(name).exists(), "a link");
        }
        folder
    }

    /// A kubeconfig of the admin with a context in a namespace.
    pub(crate) fn kubeconfig_in(&self, namespace: &str) -> PathBuf {
        let admin = fs::read_to_string(self.kubeconfig()).expect("a kubeconfig");
        let context = "context: {";
        let text = admin.replace(context, &format!("{context}namespace: {namespace}, "));
        self.shared_file(&format!("kubeconfig-in-{namespace}"), &text)
    }

    /// A kubeconfig of the admin who impersonates a user.
    fn impersonating(&self, user: &str) -> PathBuf {
        self.impersonating_with(user, &format!("as: {user}"))
    }

    /// A kubeconfig of the admin who impersonates: `as: alice, as-groups: [readers]`.
    pub(crate) fn impersonating_with(&self, name: &str, whom: &str) -> PathBuf {
        let admin = fs::read_to_string(self.kubeconfig()).expect("a kubeconfig");
        let (before, after) = admin.split_once("user: {token: ").expect("a user");
        let text = format!("{before}user: {{{whom}, token: {after}");
        self.shared_file(&format!("kubeconfig-as-{name}"), &text)
    }

    /// Writes a file that other tests may write and read at the same time: it is there as a whole or not at all.
    fn shared_file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.dir.join(name);
        let mut new = NamedTempFile::new_in(&self.dir).expect("a writable folder");
        new.write_all(text.as_bytes()).expect("a writable folder");
        new.persist(&file).expect("a writable folder");
        file
    }

    /// A client program with a kubeconfig.
    pub(super) fn client(&self, program: &Path, kubeconfig: PathBuf) -> Kubectl {
        Kubectl::new(program.to_owned(), kubeconfig, self.dir.clone())
    }

    /// Helm as an admin.
    pub(crate) fn helm(&self, program: &Path) -> Kubectl {
        self.client(program, self.kubeconfig())
    }

    pub(crate) fn stop_apiserver(&self) {
        self.run("stop-apiserver");
    }

    /// Kills it, so that it cannot close its watches.
    pub(crate) fn kill_apiserver(&self) {
        self.run("kill-apiserver");
    }

    pub(crate) fn start_apiserver(&self) {
        self.run("start-apiserver");
    }

    fn run(&self, verb: &str) {
        let status = Command::new(SCRIPT).arg(verb).arg(&self.dir).status();
        assert!(status.expect("cluster.sh runs").success(), "{verb}");
    }

    /// The path of a client that `cluster.sh` builds. `None` if this machine cannot build it.
    pub(crate) fn program(name: &str) -> Option<PathBuf> {
        let program = path_from(&["program", name]).unwrap_or_else(|why| panic!("{why}"));
        if program.is_none() {
            say_skipped();
        }
        program
    }

    /// Installs the CRDs of a project for all tests from now on. `None` if this machine cannot get them.
    pub(super) fn install_project(&self, project: &str) -> Option<()> {
        let Some(crds) = path_from(&["crds", project]).unwrap_or_else(|why| panic!("{why}")) else {
            say_skipped();
            return None;
        };
        self.install(&crds);
        Some(())
    }

    /// Installs the CRDs of openreports.io, from their Go module. `None` if this machine cannot get them.
    pub(crate) fn install_openreports(&self) -> Option<()> {
        self.install_project("openreports")
    }

    /// Installs the CRD of cert-manager's Certificates, from its Go module. `None` if this machine cannot get it.
    pub(crate) fn install_certificates(&self) -> Option<()> {
        self.install_project("cert-manager")
    }

    /// Installs a stand-in for the CRDs of wgpolicyk8s.io.
    pub(crate) fn install_policy_reports(&self) {
        self.install(Path::new(POLICY_REPORTS));
    }

    /// Installs the CRD of guardrails.
    pub(crate) fn install_guardrails(&self) {
        self.install(Path::new(GUARDRAILS));
    }

    fn install_crds(&self) {
        let kubectl = self.kubectl();
        self.install(&self.assets.gateway_api);
        self.install(&Path::new(QUICKSTART).join(POLICY_KINDS));
        self.install(&Path::new(FIXTURES).join("colors.yaml"));
        let class = Path::new(FIXTURES).join("class.yaml");
        kubectl.run(["apply", "-f", path(&class)]).ok();
    }

    fn install(&self, crds: &Path) {
        let kubectl = self.kubectl();
        kubectl
            .run(["apply", "--server-side", "-f", path(crds)])
            .ok();
        // kubectl gives up on a CRD whose status the API server has not written yet.
        eventually("the definitions are served", || {
            kubectl
                .run(["wait", "--for=condition=Established", "-f", path(crds)])
                .succeeded()
        });
    }

    /// The certificates for every attache on this cluster, created once.
    pub(super) fn certs(&self, make: impl FnOnce(&Path)) -> &Path {
        self.certs.get_or_init(|| {
            let dir = self.dir.join("attache-certs");
            fs::create_dir(&dir).expect("a writable folder");
            make(&dir);
            dir
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

pub(super) fn path(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The path that `cluster.sh` prints. `None` if this machine cannot make it.
fn path_from(args: &[&str]) -> Result<Option<PathBuf>, String> {
    let made = Command::new(SCRIPT)
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .expect("cluster.sh runs");
    let required = env::var("ATTACHE_REQUIRE_CLUSTER").is_ok_and(|value| value == "1");
    match made.status.code() {
        Some(0) => {
            let path = String::from_utf8(made.stdout).expect("a path");
            Ok(Some(PathBuf::from(path.trim())))
        }
        Some(CANNOT_BUILD) if !required => Ok(None),
        _ => Err(format!("cluster.sh {}: {}", args.join(" "), made.status)),
    }
}

// === impl Assets ===

impl Assets {
    fn of_script() -> Result<Option<Self>, String> {
        let Some(programs) = path_from(&["build"])? else {
            return Ok(None);
        };
        let gateway_api = path_from(&["crds", "gateway-api"])?;
        Ok(gateway_api.map(|gateway_api| Self {
            programs,
            gateway_api,
        }))
    }
}

/// The files that `cluster.sh` made. Prints SKIPPED and returns `None` if it cannot make them.
fn assets() -> Option<&'static Assets> {
    match &*ASSETS {
        Ok(Some(assets)) => Some(assets),
        Ok(None) => {
            say_skipped();
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// Writes to stderr directly, since the test runner would capture other output.
fn say_skipped() {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let why = "no Go and no KUBEBUILDER_ASSETS, so there is no API server to test against";
    let _ = writeln!(stderr(), "SKIPPED: {test}: {why}");
}
