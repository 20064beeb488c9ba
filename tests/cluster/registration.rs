//! The API server asks attache about exactly the policy kinds that exist.
//!
//! The webhook configurations are those of users and apply to a whole cluster, so each test has its own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Attache, Cluster, Kubectl, Said, TestSetup, eventually, manifests};
use crate::kinds::{late_crd, mislabelled_crd};

const VALIDATING: &str = "validatingwebhookconfiguration/attache";
const MUTATING: &str = "mutatingwebhookconfiguration/attache";
const CONFIGURATIONS: [&str; 2] = [VALIDATING, MUTATING];
const LATE: &str = "limitpolicies.late.example.com";
const BINDING: &str = "clusterrolebinding/attache-validating-webhook";

/// Wrong in any state.
const WRONG: &str = "
apiVersion: late.example.com/v1
kind: LimitPolicy
metadata: {name: wrong, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io/v1, kind: Gateway, name: edge}
";

const HELD: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: held, namespace: infra, finalizers: [example.com/hold]}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
";

fn asked(output: &Said, why: &str) -> Result<(), String> {
    if output.err.contains(why) {
        Ok(())
    } else {
        Err(output.to_string())
    }
}

#[test]
fn the_printed_rules_make_the_api_server_call() {
    let Some(cluster) = Cluster::own("printed") else {
        return;
    };
    let mut setup = TestSetup::unregistered(&cluster, "printed");
    setup.create_namespaces();
    setup.attache.wait_until_ready();
    let printed = setup.attache.manifests(&cluster, &[]);
    assert_eq!(printed, setup.attache.manifests(&cluster, &[]));
    setup.apply_text(&printed).ok().silent_about("Warning");

    eventually("a wrong policy is refused", || {
        let output = setup.kubectl(["apply", "--dry-run=server", "-f", "bad-strategy.yaml"]);
        asked(&output, "strategy-unsupported: \"Sideways\"")
    });
    setup
        .apply_text(&mislabelled_crd())
        .ok()
        .warns("Warning: crd-label-mismatch: ");

    // With `Fail`, requests without an answer are refused.
    setup.apply("edge.yaml").ok();
    setup.apply_text(HELD).ok();
    let infra = setup.namespace("infra");
    let held = ["retrypolicy", "held", "-n", &infra];
    setup
        .kubectl(["delete", "--wait=false"].iter().chain(&held).copied())
        .ok();
    let shop = setup.namespace("shop");
    let terms = [
        "--failure-policy",
        "Fail",
        "--timeout-seconds",
        "2",
        "--exclude-namespace",
        &shop,
    ];
    setup
        .apply_text(&setup.attache.manifests(&cluster, &terms))
        .ok();
    assert!(setup.attache.terminate().success());
    eventually("policies do not pass unanswered", || {
        let output = setup.kubectl(["apply", "--dry-run=server", "-f", "bad-strategy.yaml"]);
        asked(&output, "failed calling webhook")
    });
    // Except in an excluded namespace, and for CRDs, status updates and objects in deletion.
    let elsewhere = HELD.replace("namespace: infra", "namespace: shop");
    setup.apply_text(&elsewhere).ok();
    setup.apply_text(&late_crd()).ok();
    let status = r#"{"status":{"conditions":[]}}"#;
    let edge = ["gateway", "edge", "-n", &infra, "--type=merge"];
    let patch = ["patch", "--subresource=status", "-p", status];
    setup.kubectl(patch.iter().chain(&edge).copied()).ok();
    let released = [
        "patch",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ];
    setup.kubectl(released.iter().chain(&held).copied()).ok();
}

/// `manifests/` with `manage-webhooks`, with the API server's calls redirected to this machine, and attache as the
/// service account of the manifests.
struct Installed {
    // Dropped before the cluster that it watches.
    attache: Attache,
    kubectl: Kubectl,
    manifests: String,
    cluster: Cluster,
}

impl Installed {
    fn start(name: &str) -> Option<Self> {
        let cluster = Cluster::own(name)?;
        let kubectl = cluster.kubectl();
        let manifests = cluster.dir().join("manifests");
        manifests::switched_on(&manifests, &["manage-webhooks"]);
        let manifests = manifests.to_str().expect("a path in UTF-8").to_owned();
        let apply = ["apply", "--server-side", "-k", &manifests];
        kubectl.run(apply).ok();
        manifests::collect_policies(&kubectl);
        let kubeconfig = manifests::service_account(&cluster, &kubectl, "attache");
        let attache = Attache::managing(&cluster, name, &kubeconfig);
        call_at(&manifests, &attache.address);
        kubectl.run(apply).ok();
        attache.wait_until_ready();
        Some(Self {
            attache,
            kubectl,
            manifests,
            cluster,
        })
    }

    fn webhook(&self, configuration: &str) -> Value {
        self.kubectl.json(&["get", configuration])["webhooks"][0].clone()
    }

    /// Whether both configurations name `resource`, or both do not, as `wanted`.
    fn names(&self, resource: &str, wanted: bool) -> Result<(), String> {
        CONFIGURATIONS
            .into_iter()
            .try_for_each(|configuration| self.rules_name(configuration, resource, wanted))
    }

    /// Whether the rules of one configuration name a resource.
    fn rules_name(&self, configuration: &str, resource: &str, wanted: bool) -> Result<(), String> {
        let rules = self.webhook(configuration)["rules"].to_string();
        if rules.contains(&format!("\"{resource}\"")) == wanted {
            Ok(())
        } else {
            Err(format!("{configuration}: {rules}"))
        }
    }

