//! The rights of the manifests are sufficient for everything that attache does, and contain nothing else.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::harness::manifests::{collect_policies, service_account, switched_on};
use crate::harness::{Attache, Cluster, Kubectl, TestSetup, eventually, soon};

const BASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/base");
const WEBHOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/webhook-rights");
const CERTIFICATES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/manifests/own-certificates/rbac.yaml"
);

/// Rights: `gateways.gateway.networking.k8s.io [] list`.
type Rights = BTreeSet<String>;

/// The rights in the roles of these manifests.
fn granted(files: &[&str]) -> Rights {
    let mut rights = Rights::new();
    for file in files {
        let text = fs::read_to_string(file).expect("a manifest");
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
        for rule in documents.iter().flat_map(|role| list(&role["rules"])) {
            let names: Vec<&str> = strings(&rule["resourceNames"]);
            for group in strings(&rule["apiGroups"]) {
                for resource in strings(&rule["resources"]) {
                    let resource = match group {
                        "" => resource.to_owned(),
                        group => format!("{resource}.{group}"),
                    };
                    for verb in strings(&rule["verbs"]) {
                        rights.insert(format!("{resource} [{}] {verb}", names.join(" ")));
                    }
                }
            }
        }
    }
    rights
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}

/// Parses `kubectl auth can-i --list`: per line a resource or nothing, then paths, names and verbs in brackets.
fn held(kubectl: &Kubectl) -> Rights {
    let output = kubectl
        .run(["auth", "can-i", "--list", "-n", "attache-system"])
        .ok();
    let mut rights = Rights::new();
    for line in output.out.lines().skip(1) {
        let (resource, lists) = line.split_once('[').expect("lists");
        let lists: Vec<&str> = lists.split(&['[', ']'][..]).collect();
        let [paths, _, names, _, verbs, ..] = lists[..] else {
            panic!("{line}");
        };
        for verb in verbs.split_whitespace() {
            let what = format!("{}{paths}", resource.trim());
            rights.insert(format!("{what} [{names}] {verb}"));
        }
    }
    rights
}

/// The rights that an account has beyond those of every account.
fn own(cluster: &Cluster, account: &str) -> Rights {
    let without_roles = held(&cluster.kubectl_as("bare"));
    held(&cluster.kubectl_as(account))
        .difference(&without_roles)
        .cloned()
        .collect()
}

/// A cluster with the manifests applied, an account of attache and one without rights.
fn installed(name: &str) -> Option<Cluster> {
    let cluster = Cluster::own(name)?;
    let kubectl = cluster.kubectl();
    let manifests = cluster.dir().join("manifests");
    switched_on(&manifests, &[]);
    let folder = manifests.to_str().expect("a path in UTF-8");
    kubectl.run(["apply", "--server-side", "-k", folder]).ok();
    collect_policies(&kubectl);
    service_account(&cluster, &kubectl, "attache");
    kubectl
        .run(["create", "serviceaccount", "bare", "-n", "attache-system"])
        .ok();
    service_account(&cluster, &kubectl, "bare");
    Some(cluster)
}

const FORBIDDEN: [(&str, &[&str]); 9] = [
    (
        "secrets",
        &[
            "get", "list", "watch", "create", "update", "patch", "delete",
        ],
    ),
    (
        "configmaps",
        &[
            "get", "list", "watch", "create", "update", "patch", "delete",
        ],
    ),
    ("pods", &["get", "list", "watch", "create", "delete"]),
    ("pods/exec", &["create", "get"]),
    ("serviceaccounts/token", &["create"]),
    (
        "gateways.gateway.networking.k8s.io",
        &["create", "update", "patch", "delete"],
    ),
    (
        "retrypolicies.policies.example.com",
        &["create", "update", "patch", "delete"],
    ),
    (
        "clusterroles.rbac.authorization.k8s.io",
        &["get", "create", "patch", "bind", "escalate"],
    ),
    ("events", &["create", "patch"]),
];

