//! Certificates that attache makes itself: no call of the API server fails, whatever happens to them.
//!
//! The validating configuration calls one replica, the mutating one the other, and both refuse what nobody answers. So
//! each `kubectl apply` shows that the API server trusts both.

mod cert_manager;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testing::clock::faketime;

use crate::harness::manifests::{collect_policies, service_account, switched_on};
use crate::harness::{Attache, Cluster, Kubectl, eventually};

const SECRET: &str = "attache-system/attache-certs";
/// A certificate is renewed after 30 seconds.
const LIFE: &str = "45s";
/// Longer than a life.
const LONG: Duration = Duration::from_mins(1);
const POLICY: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: called, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
";
const CONFIGURATIONS: [(&str, &str); 2] = [
    ("validatingwebhookconfiguration/attache", "validate"),
    ("mutatingwebhookconfiguration/attache", "mutate"),
];

/// A cluster with the manifests as they are.
struct Installed {
    kubectl: Kubectl,
    cluster: Cluster,
    /// `--cert-life` of the replicas.
    life: &'static str,
}

impl Installed {
    fn start(name: &str) -> Option<Self> {
        let cluster = Cluster::own(name)?;
        let kubectl = cluster.kubectl();
        let manifests = cluster.dir().join("manifests");
        switched_on(&manifests, &[]);
        let manifests = manifests.to_str().expect("a path in UTF-8");
        kubectl
            .run(["apply", "--server-side", "-k", manifests])
            .ok();
        collect_policies(&kubectl);
        service_account(&cluster, &kubectl, "attache");
        Some(Self {
            kubectl,
            cluster,
            life: LIFE,
        })
    }

    /// A replica with the rights of the manifests.
    fn replica(&self, name: &str) -> Attache {
        self.replica_in(name, &[])
    }

    fn replica_in(&self, name: &str, environment: &[(&str, &str)]) -> Attache {
        let kubeconfig = self.cluster.kubeconfig_of("attache");
        let own = [
            "--manage-certs",
            "--cert-secret",
            SECRET,
            "--cert-name",
            "127.0.0.1",
        ];
        let more = [&own[..], &["--cert-life", self.life]].concat();
        Attache::in_environment(&self.cluster, name, &kubeconfig, &more, environment)
    }

    /// Makes the API server call these replicas, and refuse what they do not answer.
    fn call(&self, replicas: [&Attache; 2]) {
        for ((configuration, path), replica) in CONFIGURATIONS.iter().zip(replicas) {
            let url = format!("{}/{path}", replica.address);
            let known =
                self.kubectl.json(&["get", configuration])["webhooks"][0]["clientConfig"].clone();
            let mut client = json!({"url": url});
            if let Some(ca) = known.get("caBundle") {
                client["caBundle"] = ca.clone();
            }
            self.patch(
                configuration,
                &json!([
                    {"op": "replace", "path": "/webhooks/0/clientConfig", "value": client},
                    {"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"},
                    {"op": "replace", "path": "/webhooks/0/rules", "value": [{
                        "apiGroups": ["policies.example.com"], "apiVersions": ["*"],
                        "operations": ["CREATE", "UPDATE"], "resources": ["retrypolicies"],
                    }]},
                ]),
            );
        }
    }

    fn patch(&self, what: &str, patch: &Value) {
        let patch = patch.to_string();
        self.kubectl
            .run(["patch", what, "--type=json", "-p", &patch])
            .ok();
    }

    fn secret(&self) -> Value {
        self.kubectl
            .json(&["get", "secret/attache-certs", "-n", "attache-system"])["data"]
            .clone()
    }

    /// Makes the API server call two replicas, and waits until it trusts both.
    fn trusts(&self, replicas: [&Attache; 2]) {
        self.call(replicas);
        for replica in replicas {
            replica.wait_until_ready();
        }
        eventually("the API server trusts both", || self.calls());
    }

    /// Calls until so many certificates were served, one after another.
    fn calls_until_served(&self, number: usize) {
        let (mut served, start) = (BTreeSet::new(), Instant::now());
        while served.len() < number {
            assert!(
                start.elapsed() < 10 * LONG,
                "it was renewed {} times",
                served.len()
            );
            self.calls().expect("no call fails");
            served.insert(self.secret()["tls.crt"].to_string());
        }
    }

    /// Replaces a replica by one with its own certificates.
    fn upgrade(&self, old: &Attache, new: &Attache) {
        new.wait_until_ready();
        self.calls().expect("the old one is still trusted");
        self.call([old, new]);
        eventually("one of each", || self.calls());
        self.call([new, new]);
        eventually("the new one alone", || self.calls());
    }

