//! A user who may not read a policy in another namespace learns only that there is one.

use crate::harness::{Cluster, Said, TestSetup, eventually};

/// Two policies that act together on routes of `shop`: one of the platform and one in the route's own namespace.
const POLICIES: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: example
  listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: edge-retries, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  mergeStrategy: PatchDefaults
  retries: 3
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: patience, namespace: shop}
spec:
  targetRef: {group: '', kind: Namespace, name: NAMESPACE}
  mergeStrategy: PatchDefaults
  timeout: 5s
";

/// The backend of the route.
const CART: &str = "
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 8080}]}
";

/// Every signed-in user may edit routes of `shop`.
const ROUTES: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: routes, namespace: shop}
rules: [{apiGroups: [gateway.networking.k8s.io], resources: [httproutes], verbs: ['*']}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: routes, namespace: shop}
subjects: [{kind: Group, name: 'system:authenticated', apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: Role, name: routes, apiGroup: rbac.authorization.k8s.io}
";

const EDGE: &str = "Warning: affected-by: RetryPolicy.policies.example.com infra/edge-retries sets \
                    retries=3 (Gateway infra/edge)\n";
const OWN: &str = "Warning: affected-by: RetryPolicy.policies.example.com shop/patience sets \
                   timeout=5s (Namespace shop)\n";
const OWN_BY_NAME: &str =
    "Warning: affected-by: RetryPolicy.policies.example.com shop/patience (Namespace shop)\n";
const HIDDEN: &str =
    "Warning: affected-by: a policy that you may not read applies to this object\n";

/// The command that every user runs here.
const APPLY: [&str; 4] = ["apply", "--dry-run=server", "-f", "cart-route.yaml"];

/// A setup in which attache has seen both policies and every user may apply routes.
fn setup(name: &str) -> Option<TestSetup<'static>> {
    let setup = TestSetup::start(name)?;
    let shop = setup.namespace("shop");
    setup.apply_text(&POLICIES.replace("NAMESPACE", &shop)).ok();
    setup.apply_text(CART).ok();
    setup.apply_text(ROUTES).ok();
    setup.warns_at_last("cart-route.yaml", EDGE);
    setup.warns_at_last("cart-route.yaml", OWN);
    Some(setup)
}

/// A role that lets its subject `get` these policies in one namespace.
fn role(name: &str, namespace: &str, names: &str, subject: &str) -> String {
    format!(
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {name}, namespace: {namespace}}}
rules: [{{apiGroups: [policies.example.com], resources: [retrypolicies], resourceNames: {names}, verbs: [get]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: {name}, namespace: {namespace}}}
subjects: [{subject}]
roleRef: {{kind: Role, name: {name}, apiGroup: rbac.authorization.k8s.io}}
"
    )
}

fn subject(kind: &str, name: &str) -> String {
    format!("{{kind: {kind}, name: {name}, apiGroup: rbac.authorization.k8s.io}}")
}

/// Waits until the impersonated user sees these lines. The API server takes a moment to see a new right, and attache
/// caches a denial for ten seconds.
fn is_told(setup: &TestSetup<'_>, who: &[&str], lines: &[&str]) {
    is_told_by(|| setup.kubectl(APPLY.iter().chain(who).copied()), lines);
}

