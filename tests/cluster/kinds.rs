//! Policy kinds come and go while attache runs.

use crate::harness::{World, eventually, retry_policy_crd};

const AFFECTED: &str = "affected-by: LimitPolicy.late.example.com infra/edge-limits";

/// The CRD of `RetryPolicy` under another name and group, with the label and no profile.
fn late_crd() -> String {
    retry_policy_crd()
        .replace("RetryPolicy", "LimitPolicy")
        .replace("retrypolic", "limitpolic")
        .replace("policies.example.com", "late.example.com")
}

const LIMITS: &str = "
apiVersion: late.example.com/v1
kind: LimitPolicy
metadata: {name: edge-limits, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  retries: 9
";

#[test]
fn a_kind_that_comes_and_goes() {
    let Some(world) = World::start("kinds") else {
        return;
    };
    world.apply("edge.yaml").ok();
    world.warns_at_last(
        "cart-route.yaml",
        "affected-by: RetryPolicy.policies.example.com",
    );
    world
        .apply("cart-route.yaml")
        .ok()
        .silent_about("LimitPolicy");

    world.apply_text(&late_crd()).ok();
    let established = [
        "wait",
        "--for=condition=Established",
        "crd/limitpolicies.late.example.com",
    ];
    world.kubectl(established).ok();
    eventually("a policy of the new kind is created", || {
        let said = world.apply_text(LIMITS);
        if said.code == 0 {
            Ok(())
        } else {
            Err(said.to_string())
        }
    });
    world.warns_at_last("shoes-route.yaml", AFFECTED);

    world
        .kubectl(["delete", "crd", "limitpolicies.late.example.com"])
        .ok();
    eventually("the kind is forgotten", || {
        let said = world.kubectl(["apply", "--dry-run=server", "-f", "shoes-route.yaml"]);
        if said.code == 0 && !said.err.contains("LimitPolicy") {
            Ok(())
        } else {
            Err(said.to_string())
        }
    });
}
