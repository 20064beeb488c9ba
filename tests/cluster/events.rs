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
    let told =
        "section-unknown: spec.targetRef.sectionName: Gateway infra/edge has no listener \"later\"";
    // A dry run has no side effects.
    let said = world.dry_run_text(PENDING);
    assert!(said.err.contains(told), "{said}");
    let said = world.apply_text(PENDING);
    assert!(said.code == 0 && said.err.contains(told), "{said}");
    let infra = world.namespace("infra");
    eventually("an Event on the policy", || {
        let said = world.kubectl(["events", "--for", "retrypolicy/later", "-n", &infra]);
        if said.out.contains("SectionUnknown") && said.out.contains("has no listener \"later\"") {
            Ok(())
        } else {
            Err(said.to_string())
        }
    });
    let said = world.kubectl(["events", "-n", &infra, "--no-headers"]);
    assert_eq!(said.out.lines().count(), 1, "{said}");
}
