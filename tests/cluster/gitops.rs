//! One commit adds a listener and policies on it; other clients than a user's `kubectl` apply it.
//!
//! A tool that dry-runs everything before it applies anything sees policies whose section does not exist yet. A service
//! account gets warnings and is never refused. A person is refused, and succeeds with the annotation
//! `attache.dev/pending` or by applying wrongly ordered manifests again.

use std::path::Path;

use crate::harness::{Cluster, Said, TestSetup, eventually};

const GITOPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/gitops");
const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/gitops/chart");

/// The second commit in the worst order.
const SECOND: [&str; 3] = [
    "second/policies.yaml",
    "second/gateway.yaml",
    "second/route.yaml",
];
const WORST: [&str; 5] = [
    "apply",
    "-f",
    "second/policies.yaml",
    "-f",
    "second/gateway.yaml",
];
const PENDING: &str = "metadata: {annotations: {attache.dev/pending: 'true'}, ";

/// The findings on a policy before its listener exists, and before its Gateway exists.
const SECTIONS: [&str; 2] = [
    r#"section-unknown: spec.targetRefs[0].sectionName: Gateway infra/front has no listener "https2"; did you mean "http"?"#,
    r#"section-unknown: spec.targetRef.sectionName: Gateway infra/front has no listener "https2"; did you mean "http"?"#,
];
const TARGETS: [&str; 2] = [
    "target-not-found: spec.targetRefs[0]: Gateway infra/front does not exist",
    "target-not-found: spec.targetRef: Gateway infra/front does not exist",
];

/// A setup with the files of both commits.
fn setup(name: &str) -> Option<TestSetup<'static>> {
    let setup = TestSetup::start(name)?;
    for folder in ["first", "second"] {
        setup.bring_folder(&Path::new(GITOPS).join(folder), folder);
    }
    Some(setup)
}

/// Waits until attache has seen the Gateway of the first commit.
fn first_is_known(setup: &TestSetup<'_>) {
    let policies = setup.read("second/policies.yaml");
    eventually("the Gateway is known", || {
        let output = setup.dry_run_text(&policies);
        if output.err.contains("section-unknown") {
            Ok(())
        } else {
            Err(output.to_string())
        }
    });
}

/// The field manager that last applied the listeners of the Gateway.
fn manager(setup: &TestSetup<'_>) -> String {
    let infra = setup.namespace("infra");
    let path = "-o=jsonpath={.metadata.managedFields[*].manager}";
    let args = ["get", "gateway/front", "-n", &infra, path];
    setup.kubectl(args).ok().out
}

fn listeners(setup: &TestSetup<'_>) -> String {
    let infra = setup.namespace("infra");
    let path = "-o=jsonpath={.spec.listeners[*].name}";
    let args = ["get", "gateway/front", "-n", &infra, path];
    setup.kubectl(args).ok().out
}

/// Both policies exist, as if there were no webhook.
#[track_caller]
fn both_policies_are_there(setup: &TestSetup<'_>) {
    let infra = setup.namespace("infra");
    let args = ["get", "colorpolicy,retrypolicy", "-n", &infra, "-o", "name"];
    assert_eq!(
        setup.kubectl(args).ok().out,
        "colorpolicy.policies.controller.io/on-https2\nretrypolicy.policies.example.com/on-https2\n"
    );
}

// === kubectl ===

/// Warnings as kubectl prints them.
fn warned(output: Said, lines: [&str; 2]) {
    lines.iter().fold(output, |output, line| {
        output.warns(&format!("Warning: {line}\n"))
    });
}

#[test]
fn kubectl_of_a_service_account_gets_through_in_any_order() {
    let Some(setup) = setup("kubectl-account") else {
        return;
    };
    let user = setup.service_account();
    setup.kubectl_as(&user, ["apply", "-k", "first"]).ok();
    first_is_known(&setup);
    let diff = setup.kubectl_as(&user, ["diff", "-k", "second"]);
    assert_eq!(diff.code, 1, "1 says that there are differences:\n{diff}");
    warned(diff.prints("+    name: https2"), SECTIONS);
    let dry = "--dry-run=server";
    warned(
        setup
            .kubectl_as(&user, ["apply", "--server-side", dry, "-k", "second"])
            .prints("colorpolicy.policies.controller.io/on-https2 serverside-applied (server dry run)\n"),
        SECTIONS,
    );
    let output = setup.kubectl_as(&user, WORST).ok();
    assert_eq!(
        output.out,
        "colorpolicy.policies.controller.io/on-https2 created\n\
         retrypolicy.policies.example.com/on-https2 created\n\
         gateway.gateway.networking.k8s.io/front configured\n"
    );
    warned(output, SECTIONS);
    both_policies_are_there(&setup);
}

