//! One test's part of a cluster: its namespaces, its attache, its webhooks, its files.
//!
//! Fixtures speak of the namespaces `infra` and `shop`. On the way in these become the test's own,
//! on the way out they turn back, so that what a test asserts reads as a user sees it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::cluster::{CONFIGURATION, FIXTURES, POLICY_KINDS, PROJECTS, QUICKSTART};
use super::{Attache, Cluster, Kubectl, Said, eventually, webhook};

const NAMESPACES: [&str; 2] = ["infra", "shop"];

/// Never created: the refusal shows that attache is asked and knows the kind.
const PROBE: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: probe, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: probe}
  mergeStrategy: Probe
";

pub(crate) struct World<'a> {
    pub(crate) attache: Attache,
    cluster: &'a Cluster,
    name: String,
    dir: PathBuf,
}

impl World<'static> {
    /// On the shared cluster; nothing where there is none.
    pub(crate) fn start(name: &str) -> Option<Self> {
        Cluster::shared().map(|cluster| World::on(cluster, name))
    }

    /// The same with these mutations switched on: `normalize-targets: true`.
    pub(crate) fn mutating(name: &str, mutations: &str) -> Option<Self> {
        let cluster = Cluster::shared()?;
        let text = fs::read_to_string(CONFIGURATION).expect("a fixture");
        let world = World::beside(cluster, name, |dir| {
            let file = dir.join("mutating.yaml");
            let text = format!("{text}mutations: {{{mutations}}}\n");
            fs::write(&file, text).expect("a writable folder");
            Attache::configured(cluster, name, &file)
        });
        Some(world.registered())
    }

    /// On the shared cluster, with the CRDs of a project there and its files at hand.
    pub(crate) fn of_project(project: &str) -> Option<Self> {
        let cluster = Cluster::shared()?;
        cluster.install_project(project)?;
        let world = World::on(cluster, project);
        world.bring(&Path::new(PROJECTS).join(project));
        Some(world)
    }
}

impl<'a> World<'a> {
    /// Returns when the API server asks this attache about this test's namespaces.
    pub(crate) fn on(cluster: &'a Cluster, name: &str) -> Self {
        World::unregistered(cluster, name).registered()
    }

    fn registered(self) -> Self {
        self.create_namespaces();
        self.attache.wait_until_ready();
        self.register();
        self
    }

    /// With attache started and no more: it is not waited for, and not registered.
    pub(crate) fn unregistered(cluster: &'a Cluster, name: &str) -> Self {
        World::beside(cluster, name, |_| Attache::serve(cluster, name))
    }

    fn beside(cluster: &'a Cluster, name: &str, serve: impl FnOnce(&Path) -> Attache) -> Self {
        let dir = cluster.dir().join(name);
        fs::create_dir(&dir).expect("a writable folder");
        let world = World {
            attache: serve(&dir),
            cluster,
            name: name.to_owned(),
            dir,
        };
        world.bring(Path::new(FIXTURES));
        world
    }

    /// Copies the files of a folder, in the namespaces of this test.
    fn bring(&self, from: &Path) {
        for file in fs::read_dir(from).expect("fixtures") {
            let file = file.expect("fixtures").path();
            if file.is_file() {
                let text = fs::read_to_string(&file).expect("a fixture");
                let to = self.dir.join(file.file_name().expect("a file"));
                fs::write(to, localize(&self.name, &text)).expect("a writable folder");
            }
        }
    }

    /// Creates the namespaces; the label is what the webhooks select.
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

    /// Creates the webhooks, and waits until a review has come back.
    pub(crate) fn register(&self) {
        self.apply_text(&webhook::configurations(&self.attache))
            .ok();
        let probe = localize(&self.name, PROBE);
        eventually("the API server asks attache", || {
            let args = ["apply", "--dry-run=server", "-f", "-"];
            let said = self.run(self.cluster.kubectl(), args, &probe);
            let asked = said.err.contains("\"Probe\" is not a strategy");
            if asked { Ok(()) } else { Err(said.to_string()) }
        });
    }

    /// As an admin, in the folder of this test's files.
    pub(crate) fn kubectl<'b>(&self, args: impl IntoIterator<Item = &'b str>) -> Said {
        self.run(self.cluster.kubectl(), args, "")
    }

    /// As `alice` or `bob`.
    pub(crate) fn kubectl_as<'b>(
        &self,
        user: &str,
        args: impl IntoIterator<Item = &'b str>,
    ) -> Said {
        self.run(self.cluster.kubectl_as(user), args, "")
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

    /// `kubectl apply -f -`, with these arguments more.
    pub(crate) fn apply_text_with<'b>(
        &self,
        text: &str,
        more: impl IntoIterator<Item = &'b str>,
    ) -> Said {
        let args = ["apply", "-f", "-"].into_iter().chain(more);
        self.run(self.cluster.kubectl(), args, &localize(&self.name, text))
    }

    /// `kubectl diff -f -`: code 1 where there is a difference.
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

    /// The real name of `infra` or `shop`.
    pub(crate) fn namespace(&self, namespace: &str) -> String {
        format!("{}-{namespace}", self.name)
    }

    /// `kubectl apply --dry-run=server -f FILE`, again and again until it warns of `text`.
    pub(crate) fn warns_at_last(&self, file: &str, text: &str) -> Said {
        eventually(text, || {
            self.kubectl(["apply", "--dry-run=server", "-f", file])
                .has_warned(text)
        })
    }

    /// The same for a text.
    pub(crate) fn warns_at_last_text(&self, text: &str, warning: &str) -> Said {
        let text = localize(&self.name, text);
        eventually(warning, || {
            let args = ["apply", "--dry-run=server", "-f", "-"];
            self.run(self.cluster.kubectl(), args, &text)
                .has_warned(warning)
        })
    }

    fn run<'b>(
        &self,
        kubectl: Kubectl,
        args: impl IntoIterator<Item = &'b str>,
        input: &str,
    ) -> Said {
        let said = kubectl.in_dir(self.dir.clone()).run_with(args, input);
        Said {
            out: self.globalize(&said.out),
            err: self.globalize(&said.err),
            ..said
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
