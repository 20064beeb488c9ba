//! States of which attache cannot compare all: objects that are defined twice, and policies that are in force nowhere.

use super::{AFTER, BEFORE};
use crate::run::{holds, session};

/// Policies without the Gateway that they are on are in force nowhere, in both states.
#[test]
fn states_in_which_nothing_is_in_force_are_not_called_the_same() {
    let directory = "tests/commands/diff/nothing";
    let lines = [
        format!("diff {directory}/a {directory}/b"),
        format!("diff {directory}/a {directory}/b -o markdown"),
        format!("diff {BEFORE} {AFTER} -n nosuch"),
        format!("diff {BEFORE} {AFTER} -n nosuch --exit-code"),
        "health argocd --from tests/commands/guardrails/applied".to_owned(),
        "health flux --from tests/commands/guardrails/applied".to_owned(),
    ];
    holds("diff/nothing.txt", &session(&lines));
}

/// A directory with the manifests of two clusters: the last definition counts, and every command says so.
#[test]
fn an_object_that_is_defined_twice_is_named() {
    let directory = "tests/commands/diff/twice";
    let (before, after) = (format!("{directory}/before"), format!("{directory}/after"));
    let lines = [
        format!("diff {before} {after}"),
        format!("diff {before} {after} --exit-code"),
        format!("diff {before}/prod.yaml {after}/prod.yaml --exit-code"),
        format!("describe httproute/cart --from {before}"),
        format!("policies --from {before}"),
        format!("guardrails -f {directory}/guardrail.yaml --from {before}"),
        format!("test {directory}/twice.attache.yaml"),
        format!("test --record --from {before}"),
        format!("graph -o mermaid --from {before}"),
        format!("explain http://shop.example.com/ --from {before}"),
        format!("impact {after} --from {before}/prod.yaml"),
        format!("impact {after}/prod.yaml --from {before}"),
        format!("check {after}/prod.yaml --from {before}"),
    ];
    holds("diff/twice.txt", &session(&lines));
}