    /// `/readyz?verbose` is ready overall and contains the line.
    fn says(&self, line: &str) -> Result<(), String> {
        let (code, text) = self.attache.get("/readyz?verbose")?;
        if code == 200 && text.contains(line) {
            Ok(())
        } else {
            Err(text)
        }
    }

    fn apply(&self, text: &str) -> Said {
        self.kubectl.run_with(["apply", "-f", "-"], text)
    }
}

/// Makes the API server call this machine in place of the Service.
fn call_at(manifests: &str, address: &str) {
    let patches = ["Validating", "Mutating"].map(|kind| {
        let path = kind.replace("Validating", "validate").replace("Mutating", "mutate");
        let client = json!({"url": format!("{address}/{path}")});
        let change =
            json!([{"op": "replace", "path": "/webhooks/0/clientConfig", "value": client}]);
        json!({"target": {"kind": format!("{kind}WebhookConfiguration")}, "patch": change.to_string()})
    });
    let file = Path::new(manifests).join("kustomization.yaml");
    let text = fs::read_to_string(&file).expect("kustomization.yaml");
    fs::write(&file, format!("{text}patches: {}\n", json!(patches))).expect("a writable file");
}

#[test]
fn rules_follow_the_kinds_under_the_rights_of_the_manifests() {
    let Some(on) = Installed::start("managed") else {
        return;
    };
    eventually("the kinds that are there", || {
        on.names("retrypolicies", true)
    });
    for configuration in CONFIGURATIONS {
        assert!(on.webhook(configuration)["clientConfig"]["caBundle"].is_string());
    }
    on.says("[+]webhooks:validating ok").expect("well");
    let kubeconfig = on.cluster.dir().join("kubeconfig-attache");
    let second = Attache::managing(&on.cluster, "second", &kubeconfig);
    second.wait_until_ready();

    on.apply(&late_crd()).ok();
    eventually("the rule of a new kind", || on.names("limitpolicies", true));
    eventually("a wrong policy of it is refused", || {
        asked(&on.apply(WRONG), "target-group-versioned: ")
    });
    // attache has no right to read it: it reports that, and everything else works.
    let unreadable = "[-]cache:LimitPolicy.late.example.com failed (not required): limitpolicies.late.example.com is forbidden: ";
    eventually("it may not be read", || on.says(unreadable));
    let role = on.attache.manifests(&on.cluster, &[]);
    let label = "attache.dev/aggregate-to-attache=true";
    let args = ["apply", "--server-side", "-l", label, "-f", "-"];
    let output = on.kubectl.run_with(args, &role).ok();
    assert_eq!(output.out.lines().count(), 1, "{output}");
    manifests::collect_policies(&on.kubectl);
    eventually("it may be read", || {
        on.says("[+]cache:LimitPolicy.late.example.com ok")
    });

    let by_hand = r#"[{"op": "replace", "path": "/webhooks/0/rules", "value": []}]"#;
    for configuration in CONFIGURATIONS {
        on.kubectl
            .run(["patch", configuration, "--type=json", "-p", by_hand])
            .ok();
    }
    eventually("a change by hand is put back", || {
        on.names("limitpolicies", true)
    });

    on.kubectl.run(["delete", "crd", LATE]).ok();
    eventually("the rule of a kind that is gone", || {
        on.names("limitpolicies", false)
    });
    on.names("retrypolicies", true).expect("the others stay");
    let apply = ["apply", "--server-side", "-k", &on.manifests];
    on.kubectl.run(apply).ok();
    on.names("retrypolicies", true)
        .expect("applied again, the rules stay");

    for replica in [&on.attache, &second] {
        let (_, metrics) = replica.get("/metrics").expect("metrics");
        let updates = metrics
            .lines()
            .filter(|line| line.starts_with("attache_webhook_updates"));
        let mut failed = updates.filter(|line| line.contains("result=\"failed\""));
        assert!(failed.all(|line| line.ends_with(" 0")), "{metrics}");
    }
}

#[test]
fn a_missing_right_is_reported_and_the_rest_works() {
    let Some(on) = Installed::start("unmanaged") else {
        return;
    };
    eventually("the kinds that are there", || {
        on.names("retrypolicies", true)
    });
    let binding = on.kubectl.run(["get", BINDING, "-o", "json"]).ok().out;
    on.kubectl.run(["delete", BINDING]).ok();
    eventually("it says that it may not", || {
        on.says("[-]webhooks:validating failed (not required): validatingwebhookconfigurations.admissionregistration.k8s.io \"attache\" is forbidden: ")
    });
    on.attache.answers("/livez", 200).expect("alive");
    let (_, metrics) = on.attache.get("/metrics").expect("metrics");
    let line = "attache_webhook_current{configuration=\"validating\"} 0";
    assert!(metrics.contains(line), "{metrics}");
    on.apply(&late_crd()).ok();
    let wrong = WRONG
        .replace("late.example.com", "policies.example.com")
        .replace("LimitPolicy", "RetryPolicy");
    eventually("policies are still refused", || {
        asked(&on.apply(&wrong), "target-group-versioned: ")
    });
    // Only the right to the validating configuration is missing.
    eventually("the mutating configuration follows", || {
        on.rules_name(MUTATING, "limitpolicies", true)
    });
    on.rules_name(VALIDATING, "limitpolicies", false)
        .expect("nothing was written");

    on.apply(&binding).ok();
    eventually("the right is back", || on.says("[+]webhooks:validating ok"));
    eventually("the rule of the new kind", || {
        on.names("limitpolicies", true)
    });
}
