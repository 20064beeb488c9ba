//! The live page on a real API server: it follows the cluster, and shows each user what they may read.

mod served;

use std::process::Command;

use serde_json::{Value, json};
use testing::eventually::becomes;
use testing::page::{Answer, Page};

use crate::harness::{Cluster, Kubectl};

const PROGRAM: &str = env!("CARGO_BIN_EXE_attache");
/// The configuration of `attache serve`.
const CONFIGURATION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/cluster/fixtures/attache.yaml"
);

/// Routes and policies of two teams; every cluster of the tests has the class. A user who may not read `infra` must not learn a name that begins with `hidden`.
const OBJECTS: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: infra}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: example
  listeners: [{name: hidden-listener, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: hidden-route, namespace: infra}
spec:
  parentRefs: [{name: edge}]
  hostnames: [hidden.example.com]
  rules: [{backendRefs: [{name: hidden-backend, port: 80}]}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [shop.example.com]
  rules: [{backendRefs: [{name: cart, port: 8080}]}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 8080}]}
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: hidden-retries, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  mergeStrategy: PatchDefaults
  retries: 3
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: patience, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}
  mergeStrategy: PatchDefaults
  timeout: 5s
";

/// Alice may read routes and policies of `shop`, and the CRDs of kinds; bob everything that the
/// page shows.
const RIGHTS: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
rules:
- {apiGroups: [gateway.networking.k8s.io], resources: [httproutes], verbs: [get, list]}
- {apiGroups: [policies.example.com], resources: [retrypolicies], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: shop}
subjects: [{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: Role, name: reader, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: definitions}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: definitions}
subjects: [{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: ClusterRole, name: definitions, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all}
rules:
- {apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all}
subjects: [{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: ClusterRole, name: all, apiGroup: rbac.authorization.k8s.io}
";

/// The page of `attache ui` with a kubeconfig.
fn page_of(kubeconfig: &std::path::Path, more: &[&str]) -> Page {
    let mut command = Command::new(PROGRAM);
    command.arg("ui").arg("--kubeconfig").arg(kubeconfig);
    Page::open(command.args(more))
}

/// A cluster with the objects and the users.
fn cluster(name: &str) -> Option<(Cluster, Kubectl)> {
    let cluster = Cluster::own(name)?;
    let kubectl = cluster.kubectl();
    // A Namespace must be there before the objects in it.
    for text in [OBJECTS, RIGHTS] {
        kubectl.run_with(["apply", "-f", "-"], text).ok();
    }
    Some((cluster, kubectl))
}

/// The names of the policies that the page lists.
async fn policies(page: &Page) -> Vec<String> {
    let found = page.data("policies").await;
    let policies = found["policies"].as_array().expect("policies").iter();
    let names = policies.map(|policy| {
        policy["policy"]["name"]
            .as_str()
            .expect("a name")
            .to_owned()
    });
    names.collect()
}

async fn until_listed(page: &Page, expected: &[&str]) {
    becomes(&format!("the policies are {expected:?}"), async || {
        let found = policies(page).await;
        (found == expected)
            .then_some(())
            .ok_or(format!("{found:?}"))
    })
    .await;
}

/// Changes a setting of a policy.
fn set(kubectl: &Kubectl, namespace: &str, policy: &str, setting: &str) {
    let patch = format!("{{\"spec\": {{{setting}}}}}");
    let words = [
        "patch",
        "retrypolicy",
        policy,
        "-n",
        namespace,
        "--type=merge",
        "-p",
        &patch,
    ];
    kubectl.run(words).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_follows_the_cluster_and_never_writes() {
    let Some((cluster, kubectl)) = cluster("live-page") else {
        return;
    };
    let page = page_of(&cluster.kubeconfig(), &[]);
    let state = page.data("state").await;
    assert_eq!(state["mode"], "cluster");
    assert_eq!(state["user"], "admin");
    assert!(
        state["source"]
            .as_str()
            .expect("a text")
            .starts_with("context "),
        "{state}"
    );
    until_listed(&page, &["hidden-retries", "patience"]).await;
    let object = page.data("object?name=httproute/shop/cart").await;
    let yaml = object["yaml"].as_str().expect("YAML");
    assert!(
        yaml.contains("shop.example.com") && yaml.contains("resourceVersion"),
        "{yaml}"
    );
    assert!(!yaml.contains("managedFields"), "{yaml}");
    // Rules are matched by their specs, which only a list or a watch for the page has.
    let explained = page.data("explain?url=http://shop.example.com/").await;
    assert_eq!(explained["served"], true, "{explained:#}");

    let mut events = page.events().await;
    let before = events.next().await;
    let late = OBJECTS
        .split("---")
        .last()
        .expect("a policy")
        .replace("patience", "late");
    kubectl.run_with(["apply", "-f", "-"], &late).ok();
    assert!(events.next().await > before);
    until_listed(&page, &["hidden-retries", "late", "patience"]).await;
    let history = page.data("history").await;
    let created =
        json!({"object": "RetryPolicy.policies.example.com/shop/late", "change": "created"});
    let entries = history["entries"].as_array().expect("entries");
    let is_it = |entry: &Value| {
        entry["objects"]
            .as_array()
            .is_some_and(|all| all.contains(&created))
    };
    assert!(entries.iter().any(is_it), "{history:#}");

    let stored = kubectl
        .run(["get", "retrypolicies", "-A", "-o", "yaml"])
        .ok()
        .out;
    for path in ["/api/change", "/api/change?delete=true"] {
        let change = late.replace("timeout: 5s", "timeout: 9s");
        let answer = page.send(page.own("POST", path), change).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let after = kubectl
        .run(["get", "retrypolicies", "-A", "-o", "yaml"])
        .ok()
        .out;
    assert_eq!(stored, after);
}

/// Everything that a page answers about.
const QUESTIONS: [&str; 15] = [
    "state",
    "graph",
    "policies",
    "kinds",
    "guardrails",
    "history",
    "explain?url=http://shop.example.com/",
    "explain?url=http://hidden.example.com/",
    "object?name=httproute/shop/cart",
    "object?name=httproute/shop/hiden",
    "object?name=httproute/infra/cart",
    "object?name=gateway/infra/edge",
    "object?name=gatewayclass/example",
    "object?name=retrypolicy/shop/patience",
    "object?name=namespace/infra",
];

/// No answer tells a name that the user may not read.
async fn tells_nothing(page: &Page, prefix: &str) {
    // A name that the request itself has reveals nothing.
    let quiet = |path: &str, answer: &Answer| {
        let body = answer
            .body
            .replace("hidden.example.com", "asked.example.com");
        assert!(!body.contains("hidden"), "{path}: {body}");
    };
    for path in QUESTIONS {
        let answer = page.get(&format!("{prefix}/api/{path}")).await;
        quiet(path, &answer);
    }
    // An object that exists answers as one that does not.
    for (there, not_there) in [
        (
            "object?name=retrypolicy/infra/hidden-retries",
            "object?name=retrypolicy/infra/unknown-retries",
        ),
        (
            "object?name=httproute/infra/hidden-route",
            "object?name=httproute/infra/unknown-route",
        ),
        (
            "details?object=HTTPRoute/infra/hidden-route",
            "details?object=HTTPRoute/infra/unknown-route",
        ),
    ] {
        let one = page.get(&format!("{prefix}/api/{there}")).await;
        let other = page.get(&format!("{prefix}/api/{not_there}")).await;
        let same = one.body.replace("hidden-", "unknown-");
        assert_eq!((one.status, same), (other.status, other.body), "{there}");
    }
    let late = OBJECTS
        .split("---")
        .last()
        .expect("a policy")
        .replace("5s", "9s");
    let answer = page
        .send(page.own("POST", &format!("{prefix}/api/change")), late)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    quiet("change", &answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_some_rights_sees_less_and_is_told_so() {
    let Some((cluster, _)) = cluster("live-page-rights") else {
        return;
    };
    let page = page_of(&cluster.kubeconfig_of("alice"), &["-n", "shop"]);
    assert_eq!(policies(&page).await, ["patience"]);
    let state = page.data("state").await;
    assert_eq!(state["user"], "alice");
    let problems = state["problems"].to_string();
    for part in ["incomplete", "only those in namespace shop"] {
        assert!(problems.contains(part), "{problems}");
    }
    tells_nothing(&page, "").await;
}
