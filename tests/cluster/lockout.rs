//! With `failurePolicy: Fail` and no attache running, users can still repair the cluster and attache.

use std::path::PathBuf;

use crate::harness::manifests::{
    call_all_at, collect_policies, count_quota, service_account, switched_on,
};
use crate::harness::{Attache, Cluster, Kubectl, Said, eventually};
use crate::kinds::{late_crd, mislabelled_crd};

/// An address where nothing listens.
const NOBODY: &str = "https://127.0.0.1:1";
const CONFIGURATIONS: [&str; 2] = [
    "validatingwebhookconfiguration/attache",
    "mutatingwebhookconfiguration/attache",
];

const GATEWAY: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: default}
spec:
  gatewayClassName: example
  listeners: [{name: http, port: 80, protocol: HTTP}]
";
const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{name: web, port: 80}]}
";
const NAMESPACE: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: elsewhere}}";
const POLICY: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: retries, namespace: default}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  retries: 3
";

const CONFIG_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: mended, namespace: default}
";
const SECRET: &str = "
apiVersion: v1
kind: Secret
metadata: {name: mended, namespace: default}
";
const LEASE: &str = "
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: mended, namespace: default}
";
const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: mended, namespace: default}
spec:
  priorityClassName: system-cluster-critical
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: attache
    image: attache
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
";
const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: mended, namespace: default}
spec:
  selector: {matchLabels: {app: mended}}
  template:
    metadata: {labels: {app: mended}}
    spec:
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: attache
        image: attache
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
";

/// A cluster with the manifests applied, including `fail-closed`, but without attache.
struct Closed {
    kubectl: Kubectl,
    manifests: PathBuf,
    cluster: Cluster,
}

impl Closed {
    fn start(name: &str) -> Option<Self> {
        let cluster = Cluster::own(name)?;
        let kubectl = cluster.kubectl();
        let manifests = cluster.dir().join("manifests");
        switched_on(&manifests, &["fail-closed"]);
        let closed = Self {
            kubectl,
            manifests,
            cluster,
        };
        closed.call(NOBODY, "");
        collect_policies(&closed.kubectl);
        count_quota(&closed.kubectl);
        eventually("Gateways are refused", || refused(&closed.apply(GATEWAY)));
        Some(closed)
    }

    /// Applies the manifests with webhook calls to this address.
    fn call(&self, address: &str, ca: &str) {
        call_all_at(&self.manifests, address, ca);
        let folder = self.manifests.to_str().expect("a path in UTF-8");
        self.kubectl
            .run(["apply", "--server-side", "-k", folder])
            .ok();
    }

    fn apply(&self, text: &str) -> Said {
        self.kubectl.run_with(["apply", "-f", "-"], text)
    }

    /// Creates, changes and deletes an object.
    fn mend(&self, text: &str) {
        self.apply(text).ok();
        let label = ["label", "--overwrite", "-f", "-", "mended=yes"];
        self.kubectl.run_with(label, text).ok();
        let delete = ["delete", "--grace-period=0", "--force", "-f", "-"];
        self.kubectl.run_with(delete, text).ok();
    }
}

/// Refused because the webhook did not answer.
fn refused(output: &Said) -> Result<(), String> {
    let closed = output.err.contains("failed calling webhook");
    if output.code != 0 && closed {
        Ok(())
    } else {
        Err(output.to_string())
    }
}

fn own(text: &str) -> String {
    text.replace("namespace: default", "namespace: attache-system")
}

#[test]
fn with_fail_and_no_attache_every_repair_passes() {
    let Some(closed) = Closed::start("lockout") else {
        return;
    };
    for text in [SERVICE, NAMESPACE, POLICY] {
        refused(&closed.apply(text)).expect("refused");
    }
    // Its own namespace, any kind.
    for text in [
        POD, DEPLOYMENT, CONFIG_MAP, SECRET, LEASE, SERVICE, GATEWAY, POLICY,
    ] {
        closed.mend(&own(text));
    }
    // The namespace kube-system.
    closed.mend(&SERVICE.replace("namespace: default", "namespace: kube-system"));
    let label = ["label", "namespace/kube-system", "mended=yes"];
    closed.kubectl.run(label).ok();
    // In other namespaces, kinds that the webhooks do not cover, and CRDs.
    for text in [POD, DEPLOYMENT, CONFIG_MAP, SECRET, LEASE] {
        closed.mend(text);
    }
    closed.mend(&late_crd());
    // The objects that attache consists of.
    let namespace = ["-n", "attache-system"];
    for change in [
        &["scale", "deployment/attache", "--replicas=3"][..],
        &["rollout", "restart", "deployment/attache"],
        &["label", "namespace/attache-system", "mended=yes"],
        &["label", "service/attache", "mended=yes"],
        &[
            "delete",
            "deployment/attache",
            "service/attache",
            "pdb/attache",
        ],
        &["delete", "resourcequota/attache", "serviceaccount/attache"],
    ] {
        closed
            .kubectl
            .run(change.iter().copied().chain(namespace))
            .ok();
    }
    let folder = closed.manifests.to_str().expect("a path in UTF-8");
    closed
        .kubectl
        .run(["apply", "--server-side", "-k", folder])
        .ok();
    refused(&closed.apply(GATEWAY)).expect("still closed");

    // The emergency exit in every runbook.
    closed
        .kubectl
        .run(["delete"].into_iter().chain(CONFIGURATIONS))
        .ok();
    eventually("open", || closed.apply(GATEWAY).succeeded());
    // And deletion of everything while the configurations exist.
    closed
        .kubectl
        .run(["apply", "--server-side", "-k", folder])
        .ok();
    eventually("closed again", || refused(&closed.apply(SERVICE)));
    // No controller empties the namespace here, so do not wait for its deletion.
    let gone = closed
        .kubectl
        .run(["delete", "--wait=false", "-k", folder])
        .ok();
    for what in ["namespace \"attache-system\"", "\"attache\" deleted"] {
        assert!(gone.out.contains(what), "{gone}");
    }
    eventually("open", || closed.apply(SERVICE).succeeded());
}

#[test]
fn with_fail_reviews_pass_only_while_attache_runs() {
    let Some(closed) = Closed::start("reopened") else {
        return;
    };
    let kubeconfig = service_account(&closed.cluster, &closed.kubectl, "attache");
    let mut attache = Attache::with(&closed.cluster, "reopened", &kubeconfig, &[]);
    attache.wait_until_ready();
    closed.call(&attache.address, &attache.ca());
    for text in [GATEWAY, SERVICE, NAMESPACE, POLICY] {
        eventually("it passes", || closed.apply(text).succeeded());
    }
    let wrong = POLICY.replace(
        "gateway.networking.k8s.io,",
        "gateway.networking.k8s.io/v1,",
    );
    let output = closed.apply(&wrong).fails(1);
    assert!(output.err.contains("target-group-versioned: "), "{output}");
    // CRDs have their own webhook.
    closed
        .apply(&mislabelled_crd())
        .ok()
        .warns("crd-label-mismatch: ");

    assert!(attache.terminate().success());
    eventually("closed again", || {
        refused(&closed.kubectl.run(["delete", "gateway/edge"]))
    });
}
