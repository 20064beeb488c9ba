//! The category of a result, by which programs group results.

use crate::engine::admission::finding::Code;

/// The category of a code, as reports show it.
pub(super) fn category(code: Code) -> &'static str {
    let name = code.as_str();
    let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(with));
    if begins(&["guardrail"]) {
        "Guardrails"
    } else if begins(&["crd-", "kind-unknown", "version-unknown"]) {
        "Policy kinds"
    } else if begins(&["target-", "section-", "pending-"]) {
        "Targets"
    } else if begins(&["route-", "backend-", "grant-"]) {
        "Routes"
    } else if begins(&["field-", "spec-", "strategy-", "unreadable"]) {
        "Policy content"
    } else if begins(&[
        "conflicted",
        "overridden",
        "partly-overridden",
        "order-decides",
    ]) {
        "Precedence"
    } else if begins(&["rejected", "status-disagrees", "controller-mismatch"]) {
        "Controllers"
    } else {
        "Effects"
    }
}
