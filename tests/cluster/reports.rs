//! Reports of the current findings: where a finding appears, when it goes, and who writes while replicas come and go.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::manifests::{collect_policies, service_account};
use crate::harness::{Attache, Cluster, Said, TestSetup, eventually};

const REPORTS: &str = "reports.openreports.io";
const CLUSTER_REPORTS: &str = "clusterreports.openreports.io";
const POLICY_REPORTS: &str = "policyreports.wgpolicyk8s.io";

/// A policy in `shop` whose Gateway does not exist.
const LOST: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: lost, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: nowhere}
  retries: 3
";

/// A policy of `infra` that applies to everything behind the Gateway, and one of `shop` that it overrides.
const OVERRIDDEN: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: secret-limits, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  mergeStrategy: PatchOverrides
  retries: 1
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: in-vain, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}
  mergeStrategy: PatchDefaults
  retries: 5
";

/// A cluster-scoped policy kind, and a policy of it whose target does not exist.
const CLUSTER_KIND: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: classlimits.policies.example.com
  labels: {gateway.networking.k8s.io/policy: inherited}
spec:
  group: policies.example.com
  scope: Cluster
  names: {kind: ClassLimit, listKind: ClassLimitList, singular: classlimit, plural: classlimits}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              targetRef:
                type: object
                properties: {group: {type: string}, kind: {type: string}, name: {type: string}}
              limit: {type: integer}
";
const CLUSTER_LOST: &str = "
apiVersion: policies.example.com/v1
kind: ClassLimit
metadata: {name: lost-limit}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: GatewayClass, name: nowhere}
  limit: 3
";