fn is_told_by(ask: impl Fn() -> Said, lines: &[&str]) {
    eventually("the lines", || {
        let output = ask();
        if output.code == 0 && output.err == lines.concat() {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
}

#[test]
fn own_policies_by_name_and_others_as_one_line() {
    let Some(setup) = setup("no-rights") else {
        return;
    };
    is_told_by(|| setup.kubectl_as("alice", APPLY), &[OWN_BY_NAME, HIDDEN]);
}

#[test]
fn settings_where_a_role_lets_the_user_get_them() {
    let Some(setup) = setup("roles") else {
        return;
    };
    let bob = subject("User", "bob");
    setup.apply_text(&role("read", "shop", "[]", &bob)).ok();
    is_told_by(|| setup.kubectl_as("bob", APPLY), &[OWN, HIDDEN]);
    // Only this policy of infra.
    let dora = subject("User", "dora");
    setup
        .apply_text(&role("one", "infra", "[edge-retries]", &dora))
        .ok();
    is_told(&setup, &["--as=dora"], &[EDGE, OWN_BY_NAME]);
    let emil = subject("User", "emil");
    setup
        .apply_text(&role("another", "infra", "[other-retries]", &emil))
        .ok();
    is_told(&setup, &["--as=emil"], &[OWN_BY_NAME, HIDDEN]);
}

#[test]
fn everything_where_a_cluster_role_lets_the_user_get_it() {
    let Some(setup) = setup("cluster-roles") else {
        return;
    };
    setup.apply_text(READER_OF_ALL).ok();
    is_told(&setup, &["--as=reader-of-all"], &[EDGE, OWN]);
    is_told(&setup, &["--as=somebody"], &[OWN_BY_NAME, HIDDEN]);
}

const READER_OF_ALL: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader-of-all}
rules: [{apiGroups: [policies.example.com], resources: [retrypolicies], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader-of-all}
subjects: [{kind: User, name: reader-of-all, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: ClusterRole, name: reader-of-all, apiGroup: rbac.authorization.k8s.io}
";

/// RBAC depends on names and groups. Other user attributes are passed to the API server without effect.
#[test]
fn a_group_counts_and_the_rest_does_no_harm() {
    let Some(setup) = setup("groups") else {
        return;
    };
    let readers = subject("Group", "readers");
    setup
        .apply_text(&role("read", "infra", "[]", &readers))
        .ok();
    setup.apply_text(&role("read", "shop", "[]", &readers)).ok();
    is_told(&setup, &["--as=carol", "--as-group=readers"], &[EDGE, OWN]);
    // The same user with other groups does not get the cached answer.
    is_told(&setup, &["--as=carol"], &[OWN_BY_NAME, HIDDEN]);
    is_told(
        &setup,
        &["--as=carol", "--as-group=writers"],
        &[OWN_BY_NAME, HIDDEN],
    );
    // In a file, because kubectl 1.34 has no flag for extra fields.
    let whom = "as: carol, as-uid: '7', as-groups: [readers], \
                as-user-extra: {scopes: [read], example.com/team: [bakers]}";
    let cluster = Cluster::shared().expect("the setup is on it");
    let file = cluster.impersonating_with("carol-with-extra", whom);
    let file = file.to_str().expect("a path in UTF-8");
    is_told(&setup, &["--kubeconfig", file], &[EDGE, OWN]);
}

/// A Gateway with six listeners, and policies on the first ones.
fn gateway_with(policies: usize) -> String {
    let listeners: Vec<String> = (0..6)
        .map(|i| {
            format!(
                "{{name: l{i}, protocol: HTTP, port: {}, allowedRoutes: {{namespaces: {{from: All}}}}}}",
                8000 + i
            )
        })
        .collect();
    let gateway = format!(
        "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: infra}}
spec: {{gatewayClassName: example, listeners: [{}]}}
",
        listeners.join(", ")
    );
    let policies = (0..policies).map(|i| {
        format!(
            "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {{name: secret-{i}, namespace: infra}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: l{i}}}
  retries: {i}
"
        )
    });
    let documents: Vec<String> = [gateway].into_iter().chain(policies).collect();
    documents.join("---")
}

/// The warnings that alice sees while one route is created, moved and deleted; an admin sees one line per policy.
fn told_of_one_route(name: &str, policies: usize) -> Option<Vec<String>> {
    let setup = TestSetup::start(name)?;
    setup.apply_text(&gateway_with(policies)).ok();
    setup.apply_text(CART).ok();
    setup.apply_text(ROUTES).ok();
    for i in 0..policies {
        let line =
            format!("infra/secret-{i} sets retries={i} (Gateway infra/edge listener l{i})\n");
        setup.warns_at_last("cart-route.yaml", &line);
    }
    let admin = setup.kubectl(APPLY).ok();
    assert_eq!(admin.err.lines().count(), policies, "{admin}");

    let shop = setup.namespace("shop");
    let alice = |args: &[&str]| setup.kubectl_as("alice", args.iter().copied());
    // She needs rights to the route first.
    eventually("alice may send routes", || alice(&APPLY).succeeded());
    let away = r#"{"spec":{"parentRefs":[{"name":"nowhere"}]}}"#;
    let steps: [&[&str]; 4] = [
        &APPLY,
        &["create", "-f", "cart-route.yaml"],
        &[
            "patch",
            "httproute/cart",
            "-n",
            &shop,
            "--type=merge",
            "-p",
            away,
        ],
        &["delete", "httproute/cart", "-n", &shop],
    ];
    let output = steps.map(|args| {
        let text_of_step = alice(args).ok();
        format!("{}{}", text_of_step.out, text_of_step.err)
    });
    Some(output.to_vec())
}

#[test]
fn one_hidden_policy_and_five_say_the_same() {
    let Some(one) = told_of_one_route("hidden-one", 1) else {
        return;
    };
    assert_eq!(
        one,
        [
            format!("httproute.gateway.networking.k8s.io/cart created (server dry run)\n{HIDDEN}"),
            format!("httproute.gateway.networking.k8s.io/cart created\n{HIDDEN}"),
            "httproute.gateway.networking.k8s.io/cart patched\n\
             Warning: route-not-attached: spec.parentRefs[0]: Gateway shop/nowhere does not exist\n\
             Warning: effective-change: this changes the effect of policies that you may not read\n"
                .to_owned(),
            "httproute.gateway.networking.k8s.io \"cart\" deleted from shop namespace\n".to_owned(),
        ]
    );
    assert_eq!(told_of_one_route("hidden-five", 5).as_ref(), Some(&one));
}