    /// One call of each replica. An error names a call that failed.
    fn calls(&self) -> Result<(), String> {
        let apply = ["apply", "--server-side", "--dry-run=server", "-f", "-"];
        let output = self.kubectl.run_with(apply, POLICY);
        if output.code == 0 {
            Ok(())
        } else {
            Err(output.to_string())
        }
    }
}

#[test]
fn no_call_fails_while_two_replicas_renew_their_certificates() {
    let Some(on) = Installed::start("own-certs") else {
        return;
    };
    // Both find no Secret, and one of them makes it.
    let replicas = [on.replica("one"), on.replica("two")];
    on.trusts([&replicas[0], &replicas[1]]);

    on.calls_until_served(4);

    // Changes to the Secret by hand are repaired, too.
    let secret = ["secret/attache-certs", "-n", "attache-system"];
    on.kubectl
        .run(["delete"].iter().chain(&secret).copied())
        .ok();
    eventually("a Secret that was deleted is back", || {
        on.calls()?;
        let get = ["get"].iter().chain(&secret).copied();
        let output = on.kubectl.run(get);
        (output.code == 0)
            .then_some(())
            .ok_or_else(|| output.to_string())
    });
    for broken in [
        json!([{"op": "replace", "path": "/data/tls.key", "value": "bm9uZQ=="}]),
        json!([{"op": "remove", "path": "/data/ca.crt"}]),
        json!([{"op": "remove", "path": "/data"}]),
    ] {
        let before = on.secret();
        let text = broken.to_string();
        let patch = ["patch", "--type=json", "-p", &text];
        on.kubectl.run(patch.iter().chain(&secret).copied()).ok();
        eventually("a Secret that was broken is whole", || {
            on.calls()?;
            let now = on.secret();
            let is_whole = ["ca.crt", "tls.crt", "tls.key"]
                .iter()
                .all(|key| now[key].as_str().is_some_and(|text| text.len() > 100));
            is_whole
                .then_some(())
                .ok_or_else(|| format!("{broken} of {before}: {now}"))
        });
    }
    on.calls().expect("no call fails");
}

/// The clock of one replica goes ahead of that of the API server, that of the other behind.
#[test]
fn no_call_fails_while_replicas_with_different_clocks_renew_their_certificates() {
    let name = "no_call_fails_while_replicas_with_different_clocks_renew_their_certificates";
    let (Some(library), Some(on)) = (faketime(name), Installed::start("skewed-clocks")) else {
        return;
    };
    let library = library.to_str().expect("a path in UTF-8");
    let replicas = [("ahead", "+8"), ("behind", "-8")].map(|(name, seconds)| {
        let clock = [
            ("LD_PRELOAD", library),
            ("FAKETIME", seconds),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        on.replica_in(name, &clock)
    });
    on.trusts([&replicas[0], &replicas[1]]);
    on.calls_until_served(3);
}

#[test]
fn an_upgrade_from_certificate_files_fails_no_call() {
    let Some(on) = Installed::start("from-files") else {
        return;
    };
    let old = Attache::with(
        &on.cluster,
        "old",
        &on.cluster.kubeconfig_of("attache"),
        &[],
    );
    old.wait_until_ready();
    on.call([&old, &old]);
    let ca = base64(&old.ca());
    for (configuration, _) in CONFIGURATIONS {
        let path = "/webhooks/0/clientConfig/caBundle";
        on.patch(
            configuration,
            &json!([{"op": "add", "path": path, "value": ca}]),
        );
    }
    eventually("the API server trusts the files", || on.calls());

    on.upgrade(&old, &on.replica("new"));
}

#[test]
fn without_the_right_to_the_secret_it_is_not_ready_and_says_why() {
    let Some(on) = Installed::start("no-secret") else {
        return;
    };
    let binding = ["rolebinding/attache-certificates", "-n", "attache-system"];
    on.kubectl
        .run(["delete"].iter().chain(&binding).copied())
        .ok();
    let replica = on.replica("bare");
    let why = "[-]own-certificates failed: failed to read Secret attache-system/attache-certs: secrets \"attache-certs\" is forbidden";
    eventually("it says why", || {
        let (code, text) = replica.get("/readyz?verbose")?;
        (code == 503 && text.contains(why))
            .then_some(())
            .ok_or(text)
    });
    replica.answers("/livez", 200).expect("alive");
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(text)
}