#[test]
fn attache_holds_what_the_manifests_say_and_nothing_else() {
    let Some(cluster) = installed("rights") else {
        return;
    };
    let roles = ["rbac.yaml", "rbac-policies.yaml"].map(|file| format!("{BASE}/{file}"));
    let webhooks = ["validating", "mutating"].map(|kind| format!("{WEBHOOKS}/{kind}/rbac.yaml"));
    let files = [
        &roles[0],
        &roles[1],
        &webhooks[0],
        &webhooks[1],
        CERTIFICATES,
    ];
    assert_eq!(own(&cluster, "attache"), granted(&files));

    let attache = cluster.kubectl_as("attache");
    for (resource, verbs) in FORBIDDEN {
        for verb in verbs {
            let output = attache.run(["auth", "can-i", verb, resource, "--all-namespaces"]);
            assert_eq!((output.code, output.out.trim()), (1, "no"), "{output}");
        }
    }
    for resource in ["secrets", "configmaps", "pods"] {
        for namespace in ["-A", "-nattache-system", "-nkube-system"] {
            let output = attache.run(["get", resource, namespace]);
            assert!(
                output.code != 0 && output.err.contains("(Forbidden)"),
                "{output}"
            );
        }
    }
    for kind in ["validating", "mutating"] {
        let other = format!("{kind}webhookconfigurations/other");
        for (verb, what) in [("patch", &*other), ("create", &other), ("delete", &other)] {
            let output = attache.run(["auth", "can-i", verb, what]);
            assert_eq!(output.out.trim(), "no", "{output}");
        }
    }
}

/// Changes that a holder of attache's token tries to make to its webhook configurations, and the refusals.
const TRIED: [(&str, &str); 10] = [
    (
        r#"{"op": "replace", "path": "/webhooks/0/clientConfig", "value": {"url": "https://192.0.2.9/"}}"#,
        "whom the API server asks",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/clientConfig/service/namespace", "value": "mine"}"#,
        "whom the API server asks",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/clientConfig/service/path", "value": "/mine"}"#,
        "whom the API server asks",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}"#,
        "rules and caBundle",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 30}"#,
        "rules and caBundle",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/namespaceSelector", "value": {}}"#,
        "rules and caBundle",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/name", "value": "mine.example.com"}"#,
        "add, remove or rename",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/rules", "value": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]}"#,
        "by name, and nothing else",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/rules", "value": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["secrets"]}]}"#,
        "by name, and nothing else",
    ),
    (
        r#"{"op": "replace", "path": "/webhooks/0/rules", "value": [{"apiGroups": ["rbac.authorization.k8s.io"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["clusterrolebindings"]}]}"#,
        "by name, and nothing else",
    ),
];

/// The API server itself limits what attache's token may change.
#[test]
fn the_token_of_attache_changes_rules_and_ca_and_nothing_else() {
    let Some(cluster) = installed("guard") else {
        return;
    };
    let folder = cluster.dir().join("guarded");
    switched_on(&folder, &[]);
    let folder = folder.to_str().expect("a path in UTF-8");
    let admin = cluster.kubectl();
    admin.run(["apply", "--server-side", "-k", folder]).ok();
    let attache = cluster.kubectl_as("attache");
    let patch = |kind: &str, change: &str| {
        let what = format!("{kind}webhookconfiguration/attache");
        let change = format!("[{change}]");
        attache.run(["patch", &what, "--type=json", "-p", &change])
    };
    let rules = r#"{"op": "add", "path": "/webhooks/0/rules", "value": [{"apiGroups": ["policies.example.com"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["retrypolicies"]}, {"apiGroups": [""], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["namespaces", "services"]}, {"apiGroups": ["gateway.networking.k8s.io"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["gateways"]}]}"#;
    let ca = r#"{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"}"#;
    for kind in ["validating", "mutating"] {
        // The admission policy takes a moment to become active; nothing may have changed by then.
        let (url, allowed) = TRIED[0];
        eventually("the guard is in force", || {
            let what = format!("{kind}webhookconfiguration/attache");
            let change = format!("[{url}]");
            let dry = [
                "patch",
                &what,
                "--type=json",
                "--dry-run=server",
                "-p",
                &change,
            ];
            let output = attache.run(dry);
            if output.code != 0 && output.err.contains(allowed) {
                Ok(())
            } else {
                Err(output.to_string())
            }
        });
        patch(kind, rules).ok();
        let output = patch(kind, ca);
        assert!(!output.err.contains("attache may"), "{output}");
        for (change, allowed_change) in TRIED {
            let output = patch(kind, change);
            assert!(
                output.code != 0 && output.err.contains(allowed_change),
                "{change}: {output}"
            );
        }
        // It does not limit a cluster admin.
        let what = format!("{kind}webhookconfiguration/attache");
        let change = r#"[{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 4}]"#;
        admin
            .run(["patch", &what, "--type=json", "-p", change])
            .ok();
    }
}

