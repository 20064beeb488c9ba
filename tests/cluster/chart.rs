//! `charts/attache` by Helm as it is released: installed, upgraded, rolled back and uninstalled.
//!
//! Pods do not run here. A process with the arguments of the Deployment and the account of the
//! chart takes the place of a Pod; the API server calls it by the name of the Service.

use serde_json::{Value, json};

use crate::harness::manifests::{collect_policies, count_quota, service_account};
use crate::harness::{Attache, Cluster, Kubectl, Said, eventually, pod};
use testing::program;

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/charts/attache");
const NAMESPACE: &str = "attache-system";
/// Wrong in any state.
const WRONG: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: wrong, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io/v1, kind: Gateway, name: edge}
";

/// A cluster of its own with Helm and kubectl.
struct Release {
    cluster: Cluster,
    kubectl: Kubectl,
    helm: Kubectl,
}

impl Release {
    fn new(name: &str) -> Option<Self> {
        let program = Cluster::program("helm")?;
        let cluster = Cluster::own(name)?;
        let kubectl = cluster.kubectl();
        let helm = cluster.helm(&program);
        Some(Self {
            cluster,
            kubectl,
            helm,
        })
    }

    fn helm(&self, args: &[&str]) -> Said {
        let all = args.iter().copied();
        self.helm.run(all.chain(["--namespace", NAMESPACE]))
    }

    fn install(&self, values: &[&str]) -> Said {
        let args = [&["install", "attache", CHART, "--create-namespace"], values].concat();
        let output = self.helm(&args).ok();
        // Controllers do this in a complete cluster.
        collect_policies(&self.kubectl);
        output
    }

    fn upgrade(&self, values: &[&str]) -> Said {
        self.helm(&[&["upgrade", "attache", CHART], values].concat())
    }

    /// An object of the release.
    fn get(&self, name: &str) -> Value {
        self.kubectl.json(&["get", name, "-n", NAMESPACE])
    }

    /// The names of all objects of the release.
    fn objects(&self) -> Vec<String> {
        let kinds = "all,configmaps,secrets,serviceaccounts,resourcequotas,poddisruptionbudgets,networkpolicies,\
                     clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,\
                     validatingadmissionpolicies,validatingadmissionpolicybindings";
        let label = "app.kubernetes.io/instance=attache";
        let output = self
            .kubectl
            .run(["get", kinds, "-A", "-l", label, "-o", "name"])
            .ok();
        output.out.lines().map(str::to_owned).collect()
    }

    /// Runs what a pod of the Deployment runs.
    fn run_pod(&self, name: &str) -> Attache {
        let args = pod::arguments(&self.cluster, &self.kubectl, name);
        // No wait at the end.
        let args = args.map(|arg| arg.replace("--drain-delay=10s", "--drain-delay=0s"));
        let args: Vec<String> = args.collect();
        let account = service_account(&self.cluster, &self.kubectl, "attache");
        let attache = Attache::as_pod(&self.cluster, name, &program(), &account, &args);
        attache.wait_until_ready();
        attache
    }

    /// The same, and the API server calls it.
    fn serve(&self, name: &str) -> Attache {
        let attache = self.run_pod(name);
        self.lead_to(&attache);
        attache
    }

    /// The API server asks for the name of the Service, and trusts what is in caBundle.
    fn lead_to(&self, attache: &Attache) {
        let service =
            json!({"spec": {"type": "ExternalName", "externalName": "localhost"}}).to_string();
        let patch = [
            "patch",
            "service/attache",
            "-n",
            NAMESPACE,
            "--type=merge",
            "-p",
            &service,
        ];
        self.kubectl.run(patch).ok();
        let port: u16 = attache.port();
        let port = json!([{"op": "replace", "path": "/webhooks/0/clientConfig/service/port", "value": port}]).to_string();
        for kind in ["validating", "mutating"] {
            let object = format!("{kind}webhookconfiguration/attache");
            self.kubectl
                .run(["patch", &object, "--type=json", "-p", &port])
                .ok();
        }
    }

    #[track_caller]
    fn refuses_what_is_wrong(&self) {
        eventually("a wrong policy is refused", || {
            let output = self
                .kubectl
                .run_with(["create", "--dry-run=server", "-f", "-"], WRONG);
            if output.err.contains("target-group-versioned: ") {
                Ok(())
            } else {
                Err(output.to_string())
            }
        });
    }

    /// The API server takes a pod of this template under the Pod Security Standard `restricted`.
    #[track_caller]
    fn is_restricted(&self, name: &str, template: &Value) {
        let mut pod = template.clone();
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        pod["metadata"]["name"] = name.into();
        let create = ["create", "--dry-run=server", "-n", NAMESPACE, "-f", "-"];
        let output = self.kubectl.run_with(create, &pod.to_string()).ok();
        output.silent_about("Warning");
    }
}