/// kustomize sorts Gateways before policies, so the live read finds the listener.
#[test]
fn kubectl_with_a_kustomization_and_what_it_prunes() {
    let Some(setup) = setup("kustomization") else {
        return;
    };
    setup.kubectl(["apply", "-k", "first"]).ok();
    first_is_known(&setup);
    let output = setup.kubectl(["apply", "-k", "second"]).ok();
    assert_eq!(
        output.out,
        "gateway.gateway.networking.k8s.io/front configured\n\
         httproute.gateway.networking.k8s.io/cart configured\n\
         colorpolicy.policies.controller.io/on-https2 created\n\
         retrypolicy.policies.example.com/on-https2 created\n"
    );
    output.silent_about("section-unknown");
    both_policies_are_there(&setup);

    let orphaned = [
        r#"section-orphaned: ColorPolicy.policies.controller.io infra/on-https2 targets listener "https2", which this change removes; change its target or delete it"#,
        r#"section-orphaned: RetryPolicy.policies.example.com infra/on-https2 targets listener "https2", which this change removes; change its target or delete it"#,
    ];
    setup.warns_at_last("first/gateway.yaml", orphaned[1]);
    setup.warns_at_last("first/gateway.yaml", orphaned[0]);
    let prune = [
        "apply",
        "--prune",
        "-l=app=front",
        "--prune-allowlist=gateway.networking.k8s.io/v1/Gateway",
        "--prune-allowlist=gateway.networking.k8s.io/v1/HTTPRoute",
        "--prune-allowlist=policies.controller.io/v1/ColorPolicy",
        "--prune-allowlist=policies.example.com/v1/RetryPolicy",
        "-k=first",
    ];
    let output = setup
        .kubectl(prune)
        .ok()
        .prints("gateway.gateway.networking.k8s.io/front configured\n")
        .prints("colorpolicy.policies.controller.io/on-https2 pruned\n")
        .prints("retrypolicy.policies.example.com/on-https2 pruned\n");
    warned(output, orphaned);
    assert_eq!(listeners(&setup), "http");
}

#[test]
fn kubectl_with_server_side_apply() {
    let Some(setup) = setup("server-side") else {
        return;
    };
    let apply = |folder| setup.kubectl(["apply", "--server-side", "-k", folder]);
    apply("first").ok();
    first_is_known(&setup);
    let output = apply("second").ok().silent_about("section-unknown");
    assert_eq!(
        output.out,
        "gateway.gateway.networking.k8s.io/front serverside-applied\n\
         httproute.gateway.networking.k8s.io/cart serverside-applied\n\
         colorpolicy.policies.controller.io/on-https2 serverside-applied\n\
         retrypolicy.policies.example.com/on-https2 serverside-applied\n"
    );
    apply("second").ok().silent_about("Warning");
    both_policies_are_there(&setup);
}

/// The Gateway is applied although the policies before it are not, so a second run succeeds. `kubectl diff` fails until
/// then.
#[test]
fn kubectl_of_a_person_gets_through_at_the_second_time() {
    let Some(setup) = setup("kubectl-person") else {
        return;
    };
    setup.kubectl(["apply", "-k", "first"]).ok();
    first_is_known(&setup);
    let diff = setup.kubectl(["diff", "-k", "second"]);
    assert_eq!(diff.code, 2, "2 says that diff failed:\n{diff}");
    diff.warns(
        "The ColorPolicy \"on-https2\" is invalid: spec.targetRefs[0].sectionName: section-unknown: ",
    );
    let output = setup.kubectl(WORST);
    assert_eq!(output.code, 1, "{output}");
    assert_eq!(
        output.out,
        "gateway.gateway.networking.k8s.io/front configured\n"
    );
    output.warns(SECTIONS[0]).warns(SECTIONS[1]);
    setup
        .kubectl(WORST)
        .ok()
        .silent_about("section-unknown")
        .prints("colorpolicy.policies.controller.io/on-https2 created\n")
        .prints("retrypolicy.policies.example.com/on-https2 created\n");
    both_policies_are_there(&setup);
}

