//! An allowed finding becomes an Event on the policy.

use crate::harness::{World, eventually};

const PENDING: &str = "
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: later, namespace: infra, annotations: {attache.dev/pending: \"true\"}}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: later}
  mergeStrategy: AtomicDefaults
  retries: 3
";

#[test]
fn an_admitted_violation_gets_an_event() {
    let Some(world) = World::configured("events", "events: true\n") else {
        return;
    };
    world.apply("edge.yaml").ok();
    let event =
        "section-unknown: spec.targetRef.sectionName: Gateway infra/edge has no listener \"later\"";
    // A dry run has no side effects.
    let output = world.dry_run_text(PENDING);
    assert!(output.err.contains(event), "{output}");
    let output = world.apply_text(PENDING);
    assert!(output.code == 0 && output.err.contains(event), "{output}");
    let infra = world.namespace("infra");
    eventually("an Event on the policy", || {
        let output = world.kubectl(["events", "--for", "retrypolicy/later", "-n", &infra]);
        if output.out.contains("SectionUnknown") && output.out.contains("has no listener \"later\"")
        {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
    let output = world.kubectl(["events", "-n", &infra, "--no-headers"]);
    assert_eq!(output.out.lines().count(), 1, "{output}");
}
