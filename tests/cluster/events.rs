//! An allowed finding becomes an Event on the policy.

use crate::harness::{TestSetup, eventually};

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
    let Some(setup) = TestSetup::configured("events", "events: true\n") else {
        return;
    };
    setup.apply("edge.yaml").ok();
    let event =
        "section-unknown: spec.targetRef.sectionName: Gateway infra/edge has no listener \"later\"";
    // A dry run has no side effects.
    let output = setup.dry_run_text(PENDING);
    assert!(output.err.contains(event), "{output}");
    let output = setup.apply_text(PENDING);
    assert!(output.code == 0 && output.err.contains(event), "{output}");
    let infra = setup.namespace("infra");
    eventually("an Event on the policy", || {
        let output = setup.kubectl(["events", "--for", "retrypolicy/later", "-n", &infra]);
        if output.out.contains("SectionUnknown") && output.out.contains("has no listener \"later\"")
        {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
    let output = setup.kubectl(["events", "-n", &infra, "--no-headers"]);
    assert_eq!(output.out.lines().count(), 1, "{output}");
}