/// The right to read the policy kinds of the tests.
const OWN_KINDS: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: own-kinds
  labels: {attache.dev/aggregate-to-attache: \"true\"}
rules:
- {apiGroups: [policies.example.com], resources: [\"*\"], verbs: [get, list, watch]}
";

fn serve(cluster: &Cluster, name: &str) -> Attache {
    Attache::with(cluster, name, &cluster.kubeconfig(), &["--reports"])
}

/// A report as JSON; `None` if there is none.
fn report(setup: &TestSetup<'_>, kind: &str, namespace: &str) -> Option<Value> {
    let namespace = setup.namespace(namespace);
    let args = ["get", kind, "attache", "-n", &namespace, "-o", "json"];
    let output: Said = setup.kubectl(args);
    output.succeeded().ok()?;
    Some(serde_json::from_str(&output.out).expect("JSON"))
}

/// The result about an object, when it is there.
fn result(setup: &TestSetup<'_>, kind: &str, namespace: &str, name: &str) -> Result<Value, String> {
    let report = report(setup, kind, namespace).ok_or("no report")?;
    let results = report["results"].as_array().expect("results");
    let found = results
        .iter()
        .find(|result| result["resources"][0]["name"] == name);
    found.cloned().ok_or_else(|| report.to_string())
}

/// The value of a sample in the metrics of a replica.
fn sample(attache: &Attache, sample: &str) -> Option<u64> {
    let (_, page) = attache.get("/metrics").ok()?;
    let line = page.lines().find_map(|line| line.strip_prefix(sample))?;
    line.trim().parse().ok()
}

/// Whether a replica writes.
fn writes(attache: &Attache, api: &str) -> Option<u64> {
    sample(attache, &format!("attache_report_writer{{api=\"{api}\"}} "))
}

fn version(report: &Value) -> &Value {
    &report["metadata"]["resourceVersion"]
}

#[test]
fn a_finding_is_in_the_report_of_its_namespace_as_long_as_it_stands() {
    let Some(cluster) = Cluster::own("reports") else {
        return;
    };
    let mut setup = TestSetup::beside(&cluster, "reports", |_| serve(&cluster, "first"));
    setup.create_namespaces();
    eventually(
        "that no API for reports is served is in the metrics",
        || writes(&setup.attache, "none").ok_or_else(|| setup.attache.log()),
    );
    if cluster.install_openreports().is_none() {
        return;
    }
    setup.apply("edge.yaml").ok();
    setup.apply("cart-route.yaml").ok();
    setup.apply_text(OVERRIDDEN).ok();
    setup.apply_text(LOST).ok();
    let found = eventually("the finding is in the report", || {
        result(&setup, REPORTS, "shop", "lost")
    });
    let log = setup.attache.log();
    assert_eq!(log.matches("no reports are written").count(), 1, "{log}");

    let uid = setup.kubectl([
        "get",
        "retrypolicy",
        "lost",
        "-n",
        &setup.namespace("shop"),
        "-o",
        "jsonpath={.metadata.uid}",
    ]);
    assert_eq!(found["policy"], "target-not-found", "{found}");
    assert_eq!(found["source"], "attache");
    assert_eq!(found["severity"], "medium");
    assert_eq!(found["result"], "warn");
    assert_eq!(found["category"], "Targets");
    assert_eq!(
        found["resources"],
        json!([{
            "apiVersion": "policies.example.com/v1", "kind": "RetryPolicy",
            "namespace": "shop", "name": "lost", "uid": uid.out,
        }])
    );
    assert_eq!(found["properties"]["field"], "spec.targetRef", "{found}");
    assert!(found["timestamp"]["seconds"].as_i64().unwrap() > 1_700_000_000);
    let full = report(&setup, REPORTS, "shop").unwrap();
    assert_eq!(
        full["metadata"]["labels"],
        json!({"app.kubernetes.io/managed-by": "attache"})
    );
    let count = full["results"].as_array().unwrap().len();
    let summary = &full["summary"];
    let counted = ["fail", "warn", "error"].map(|key| summary[key].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), count as u64, "{full}");
    // A user who reads it may not read the policies of another namespace.
    let vain = result(&setup, REPORTS, "shop", "in-vain").unwrap();
    assert_eq!(vain["policy"], "overridden", "{vain}");
    assert!(!full.to_string().contains("secret-limits"), "{full}");

    // The types of openreports read it.
    let both = format!("{REPORTS},{CLUSTER_REPORTS}");
    let lists = setup.kubectl(["get", &both, "-A", "-o", "json"]).ok();
    setup.write("lists.json", &lists.out);
    if let Some(program) = Cluster::program("openreports") {
        let read = setup.client(&program, None, ["lists.json"]).ok();
        let time = &found["timestamp"]["seconds"];
        let read = read.prints(&format!("Report shop/attache: {count} results, 0 fail"));
        read.prints(&format!("  target-not-found medium shop/lost at {time}\n"));
    }

    // The command line prints the same for kubectl.
    let checked = [
        "check",
        "--cluster",
        "-o",
        "openreports",
        "--fail-on",
        "never",
    ];
    let printed = cluster.attache(None).run(checked).ok();
    assert!(printed.out.contains("name: lost"), "{printed}");
    let dry = ["apply", "--dry-run=server", "-f", "-"];
    cluster.kubectl().run_with(dry, &printed.out).ok();

    // A report that somebody removes comes back, with the time at which the finding was found.
    let namespace = setup.namespace("shop");
    setup
        .kubectl(["delete", REPORTS, "attache", "-n", &namespace])
        .ok();
    eventually("it comes back", || result(&setup, REPORTS, "shop", "lost"));

    // Nothing is written without a change, also not after a restart.
    let before = report(&setup, REPORTS, "shop").unwrap();
    assert!(setup.attache.terminate().success());
    setup.attache = serve(&cluster, "second");
    eventually("the new one writes", || {
        (writes(&setup.attache, "openreports.io") == Some(1))
            .then_some(())
            .ok_or_else(|| setup.attache.log())
    });
    setup
        .kubectl(["delete", "retrypolicy", "in-vain", "-n", &namespace])
        .ok();
    let after = eventually("the change is written", || {
        let now = report(&setup, REPORTS, "shop").ok_or("no report")?;
        let is_gone = !now.to_string().contains("in-vain");
        is_gone.then_some(now.clone()).ok_or(now.to_string())
    });
    let same = |report: &Value| {
        let results = report["results"].as_array().unwrap();
        let found = results
            .iter()
            .find(|one| one["resources"][0]["name"] == "lost");
        found.unwrap()["timestamp"].clone()
    };
    assert_eq!(same(&before), same(&after));
    assert_ne!(version(&before), version(&after));

    setup
        .kubectl(["delete", "retrypolicy", "lost", "-n", &namespace])
        .ok();
    eventually("the finding is gone", || {
        match result(&setup, REPORTS, "shop", "lost") {
            Err(_) => Ok(()),
            Ok(found) => Err(found.to_string()),
        }
    });
}

/// A report of the cluster, how often a report is written, and how it goes when no finding is left.
#[test]
fn a_report_is_written_once_in_ten_seconds_and_goes_when_no_finding_is_left() {
    let Some(cluster) = Cluster::own("report-pace") else {
        return;
    };
    if cluster.install_openreports().is_none() {
        return;
    }
    let kubectl = cluster.kubectl();
    kubectl.run_with(["apply", "-f", "-"], CLUSTER_KIND).ok();
    let setup = TestSetup::beside(&cluster, "report-pace", |_| serve(&cluster, "first"));
    setup.create_namespaces();

    // A finding about an object without a namespace.
    eventually("the kind is served", || {
        kubectl
            .run_with(["apply", "-f", "-"], CLUSTER_LOST)
            .succeeded()
    });
    let lost_limit = || {
        let output = kubectl.run(["get", CLUSTER_REPORTS, "attache", "-o", "json"]);
        output.succeeded()?;
        let report: Value = serde_json::from_str(&output.out).expect("JSON");
        let results = report["results"].as_array().expect("results");
        let found = results
            .iter()
            .find(|one| one["resources"][0]["name"] == "lost-limit");
        Ok::<_, String>(found.cloned())
    };
    let found = eventually("the finding is in the report of the cluster", || {
        lost_limit()?.ok_or("not there".to_owned())
    });
    assert_eq!(found["policy"], "target-not-found", "{found}");
    assert_eq!(found["resources"][0]["kind"], "ClassLimit", "{found}");
    kubectl.run(["delete", "classlimit", "lost-limit"]).ok();
    eventually("the finding is gone", || {
        let found = lost_limit()?;
        found.map_or(Ok(()), |found| Err(found.to_string()))
    });

    // Many changes one after another are few writes: each is counted by the API server.
    let start = Instant::now();
    let generation =
        || report(&setup, REPORTS, "shop").map(|report| report["metadata"]["generation"].as_u64());
    let mut number = 0;
    while start.elapsed() < Duration::from_secs(15) {
        number += 1;
        let name = format!("name: lost-{number}");
        setup.apply_text(&LOST.replace("name: lost", &name)).ok();
    }
    let last = format!("lost-{number}");
    eventually("the last is in the report", || {
        result(&setup, REPORTS, "shop", &last)
    });
    let writes = generation().flatten().expect("a generation");
    let most = start.elapsed().as_secs() / 10 + 1;
    assert!(number > 10, "{number} changes");
    assert!(
        writes <= most,
        "{writes} writes for {number} changes, {most} at most"
    );

    let shop = setup.namespace("shop");
    setup
        .kubectl(["delete", "retrypolicy", "--all", "-n", &shop])
        .ok();
    eventually("the report is gone", || {
        match report(&setup, REPORTS, "shop") {
            None => Ok(()),
            Some(report) => Err(report.to_string()),
        }
    });
}

/// One writer at any time, and nothing is lost or written twice when the holder is killed.
#[test]
fn when_the_holder_is_killed_another_replica_writes() {
    let Some(cluster) = Cluster::own("failover") else {
        return;
    };
    if cluster.install_openreports().is_none() {
        return;
    }
    let setup = TestSetup::beside(&cluster, "failover", |_| serve(&cluster, "first"));
    setup.create_namespaces();
    let second = serve(&cluster, "second");
    second.wait_until_ready();
    setup.apply_text(LOST).ok();
    eventually("the finding is in the report", || {
        result(&setup, REPORTS, "shop", "lost")
    });
    let writing = |attache: &Attache| writes(attache, "openreports.io") == Some(1);
    let both = || [&setup.attache, &second].map(writing);
    eventually("the second knows that it does not write", || {
        (writes(&second, "openreports.io").is_some() && both() != [true, true])
            .then_some(())
            .ok_or_else(|| second.log())
    });
    assert_ne!(both(), [false, false], "one writes");
    let holder = if both()[0] { &setup.attache } else { &second };
    let other = if both()[0] { &second } else { &setup.attache };
    let before = report(&setup, REPORTS, "shop").unwrap();

    let killed = Instant::now();
    holder.kill();
    // A change while nobody writes.
    setup
        .apply_text(&LOST.replace("name: lost", "name: later"))
        .ok();
    eventually("the other writes what has changed since", || {
        result(&setup, REPORTS, "shop", "later")
    });
    // Not before the Lease of the holder had expired.
    assert!(
        killed.elapsed() > Duration::from_secs(10),
        "{:?}",
        killed.elapsed()
    );
    assert!(writing(other));
    let lost = |report: &Value| {
        let results = report["results"].as_array().unwrap();
        let found = results
            .iter()
            .find(|one| one["resources"][0]["name"] == "lost");
        found.unwrap().clone()
    };
    let after = report(&setup, REPORTS, "shop").unwrap();
    assert_eq!(lost(&before), lost(&after), "nothing of it is lost");
    // One write for the one change.
    let applied = "attache_report_writes_total{operation=\"apply\",result=\"done\"} ";
    let generation = |report: &Value| report["metadata"]["generation"].as_u64().unwrap();
    assert_eq!(generation(&after), generation(&before) + 1);
    assert!(sample(other, applied) >= Some(1));
}

/// With the rights of the manifests, in the older API, which gives way to the newer one.
#[test]
fn reports_move_to_openreports_when_it_is_served() {
    let Some(cluster) = Cluster::own("moving") else {
        return;
    };
    cluster.install_policy_reports();
    let kubectl = cluster.kubectl();
    let manifests = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/");
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: attache-system}}";
    kubectl.run_with(["apply", "-f", "-"], namespace).ok();
    let account = [
        "create",
        "serviceaccount",
        "attache",
        "-n",
        "attache-system",
    ];
    kubectl.run(account).ok();
    for file in [
        "base/rbac.yaml",
        "base/rbac-policies.yaml",
        "reports/rbac.yaml",
    ] {
        let file = format!("{manifests}{file}");
        kubectl.run(["apply", "-f", &file]).ok();
    }
    kubectl.run_with(["apply", "-f", "-"], OWN_KINDS).ok();
    collect_policies(&kubectl);
    // The namespace of the pod, in which the Lease is.
    let account = service_account(&cluster, &kubectl, "attache");
    let text = fs::read_to_string(&account).unwrap();
    let text = text.replace("context: {", "context: {namespace: attache-system, ");
    fs::write(&account, text).unwrap();
    let setup = TestSetup::beside(&cluster, "moving", |_| {
        let more = ["--reports=all", "--reports-owner=attache-reports"];
        Attache::with(&cluster, "moving", &account, &more)
    });
    setup.create_namespaces();
    setup.apply("edge.yaml").ok();
    setup.apply("cart-route.yaml").ok();
    setup.apply_text(OVERRIDDEN).ok();
    let found = eventually("the finding is in a PolicyReport", || {
        result(&setup, POLICY_REPORTS, "shop", "in-vain")
    });
    // With =all, it names the policy of another namespace.
    assert!(
        found["message"].as_str().unwrap().contains("secret-limits"),
        "{found}"
    );
    let full = report(&setup, POLICY_REPORTS, "shop").unwrap();
    let owner = &full["metadata"]["ownerReferences"][0];
    assert_eq!(owner["kind"], "ClusterRole");
    assert_eq!(owner["name"], "attache-reports");

    if cluster.install_openreports().is_none() {
        return;
    }
    eventually("the finding is in a Report", || {
        result(&setup, REPORTS, "shop", "in-vain")
    });
    eventually("the PolicyReport is gone", || {
        match report(&setup, POLICY_REPORTS, "shop") {
            None => Ok(()),
            Some(report) => Err(report.to_string()),
        }
    });
}
