//! Users who apply a route see which policies apply to it.

use crate::harness::{TestSetup, fixture};

const EDGE_RETRIES: &str = "Warning: affected-by: RetryPolicy.policies.example.com \
    infra/edge-retries sets retries=3 (Gateway infra/edge)\n";

/// A setup in which attache has seen the Gateway and its policy.
fn with_edge(name: &str) -> Option<TestSetup<'static>> {
    let setup = TestSetup::start(name)?;
    setup.apply("edge.yaml").ok();
    setup.warns_at_last("cart-route.yaml", EDGE_RETRIES);
    Some(setup)
}

#[test]
fn apply_warns_which_policies_act() {
    let Some(setup) = with_edge("apply") else {
        return;
    };
    setup
        .apply("cart-route.yaml")
        .ok()
        .warns(EDGE_RETRIES)
        .prints("httproute.gateway.networking.k8s.io/cart created\n");
    let changed = fixture("cart-route.yaml").replace("cart.example.com", "basket.example.com");
    setup
        .apply_text(&changed)
        .ok()
        .warns(EDGE_RETRIES)
        .prints("httproute.gateway.networking.k8s.io/cart configured\n");
}

#[test]
fn a_second_apply_of_the_same_file_is_silent() {
    let Some(setup) = with_edge("again") else {
        return;
    };
    setup.apply("cart-route.yaml").ok();
    setup
        .apply("cart-route.yaml")
        .ok()
        .silent_about("Warning")
        // kubectl patches lists that the API server has defaulted, so it prints "configured"; the stored object stays
        // the same.
        .prints("httproute.gateway.networking.k8s.io/cart configured\n");
}

#[test]
fn a_server_dry_run_warns_the_same() {
    let Some(setup) = with_edge("dry-run") else {
        return;
    };
    setup
        .kubectl(["apply", "--dry-run=server", "-f", "cart-route.yaml"])
        .ok()
        .warns(EDGE_RETRIES)
        .prints("httproute.gateway.networking.k8s.io/cart created (server dry run)\n");
}

#[test]
fn diff_warns_the_same() {
    let Some(setup) = with_edge("diff") else {
        return;
    };
    let output = setup
        .kubectl(["diff", "-f", "cart-route.yaml"])
        .warns(EDGE_RETRIES)
        .prints("+kind: HTTPRoute");
    assert_eq!(
        output.code, 1,
        "1 is how diff says that there are differences:\n{output}"
    );
}
