//! A policy that can never take effect is refused, with the correction.

use crate::harness::{Cluster, Said, TestSetup, eventually};

/// A refusal as kubectl prints it after the object: field, code, fault.
const SECTION: &str = r#"spec.targetRef.sectionName: section-unknown: Gateway infra/edge has no listener "htpp"; did you mean "http"?"#;
const STRATEGY: &str = r#"spec.mergeStrategy: strategy-unsupported: "Sideways" is not a strategy of RetryPolicy; it has "AtomicDefaults", "AtomicOverrides", "PatchDefaults", "PatchOverrides""#;

/// The commands with which well-meaning users send an object to the API server.
const WAYS: [&[&str]; 5] = [
    &["apply", "-f"],
    &["apply", "--dry-run=server", "-f"],
    &["apply", "--server-side", "-f"],
    &["create", "-f"],
    &["diff", "-f"],
];

/// `kubectl` names the object, prints a line per cause, and exits with 1; `diff` exits with 2, because 1 means a
/// difference.
fn refused(output: &Said, why: &str) -> Result<(), String> {
    let code = if output.command.starts_with("diff") {
        2
    } else {
        1
    };
    let line = format!("\" is invalid: {why}");
    if output.code == code
        && output.err.contains("The RetryPolicy \"")
        && output.err.contains(&line)
    {
        Ok(())
    } else {
        Err(format!("not refused with {line:?}:\n{output}"))
    }
}

fn refused_in_every_way(setup: &TestSetup, file: &str, why: &str) {
    for operation in WAYS {
        let args: Vec<&str> = operation.iter().copied().chain([file]).collect();
        let output = setup.kubectl(args);
        refused(&output, why).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_missing_section() {
    let Some(setup) = TestSetup::start("bad-section") else {
        return;
    };
    setup.apply("edge.yaml").ok();
    eventually("the Gateway is known", || {
        refused(
            &setup.kubectl(["apply", "--dry-run=server", "-f", "bad-section.yaml"]),
            SECTION,
        )
    });
    refused_in_every_way(&setup, "bad-section.yaml", SECTION);
    let left = setup.kubectl([
        "get",
        "retrypolicy",
        "-n",
        &setup.namespace("infra"),
        "-o",
        "name",
    ]);
    assert_eq!(
        left.ok().out,
        "retrypolicy.policies.example.com/edge-retries\n"
    );
}

#[test]
fn a_strategy_that_the_kind_does_not_have() {
    let Some(setup) = TestSetup::start("bad-strategy") else {
        return;
    };
    setup.apply("edge.yaml").ok();
    refused_in_every_way(&setup, "bad-strategy.yaml", STRATEGY);
}

/// A policy that has been broken for long stays editable: only new faults in an update are refused.
#[test]
fn an_update_that_breaks_nothing_new_passes() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let setup = TestSetup::unregistered(cluster, "ratchet");
    setup.create_namespaces();
    setup.apply("edge.yaml").ok();
    setup.apply("bad-strategy.yaml").ok();
    setup.attache.wait_until_ready();
    setup.register();
    let infra = setup.namespace("infra");
    let retries = r#"{"spec":{"retries":6}}"#;
    setup
        .kubectl([
            "patch",
            "retrypolicy",
            "bad-strategy",
            "-n",
            &infra,
            "--type=merge",
            "-p",
            retries,
        ])
        .ok()
        .warns("Warning: strategy-unsupported: ");
}