#[test]
fn kubectl_of_a_person_gets_through_at_once_with_the_annotation() {
    let Some(setup) = setup("kubectl-pending") else {
        return;
    };
    setup.kubectl(["apply", "-k", "first"]).ok();
    first_is_known(&setup);
    mark_as_pending(&setup);
    let diff = setup.kubectl(["diff", "-k", "second"]);
    assert_eq!(diff.code, 1, "{diff}");
    warned(diff, SECTIONS);
    warned(setup.kubectl(WORST).ok(), SECTIONS);
    both_policies_are_there(&setup);
}

fn mark_as_pending(setup: &TestSetup<'_>) {
    let policies = setup.read("second/policies.yaml");
    setup.write(
        "second/policies.yaml",
        &policies.replace("metadata: {", PENDING),
    );
}

// === Flux ===

/// Warnings as lines of a controller's log: the library does not return them to its caller.
fn logged(output: Said, lines: [&str; 2]) {
    lines.iter().fold(output, |output, line| {
        let line = line.replace('"', "\\\"");
        output.warns(&format!("\"level\"=0 \"msg\"=\"{line}\"\n"))
    });
}

/// The most important case: the Gateway exists, and one commit adds a listener and policies on it.
#[test]
fn flux_dry_runs_all_before_it_applies_anything() {
    let (Some(setup), Some(flux)) = (setup("flux"), Cluster::program("flux")) else {
        return;
    };
    let user = setup.service_account();
    let flux = |files: &[&str]| setup.client(&flux, Some(&user), files.iter().copied());
    let output = flux(&["first/route.yaml", "first/gateway.yaml"]).ok();
    assert_eq!(
        output.out,
        "Gateway/infra/front created\nHTTPRoute/infra/cart created\n"
    );
    first_is_known(&setup);
    let output = flux(&SECOND).ok();
    assert_eq!(
        output.out,
        "Gateway/infra/front configured\n\
         HTTPRoute/infra/cart unchanged\n\
         ColorPolicy/infra/on-https2 created\n\
         RetryPolicy/infra/on-https2 created\n"
    );
    logged(output, SECTIONS);
    both_policies_are_there(&setup);
    assert_eq!(manager(&setup), "kustomize-controller");
    let output = flux(&SECOND).ok();
    assert_eq!(
        output.out,
        "Gateway/infra/front unchanged\n\
         HTTPRoute/infra/cart unchanged\n\
         ColorPolicy/infra/on-https2 unchanged\n\
         RetryPolicy/infra/on-https2 unchanged\n"
    );
    output.silent_about("section-unknown");
}

/// Nothing exists yet: people get warnings too.
#[test]
fn flux_applies_all_of_it_at_once() {
    let (Some(setup), Some(flux)) = (setup("flux-at-once"), Cluster::program("flux")) else {
        return;
    };
    let output = setup.client(&flux, None, SECOND).ok();
    assert_eq!(
        output.out,
        "Gateway/infra/front created\n\
         HTTPRoute/infra/cart created\n\
         ColorPolicy/infra/on-https2 created\n\
         RetryPolicy/infra/on-https2 created\n"
    );
    logged(output, TARGETS);
    both_policies_are_there(&setup);
}

/// A person who runs it is refused by every dry run until the policies announce that their section comes later.
#[test]
fn flux_of_a_person_needs_the_annotation() {
    let (Some(setup), Some(flux)) = (setup("flux-person"), Cluster::program("flux")) else {
        return;
    };
    let flux = |files: &[&str]| setup.client(&flux, None, files.iter().copied());
    flux(&["first/gateway.yaml", "first/route.yaml"]).ok();
    first_is_known(&setup);
    let output = flux(&SECOND);
    assert_eq!((output.code, &*output.out), (1, ""), "{output}");
    output
        .warns("error: ColorPolicy/infra/on-https2 dry-run failed (Invalid): ")
        .warns(SECTIONS[0]);
    assert_eq!(listeners(&setup), "http", "nothing has been applied");
    mark_as_pending(&setup);
    logged(flux(&SECOND).ok(), SECTIONS);
    both_policies_are_there(&setup);
}