#[test]
fn a_release_lives_from_install_to_uninstall() {
    let Some(release) = Release::new("chart") else {
        return;
    };
    release
        .install(&[])
        .prints("STATUS: deployed\n")
        .prints("attache 0.1.0 is installed in attache-system: 2 replicas")
        .prints("kubectl -n attache-system rollout status deployment/attache\n")
        .silent_about("Warning");
    let objects = release.objects();
    let attache = release.serve("installed");
    let certificates = release.get("secret/attache-certs")["data"].clone();
    release.refuses_what_is_wrong();
    drop(attache);

    // Audit, and a configuration that only warns. The certificate stays. The ports of this test are Helm's again.
    let configured = [
        "--set",
        "audit.enabled=true",
        "--set",
        "config.findings.target-group-versioned=warn",
    ];
    release
        .upgrade(&[&configured[..], &["--force-conflicts"]].concat())
        .ok()
        .prints("REVISION: 2\n")
        .prints("Switched on: audit.\n");
    assert_eq!(release.get("secret/attache-certs")["data"], certificates);
    let attache = release.serve("upgraded");
    eventually("a wrong policy is taken with a warning", || {
        let output = release
            .kubectl
            .run_with(["create", "--dry-run=server", "-f", "-"], WRONG);
        output
            .has_warned("Warning: target-group-versioned: ")
            .map(|_| ())
    });
    drop(attache);

    release
        .helm(&["rollback", "attache", "1", "--force-conflicts"])
        .ok();
    assert_eq!(release.objects(), objects);
    assert_eq!(release.get("secret/attache-certs")["data"], certificates);
    let attache = release.serve("rolled-back");
    release.refuses_what_is_wrong();
    drop(attache);

    release.helm(&["uninstall", "attache"]).ok();
    assert_eq!(release.objects(), Vec::<String>::new());
    let output = release
        .kubectl
        .run_with(["create", "--dry-run=server", "-f", "-"], WRONG);
    output.ok().silent_about("Warning");
}

/// `Fail`, and no attache: nothing of the release is held up by its own webhooks.
#[test]
fn a_release_that_fails_closed_can_be_changed_and_removed_while_no_replica_runs() {
    let Some(release) = Release::new("chart-closed") else {
        return;
    };
    release.install(&["--set", "webhooks.failClosed=true"]);
    let failing = || {
        release
            .kubectl
            .run_with(["create", "--dry-run=server", "-f", "-"], WRONG)
    };
    eventually("policies do not pass unanswered", || {
        let output = failing();
        if output.err.contains("failed calling webhook") {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
    release
        .upgrade(&["--set", "webhooks.failClosed=true", "--set", "replicas=3"])
        .ok()
        .prints("REVISION: 2\n");
    assert_eq!(release.get("deployment/attache")["spec"]["replicas"], 3);
    release.helm(&["uninstall", "attache"]).ok();
    failing().ok();
}

/// attache keeps rules and caBundle under the rights of the chart, and an upgrade leaves them to it.
#[test]
fn an_upgrade_leaves_what_attache_keeps() {
    let Some(release) = Release::new("chart-managed") else {
        return;
    };
    let managed = [
        "--set",
        "manageWebhooks.validating=true",
        "--set",
        "webhooks.mutating=false",
    ];
    release.install(&managed);
    let attache = release.run_pod("managed");
    let webhook = || release.get("validatingwebhookconfiguration/attache")["webhooks"][0].clone();
    eventually("the rules of the kinds that are there", || {
        let rules = webhook()["rules"].to_string();
        if rules.contains("retrypolicies") {
            Ok(())
        } else {
            Err(rules)
        }
    });
    let kept = webhook();
    assert!(kept["clientConfig"]["caBundle"].is_string());
    release
        .upgrade(&[&managed[..], &["--set", "replicas=3"]].concat())
        .ok();
    assert_eq!(webhook(), kept);
    drop(attache);
    // Back to fixed rules: Helm has to be told to take over what attache wrote. The CA stays that of attache.
    let fixed = ["--set", "webhooks.mutating=false"];
    release.upgrade(&fixed).fails(1).warns("conflict");
    release
        .upgrade(&[&fixed[..], &["--force-conflicts"]].concat())
        .ok();
    let webhook = webhook();
    assert!(
        webhook["rules"].to_string().contains("kongpluginbindings"),
        "{webhook}"
    );
    assert_eq!(webhook["clientConfig"], kept["clientConfig"]);
}

#[test]
fn helm_test_and_all_pods_are_restricted() {
    let Some(release) = Release::new("chart-test") else {
        return;
    };
    release.install(&["--set", "audit.enabled=true"]);
    let label = [
        "label",
        "namespace",
        NAMESPACE,
        "pod-security.kubernetes.io/enforce=restricted",
    ];
    release
        .kubectl
        .run(
            label
                .into_iter()
                .chain(["pod-security.kubernetes.io/warn=restricted"]),
        )
        .ok();
    count_quota(&release.kubectl);
    let deployment = release.get("deployment/attache");
    release.is_restricted("attache", &deployment["spec"]["template"]);
    let job = release.get("cronjob/attache-audit");
    release.is_restricted("audit", &job["spec"]["jobTemplate"]["spec"]["template"]);

    // Helm creates the pod and waits for it; this test is its kubelet.
    std::thread::scope(|scope| {
        let test = scope.spawn(|| release.helm(&["test", "attache", "--timeout", "60s"]));
        let pod = eventually("the pod of the test", || {
            let output =
                release
                    .kubectl
                    .run(["get", "pod/attache-test", "-n", NAMESPACE, "-o", "json"]);
            output.succeeded()?;
            serde_json::from_str::<Value>(&output.out).map_err(|e| e.to_string())
        });
        let args = pod["spec"]["containers"][0]["args"].to_string();
        assert!(
            args.contains("https://attache.attache-system.svc/validate"),
            "{args}"
        );
        let status = json!({"status": {"phase": "Succeeded"}}).to_string();
        let patch = [
            "patch",
            "pod/attache-test",
            "-n",
            NAMESPACE,
            "--subresource=status",
            "--type=merge",
        ];
        release
            .kubectl
            .run(patch.into_iter().chain(["-p", &status]))
            .ok();
        let output = test.join().expect("helm ends").ok();
        output.prints("Phase:          Succeeded\n");
    });
}
