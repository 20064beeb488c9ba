//! Pipelines against a cluster, with the rights of the manifests: the recurring audit, and the job that Argo CD runs
//! before a sync.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Cluster, Kubectl, manifests};
use testing::git::{commit, git};

const REPOSITORY: &str = env!("CARGO_MANIFEST_DIR");

/// A policy on a listener that does not exist.
const WRONG: &str = "tests/cluster/fixtures/bad-section.yaml";

/// A similar policy that has been in the cluster for long.
const STALE: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: stale, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: gone}
";

/// The quickstart in a cluster with the manifests and the audit, without webhooks.
struct Installed {
    kubectl: Kubectl,
    cluster: Cluster,
}

impl Installed {
    fn start(name: &str) -> Option<Self> {
        let cluster = Cluster::own(name)?;
        let kubectl = cluster.kubectl();
        let folder = cluster.dir().join("manifests");
        manifests::switched_on(&folder, &["audit"]);
        let folder = folder.to_str().expect("a path in UTF-8");
        let rendered = kubectl.run(["kustomize", folder]).ok().out;
        // Nothing would answer the webhooks.
        let objects: Vec<&str> = rendered
            .split("\n---\n")
            .filter(|object| !object.contains("WebhookConfiguration\n"))
            .collect();
        let apply = ["apply", "--server-side", "-f", "-"];
        kubectl.run_with(apply, &objects.join("\n---\n")).ok();
        manifests::collect_policies(&kubectl);
        let on = Self { kubectl, cluster };
        on.apply("examples/quickstart/10-policy-kinds.yaml");
        for kind in ["retrypolicies", "timeoutpolicies"] {
            let definition = format!("crd/{kind}.policies.example.com");
            let wait = ["wait", "--for=condition=Established", &definition];
            on.kubectl.run(wait).ok();
        }
        on.apply("examples/quickstart");
        Some(on)
    }

    fn apply(&self, path: &str) {
        let path = Path::new(REPOSITORY).join(path);
        let path = path.to_str().expect("a path in UTF-8");
        let skipped = "error: resource mapping not found";
        let output = self.kubectl.run(["apply", "-f", path]);
        assert!(!output.err.contains(skipped), "{output}");
    }

    /// `attache` as the service account of the audit.
    fn attache(&self) -> Kubectl {
        manifests::service_account(&self.cluster, &self.kubectl, "attache-audit");
        self.cluster.attache_as("attache-audit")
    }

    /// The arguments of the first container of a job, as stored.
    fn arguments(job: &Value) -> Vec<String> {
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        let arguments = container["args"].as_array().expect("arguments");
        arguments
            .iter()
            .map(|argument| argument.as_str().expect("a text").to_owned())
            .collect()
    }

    /// The directory with the files of the `ConfigMap` that the audit mounts.
    fn configuration(&self) -> PathBuf {
        let read = self
            .kubectl
            .json(&["get", "configmap", "-n", "attache-system"]);
        let maps = read["items"].as_array().expect("a list");
        let map = maps
            .iter()
            .find(|map| map["data"]["attache.yaml"].is_string());
        let folder = self.cluster.dir().join("etc");
        fs::create_dir_all(&folder).expect("a writable folder");
        let text = map.expect("the configuration")["data"]["attache.yaml"].as_str();
        fs::write(folder.join("attache.yaml"), text.expect("a text")).expect("a writable folder");
        folder
    }
}

#[test]
fn the_audit_finds_faults_that_admission_never_saw() {
    let Some(on) = Installed::start("audit") else {
        return;
    };
    let get = [
        "get",
        "cronjob/attache-audit",
        "-n",
        "attache-system",
        "-o",
        "json",
    ];
    let audit: Value = serde_json::from_str(&on.kubectl.run(get).ok().out).expect("JSON");
    let folder = on.configuration();
    let folder = folder.to_str().expect("a path in UTF-8");
    let arguments: Vec<String> = Installed::arguments(&audit["spec"]["jobTemplate"])
        .iter()
        .map(|argument| argument.replace("/etc/attache", folder))
        .collect();
    let run = || on.attache().run(arguments.iter().map(String::as_str));

    let clean = run();
    assert_eq!(clean.code, 0, "{clean}");
    on.apply(WRONG);
    let found = run();
    assert_eq!(found.code, 1, "{found}");
    assert!(
        found
            .out
            .contains("infra/bad-section: deny section-unknown"),
        "{found}"
    );
    assert!(found.out.contains("did you mean \"http\"?"), "{found}");
}

#[test]
fn argo_cd_stops_before_it_syncs_what_would_be_refused() {
    let Some(on) = Installed::start("argo") else {
        return;
    };
    // Existing faults in the cluster do not affect this sync.
    on.kubectl.run_with(["apply", "-f", "-"], STALE).ok();
    let job = snippet();
    let create = [
        "create",
        "--dry-run=server",
        "-n",
        "attache-system",
        "-o",
        "json",
        "-f",
        "-",
    ];
    let kept = on.kubectl.run_with(create, &job).ok().out;
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    let hook = &kept["metadata"]["annotations"]["argocd.argoproj.io/hook"];
    assert_eq!(hook, "PreSync");
    assert_eq!(
        kept["spec"]["template"]["spec"]["serviceAccountName"],
        "attache"
    );
    let clone = &kept["spec"]["template"]["spec"]["initContainers"][0]["args"];
    let clone: Vec<&str> = clone
        .as_array()
        .expect("arguments")
        .iter()
        .filter_map(Value::as_str)
        .collect();

    let shop = on.cluster.dir().join("shop.git");
    fs::create_dir_all(shop.join("deploy")).expect("a writable folder");
    let sync = |file: &str, as_name: &str| {
        let from = Path::new(REPOSITORY).join(file);
        fs::copy(from, shop.join("deploy").join(as_name)).expect("a writable folder");
        commit(&shop);
        let work = on.cluster.dir().join(format!("work-{as_name}"));
        let work = work.to_str().expect("a path in UTF-8");
        let url = format!("file://{}", shop.display());
        let clone: Vec<String> = clone
            .iter()
            .map(|word| {
                if word.starts_with("https://") {
                    url.clone()
                } else {
                    word.replace("/work", work)
                }
            })
            .collect();
        git(&shop, &clone.iter().map(String::as_str).collect::<Vec<_>>());
        let arguments: Vec<String> = Installed::arguments(&kept)
            .iter()
            .map(|word| word.replace("/work", work))
            .collect();
        on.attache().run(arguments.iter().map(String::as_str))
    };
    let clean = sync("examples/quickstart/50-policies.yaml", "policies.yaml");
    assert_eq!(clean.code, 0, "{clean}");
    let stopped = sync(WRONG, "section.yaml");
    assert_eq!(stopped.code, 1, "{stopped}");
    assert!(stopped.out.contains("section-unknown"), "{stopped}");
    assert!(stopped.out.contains("deploy/section.yaml:"), "{stopped}");
}

/// The job for Argo CD in docs/how-to/check-a-cluster.md.
fn snippet() -> String {
    let path = Path::new(REPOSITORY).join("docs/how-to/check-a-cluster.md");
    let text = fs::read_to_string(path).expect("docs/how-to/check-a-cluster.md");
    let (_, under) = text.split_once("\n## Argo CD\n").expect("the heading");
    let (_, block) = under.split_once("```yaml\n").expect("a block");
    block.split_once("```").expect("its end").0.to_owned()
}
