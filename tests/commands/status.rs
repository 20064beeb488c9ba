//! The status that controllers report, in every command that shows policies.

use attache::answer::policies::Policies;
use attache::answer::schema;

use crate::run::{fits, holds, run, session};

const STATE: &str = "tests/kinds/envoy-gateway-status/state.yaml";

const OF_TARGETS: &str = "tests/kinds/envoy-gateway-status-of-targets/state.yaml";

#[test]
fn a_policy_rejected_by_its_controller_is_not_in_force_in_any_command() {
    let lines: Vec<String> = [
        "policies -A -o wide",
        "policies -A --state Rejected -o name",
        "describe httproute/cart -n shop",
        "describe backendtrafficpolicy/cart -n shop",
        "describe backendtrafficpolicy/orders -n shop",
        "explain http://public/ --gateway infra/public",
        "graph httproute/cart -n shop",
    ]
    .iter()
    .map(|arguments| format!("{arguments} --from {STATE}"))
    .collect();
    holds("status/session.txt", &session(&lines));
}

/// The reason of a rejection tells which target it is about; a report of "overridden" is also believed.
#[test]
fn what_is_reported_of_one_target_does_not_hold_for_the_others() {
    let lines: Vec<String> = [
        "policies -A -o wide",
        "describe envoyextensionpolicy/partner -n infra",
        "describe securitypolicy/second -n shop",
        "explain http://public/ --gateway infra/public",
    ]
    .iter()
    .map(|arguments| format!("{arguments} --from {OF_TARGETS}"))
    .collect();
    holds("status/targets.txt", &session(&lines));
}

#[test]
fn programs_read_what_was_reported() {
    let text = run(&["policies", "--from", STATE, "-n", "shop", "-o", "json"]).clean();
    fits(&serde_json::from_str(&text).unwrap(), &schema::<Policies>());
    holds("status/policies.json", &text);
}