#[test]
fn the_rights_of_the_manifests_are_enough() {
    let Some(cluster) = installed("enough") else {
        return;
    };
    let setup = TestSetup::beside(&cluster, "enough", |_| {
        Attache::with(&cluster, "enough", &cluster.kubeconfig_of("attache"), &[])
    })
    .registered();
    setup.apply("edge.yaml").ok();
    // The policies that apply to a route, which needs Gateways, routes, Namespaces and policies.
    setup.warns_at_last(
        "cart-route.yaml",
        "affected-by: RetryPolicy.policies.example.com infra/edge-retries sets retries=3",
    );
    // A refusal that needs a live read.
    let output = setup.apply("bad-section.yaml");
    assert!(output.err.contains("section-unknown"), "{output}");
    // Disclosure to alice, which needs an access review.
    let (_, metrics) = setup.attache.get("/metrics").expect("metrics");
    let counted = |name: &str| {
        let mut counts = metrics.lines().filter_map(|line| line.strip_prefix(name));
        counts.any(|count| count.trim() != "0")
    };
    assert!(
        counted("attache_live_reads_total{result=\"found\"}"),
        "{metrics}"
    );
    assert!(
        counted("attache_sar_total{cached=\"false\",result=\"allowed\"}"),
        "{metrics}"
    );
    for failed in [
        "attache_live_reads_total{result=\"failed\"}",
        "attache_sar_total{cached=\"false\",result=\"failed\"}",
    ] {
        assert!(!counted(failed), "{metrics}");
    }
    // attache may read every kind that the manifests name. Kinds of other tests are not in the manifests.
    let (code, checks) = setup.attache.get("/readyz?verbose").expect("checks");
    assert_eq!(code, 200);
    let forbidden: Vec<&str> = checks
        .lines()
        .filter(|line| line.contains("forbidden"))
        .collect();
    let is_foreign = |line: &&str| line.contains("Policy.policies.controller.io failed");
    assert!(forbidden.iter().all(is_foreign), "{checks}");
    for kind in [
        "Gateway",
        "HTTPRoute",
        "Namespace",
        "Service",
        "RetryPolicy.policies.example.com",
    ] {
        assert!(
            checks.contains(&format!("[+]cache:{kind} ok")),
            "{kind}: {checks}"
        );
    }
    withdrawn(&setup, &cluster);
}

/// The right to read policies is removed and restored while attache runs: attache reports it, stays ready and keeps its
/// data.
fn withdrawn(setup: &TestSetup, cluster: &Cluster) {
    const RETRIES: &str = "cache:RetryPolicy.policies.example.com";
    let known = || {
        let (_, metrics) = setup.attache.get("/metrics").expect("metrics");
        let series = "attache_cache_objects{kind=\"RetryPolicy.policies.example.com\"} ";
        let mut values = metrics.lines().filter_map(|line| line.strip_prefix(series));
        values.next().map(str::to_owned)
    };
    let before = known();
    assert!(before.is_some(), "policies are known");
    let kubectl = cluster.kubectl();
    kubectl
        .run(["delete", "clusterrolebinding", "attache-policies"])
        .ok();
    let log_has = |what: &str| {
        let (code, checks) = setup.attache.get("/readyz?verbose")?;
        assert_eq!(code, 200, "{checks}");
        let mut lines = checks.lines();
        let is_said = lines.any(|line| line.contains(RETRIES) && line.contains(what));
        if is_said { Ok(()) } else { Err(checks) }
    };
    // An open watch continues. It is reopened within a minute, and a forbidden list is retried at the same rate.
    let at_last = |what: &str| (0..5).any(|_| soon(|| log_has(what)).is_ok());
    assert!(at_last("forbidden"), "that it may not be read is said");
    assert_eq!(known(), before, "what was known is kept");
    let manifests = cluster.dir().join("manifests");
    let folder = manifests.to_str().expect("a path in UTF-8");
    kubectl.run(["apply", "--server-side", "-k", folder]).ok();
    assert!(at_last(" ok"), "it is read again");
    assert_eq!(known(), before);
}
