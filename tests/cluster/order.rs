//! A Gateway and a policy on its listener in one file are never refused, in either order.

use crate::harness::TestSetup;

#[test]
fn the_gateway_first() {
    let Some(setup) = TestSetup::start("gateway-first") else {
        return;
    };
    setup
        .apply("gateway-first.yaml")
        .ok()
        .prints("gateway.gateway.networking.k8s.io/fresh created\n")
        .prints("retrypolicy.policies.example.com/fresh-retries created\n");
}

#[test]
fn the_policy_first() {
    let Some(setup) = TestSetup::start("policy-first") else {
        return;
    };
    setup
        .apply("policy-first.yaml")
        .ok()
        .warns("Warning: target-not-found: ")
        .prints("retrypolicy.policies.example.com/fresh-retries created\n")
        .prints("gateway.gateway.networking.k8s.io/fresh created\n");
}

/// `GitOps` tools dry-run everything before anything exists.
#[test]
fn a_dry_run_of_both() {
    let Some(setup) = TestSetup::start("dry-both") else {
        return;
    };
    for file in ["gateway-first.yaml", "policy-first.yaml"] {
        setup
            .kubectl(["apply", "--server-side", "--dry-run=server", "-f", file])
            .ok()
            .warns("Warning: target-not-found: ");
    }
}

/// An UPDATE adds a listener, and the next object is a policy on it: attache reads it live before it refuses.
#[test]
fn a_listener_added_just_before_its_policy() {
    let Some(setup) = TestSetup::start("new-listener") else {
        return;
    };
    setup.apply("gateway-first.yaml").ok();
    for round in 0..10 {
        let name = format!("extra-{round}");
        setup
            .apply_text(&listener_and_policy(&name, 8000 + round))
            .ok()
            .silent_about("section-unknown");
    }
}

fn listener_and_policy(name: &str, port: u16) -> String {
    format!(
        "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: fresh, namespace: infra}}
spec:
  gatewayClassName: example
  listeners:
  - {{name: {name}, protocol: HTTP, port: {port}}}
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {{name: {name}, namespace: infra}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: fresh, sectionName: {name}}}
  retries: 1
"
    )
}
