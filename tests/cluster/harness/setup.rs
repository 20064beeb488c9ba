//! One test's part of a cluster: its namespaces, its attache, its webhooks, its files.
//!
//! Fixtures use the namespaces `infra` and `shop`. Input is translated to the test's own namespaces and output back, so
//! that assertions read like what a user sees.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::cluster::{CONFIGURATION, FIXTURES, POLICY_KINDS, PROJECTS, QUICKSTART};
use super::{Attache, Cluster, Kubectl, Said, eventually, webhook};

const NAMESPACES: [&str; 2] = ["infra", "shop"];

/// Never created: the refusal shows that the API server asks attache and that attache knows the kind.
const PROBE: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: probe, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: probe}
  mergeStrategy: Probe
";

pub(crate) struct TestSetup<'a> {
    pub(crate) attache: Attache,
    cluster: &'a Cluster,
    name: String,
    dir: PathBuf,
}

impl TestSetup<'static> {
    /// On the shared cluster. `None` if there is none.
    pub(crate) fn start(name: &str) -> Option<Self> {
        Cluster::shared().map(|cluster| TestSetup::on(cluster, name))
    }

    /// With these mutations enabled: `normalize-targets: true`.
    pub(crate) fn mutating(name: &str, mutations: &str) -> Option<Self> {
        TestSetup::configured(name, &format!("mutations: {{{mutations}}}\n"))
    }

    /// With additional configuration.
    pub(crate) fn configured(name: &str, more: &str) -> Option<Self> {
        let cluster = Cluster::shared()?;
        let text = fs::read_to_string(CONFIGURATION).expect("a fixture");
        let setup = TestSetup::beside(cluster, name, |dir| {
            let file = dir.join("own.yaml");
            fs::write(&file, format!("{text}{more}")).expect("a writable folder");
            Attache::configured(cluster, name, &file)
        });
        Some(setup.registered())
    }

    /// On the shared cluster, with the CRDs and files of a project.
    pub(crate) fn of_project(project: &str) -> Option<Self> {
        let cluster = Cluster::shared()?;
        cluster.install_project(project)?;
        let setup = TestSetup::on(cluster, project);
        setup.bring(&Path::new(PROJECTS).join(project));
        Some(setup)
    }
}

impl<'a> TestSetup<'a> {
    /// Returns when the API server asks this attache about this test's namespaces.
    pub(crate) fn on(cluster: &'a Cluster, name: &str) -> Self {
        TestSetup::unregistered(cluster, name).registered()
    }

    /// Registers the webhooks and waits until the API server asks attache.
    pub(crate) fn registered(self) -> Self {
        self.create_namespaces();
        self.attache.wait_until_ready();
        self.register();
        self
    }

    /// Only starts attache: does not wait for it and does not register it.
    pub(crate) fn unregistered(cluster: &'a Cluster, name: &str) -> Self {
        TestSetup::beside(cluster, name, |_| Attache::serve(cluster, name))
    }

    /// With an attache that `serve` starts in the directory of this test's files.
    pub(crate) fn with(
        cluster: &'a Cluster,
        name: &str,
        serve: impl FnOnce(&Path) -> Attache,
    ) -> Self {
        TestSetup::beside(cluster, name, serve).registered()
    }

    /// As [`Self::with`], but not registered yet.
    pub(crate) fn beside(
        cluster: &'a Cluster,
        name: &str,
        serve: impl FnOnce(&Path) -> Attache,
    ) -> Self {
        let dir = cluster.dir().join(name);
        fs::create_dir(&dir).expect("a writable folder");
        let setup = TestSetup {
            attache: serve(&dir),
            cluster,
            name: name.to_owned(),
            dir,
        };
        setup.bring(Path::new(FIXTURES));
        setup
    }

    /// Copies the files of a directory, translated to this test's namespaces.
    fn bring(&self, from: &Path) {
        self.copy(from, &self.dir);
    }

    /// Copies the files of a directory into a subdirectory `name`.
    pub(crate) fn bring_folder(&self, from: &Path, name: &str) {
        let to = self.dir.join(name);
        fs::create_dir(&to).expect("a writable folder");
        self.copy(from, &to);
    }

    fn copy(&self, from: &Path, to: &Path) {
        for file in fs::read_dir(from).expect("fixtures") {
            let file = file.expect("fixtures").path();
            if file.is_file() {
                let text = fs::read_to_string(&file).expect("a fixture");
                let to = to.join(file.file_name().expect("a file"));
                fs::write(to, localize(&self.name, &text)).expect("a writable folder");
            }
        }
    }