// === Helm ===

/// Helm prints a warning as a log line on stderr. The line for a missing Gateway continues with the namespaces that
/// have one of that name, which belong to other tests.
fn logged_by_helm(output: Said, line: &str) -> Said {
    let line = line.replace('"', "\\\"");
    let output = output.warns(&format!("] \"Warning: {line}"));
    let lines = || output.err.lines().filter(|line| line.contains("Warning: "));
    assert!(lines().all(|line| line.ends_with('"')), "{output}");
    assert!(
        lines().all(|line| line.starts_with('I') && line.contains(" warnings.go:")),
        "{output}"
    );
    output
}

/// Helm sends kinds that it does not know in alphabetical order: `ColorPolicy`, `Gateway`, `HTTPRoute`, `RetryPolicy`.
/// Its own dry run sends no objects to the API server, so there are no warnings.
#[test]
fn helm_of_a_service_account() {
    let (Some(setup), Some(helm)) = (setup("helm"), Cluster::program("helm")) else {
        return;
    };
    let user = setup.service_account();
    let infra = setup.namespace("infra");
    let helm = |args: &[&str]| {
        let args = args.iter().copied();
        setup.client(&helm, Some(&user), args.chain(["-n", &infra]))
    };
    helm(&["install", "front", CHART])
        .ok()
        .prints("STATUS: deployed\n");
    first_is_known(&setup);
    let second = ["upgrade", "front", CHART, "--set=second=true"];
    helm(&[&second[..], &["--dry-run=server"]].concat())
        .ok()
        .prints("STATUS: pending-upgrade\n")
        .silent_about("Warning");
    let output = helm(&second).ok().prints("STATUS: deployed\nREVISION: 2\n");
    logged_by_helm(output, SECTIONS[0]).silent_about(SECTIONS[1]);
    both_policies_are_there(&setup);
    assert_eq!(manager(&setup), "helm");
    helm(&second)
        .ok()
        .prints("STATUS: deployed\nREVISION: 3\n")
        .silent_about("Warning");

    // Back to the first commit: the Gateway loses its listener, then the policies are deleted.
    let orphaned = r#"section-orphaned: RetryPolicy.policies.example.com infra/on-https2 targets listener "https2", which this change removes; change its target or delete it"#;
    setup.warns_at_last("first/gateway.yaml", orphaned);
    let output = helm(&["upgrade", "front", CHART, "--set=second=false"])
        .ok()
        .prints("STATUS: deployed\nREVISION: 4\n");
    logged_by_helm(output, orphaned);
    assert_eq!(listeners(&setup), "http");
    helm(&["uninstall", "front"])
        .ok()
        .prints("release \"front\" uninstalled\n");
}

/// The first release of all objects succeeds. An upgrade that sends a policy before its listener fails every time,
/// until the policy announces that its section comes later.
#[test]
fn helm_of_a_person_needs_the_annotation_to_add_a_listener() {
    let (Some(setup), Some(helm)) = (setup("helm-person"), Cluster::program("helm")) else {
        return;
    };
    let infra = setup.namespace("infra");
    let helm = |args: &[&str]| {
        let args = args.iter().copied();
        setup.client(&helm, None, args.chain(["-n", &infra]))
    };
    let output = helm(&["install", "front", CHART, "--set=second=true"]).ok();
    logged_by_helm(output, TARGETS[0]).prints("STATUS: deployed\n");
    both_policies_are_there(&setup);
    helm(&["uninstall", "front"]).ok();

    helm(&["install", "front", CHART]).ok();
    first_is_known(&setup);
    let second = ["upgrade", "front", CHART, "--set=second=true"];
    for _ in 0..2 {
        let output = helm(&second);
        assert_eq!((output.code, &*output.out), (1, ""), "{output}");
        output
            .warns("Error: UPGRADE FAILED: ")
            .warns(&format!("denied the request: {}\n", SECTIONS[0]));
    }
    assert_eq!(listeners(&setup), "http");
    let output = helm(&[&second[..], &["--set=pending=true"]].concat())
        .ok()
        .prints("STATUS: deployed\n");
    logged_by_helm(output, SECTIONS[0]);
    both_policies_are_there(&setup);
}