    /// Creates the namespaces, with the label that the webhooks select.
    pub(crate) fn create_namespaces(&self) {
        let namespaces = NAMESPACES.map(|namespace| {
            json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": self.namespace(namespace),
                    "labels": {webhook::LABEL: self.name},
                },
            })
        });
        let list = json!({"apiVersion": "v1", "kind": "List", "items": namespaces});
        self.apply_text(&list.to_string()).ok();
    }

    /// Creates the webhooks.
    pub(crate) fn configure(&self) {
        self.apply_text(&webhook::configurations(&self.attache))
            .ok();
    }

    /// Creates the webhooks and waits for a first review.
    pub(crate) fn register(&self) {
        self.configure();
        eventually("the API server asks attache", || {
            let output = self.dry_run_text(PROBE);
            let asked = output.err.contains("\"Probe\" is not a strategy");
            if asked {
                Ok(())
            } else {
                Err(output.to_string())
            }
        });
    }

    /// `kubectl` as an admin, in the directory of this test's files.
    pub(crate) fn kubectl<'b>(&self, args: impl IntoIterator<Item = &'b str>) -> Said {
        self.run(self.cluster.kubectl(), args, "")
    }

    /// `kubectl` as a user with a kubeconfig: `alice`, `bob`, or a service account from [`Self::service_account`].
    pub(crate) fn kubectl_as<'b>(
        &self,
        user: &str,
        args: impl IntoIterator<Item = &'b str>,
    ) -> Said {
        self.run(self.cluster.kubectl_as(user), args, "")
    }

    /// Another client, as an admin or as a named user.
    pub(crate) fn client<'b>(
        &self,
        program: &Path,
        user: Option<&str>,
        args: impl IntoIterator<Item = &'b str>,
    ) -> Said {
        let kubeconfig = match user {
            Some(user) => self.cluster.kubeconfig_of(user),
            None => self.cluster.kubeconfig(),
        };
        self.run(self.cluster.client(program, kubeconfig), args, "")
    }

    /// Creates a service account in `infra` with all rights, as `GitOps` tools have. Returns its user name.
    pub(crate) fn service_account(&self) -> String {
        let user = format!("{}-pipeline", self.name);
        let infra = self.namespace("infra");
        let account = json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "pipeline", "namespace": infra},
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": user},
            "subjects": [{"kind": "ServiceAccount", "name": "pipeline", "namespace": infra}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        });
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [account, binding]});
        self.apply_text(&list.to_string()).ok();
        let token = self.kubectl(["create", "token", "pipeline", "-n", &infra]);
        let token = token.ok().out;
        let admin = fs::read_to_string(self.cluster.kubeconfig()).expect("a kubeconfig");
        let (before, after) = admin.split_once("token: ").expect("a token");
        let (_, after) = after.split_once('}').expect("the end of the token");
        let kubeconfig = format!("{before}token: {}}}{after}", token.trim());
        fs::write(self.cluster.kubeconfig_of(&user), kubeconfig).expect("a writable folder");
        user
    }

    /// `kubectl apply -f FILE`.
    pub(crate) fn apply(&self, file: &str) -> Said {
        self.kubectl(["apply", "-f", file])
    }

    /// `kubectl apply -f -`.
    pub(crate) fn apply_text(&self, text: &str) -> Said {
        let text = localize(&self.name, text);
        self.run(self.cluster.kubectl(), ["apply", "-f", "-"], &text)
    }

    /// `kubectl apply --dry-run=server -f -`.
    pub(crate) fn dry_run_text(&self, text: &str) -> Said {
        let text = localize(&self.name, text);
        let args = ["apply", "--dry-run=server", "-f", "-"];
        self.run(self.cluster.kubectl(), args, &text)
    }

    /// `kubectl apply -f -` with additional arguments.
    pub(crate) fn apply_text_with<'b>(
        &self,
        text: &str,
        more: impl IntoIterator<Item = &'b str>,
    ) -> Said {
        let args = ["apply", "-f", "-"].into_iter().chain(more);
        self.run(self.cluster.kubectl(), args, &localize(&self.name, text))
    }

    /// `kubectl diff -f -`: exit code 1 if there is a difference.
    pub(crate) fn diff_text<'b>(
        &self,
        text: &str,
        more: impl IntoIterator<Item = &'b str>,
    ) -> Said {
        let args = ["diff", "-f", "-"].into_iter().chain(more);
        self.run(self.cluster.kubectl(), args, &localize(&self.name, text))
    }

    /// The text of a file of this test, with the namespaces as users see them.
    pub(crate) fn read(&self, file: &str) -> String {
        self.globalize(&fs::read_to_string(self.dir.join(file)).expect("a file"))
    }

    /// Writes a file of this test, translated to its namespaces.
    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.dir.join(file), localize(&self.name, text)).expect("a writable folder");
    }

    /// The real name of `infra` or `shop`.
    pub(crate) fn namespace(&self, namespace: &str) -> String {
        format!("{}-{namespace}", self.name)
    }

    /// Repeats `kubectl apply --dry-run=server -f FILE` until it warns of `text`.
    pub(crate) fn warns_at_last(&self, file: &str, text: &str) -> Said {
        eventually(text, || {
            self.kubectl(["apply", "--dry-run=server", "-f", file])
                .has_warned(text)
        })
    }

    /// [`Self::warns_at_last`] for a text.
    pub(crate) fn warns_at_last_text(&self, text: &str, warning: &str) -> Said {
        eventually(warning, || self.dry_run_text(text).has_warned(warning))
    }

    fn run<'b>(
        &self,
        kubectl: Kubectl,
        args: impl IntoIterator<Item = &'b str>,
        input: &str,
    ) -> Said {
        let output = kubectl.in_dir(self.dir.clone()).run_with(args, input);
        Said {
            out: self.globalize(&output.out),
            err: self.globalize(&output.err),
            ..output
        }
    }

    fn globalize(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for namespace in NAMESPACES {
            text = text.replace(&self.namespace(namespace), namespace);
        }
        text
    }
}

fn localize(name: &str, text: &str) -> String {
    let mut text = text.to_owned();
    for namespace in NAMESPACES {
        let from = format!("namespace: {namespace}");
        text = text.replace(&from, &format!("namespace: {name}-{namespace}"));
    }
    text
}

/// The CRD of `RetryPolicy`.
pub(crate) fn retry_policy_crd() -> String {
    let kinds = fs::read_to_string(Path::new(QUICKSTART).join(POLICY_KINDS)).expect("CRDs");
    let (first, _) = kinds.split_once("---\n").expect("more than one");
    first.to_owned()
}

/// The text of a fixture.
pub(crate) fn fixture(file: &str) -> String {
    fs::read_to_string(Path::new(FIXTURES).join(file)).expect("a fixture")
}
