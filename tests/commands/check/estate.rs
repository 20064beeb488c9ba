//! A realistic repository: charts, kustomizations, Compose files, and 16 mistakes among 27 policies and 12 routes. Each
//! mistake is reported once, and nothing else is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::{check, json, root, stdout};

/// The mistakes of the estate: the object, the code, and a helpful part of the message.
const MISTAKES: [(&str, &str, &str); 18] = [
    (
        "infra/public-https-tls",
        "section-unknown",
        "did you mean \"https\"?",
    ),
    (
        "shop/cart-checkout-limit",
        "section-unknown",
        "did you mean \"checkout\"?",
    ),
    (
        "shop/shop-cors",
        "target-not-found",
        "there is one in namespace \"infra\", but this field can only name objects in the namespace of the policy",
    ),
    (
        "blog/comments-cors",
        "target-not-found",
        "did you mean \"comments\"?",
    ),
    (
        "infra/internal-cors",
        "target-selects-nothing",
        "did you mean exposure=cluster?",
    ),
    (
        "tools/grafana-deploy",
        "target-kind-unsupported",
        "supported targets: Gateway, ListenerSet, HTTPRoute, GRPCRoute",
    ),
    (
        "shop/catalog-b",
        "conflicted",
        "already has BackendTrafficPolicy.gateway.envoyproxy.io shop/catalog-a, which is older",
    ),
    (
        "tools/orders-auth",
        "overridden",
        "overridden by AuthPolicy.kuadrant.io infra/partner-auth",
    ),
    (
        "shop/storefront-open",
        "protection-lost",
        "because this policy has no settings and replaces it",
    ),
    (
        "shop/search-merge",
        "strategy-unsupported",
        "\"StrategicMerge\"",
    ),
    (
        "tools/stock-limits",
        "strategy-multiple",
        "exclude each other",
    ),
    (
        "shop/search-traffic",
        "kind-unknown",
        "did you mean BackendTrafficPolicy.gateway.envoyproxy.io?",
    ),
    (
        "payments/pay-authz",
        "version-unknown",
        "did you mean \"v1alpha1\"?",
    ),
    (
        "tools/old-limits",
        "version-unknown",
        "did you mean \"v1\"?",
    ),
    (
        "blog/comments",
        "backend-not-usable",
        "no ReferenceGrant in namespace payments",
    ),
    (
        "shop/search",
        "route-not-attached",
        "has no listener https-443",
    ),
    (
        "tools/partner-stock",
        "route-not-attached",
        "has hostname *.partners.example.com",
    ),
    // It replaces the policy of the Gateway, so the Gateway's rate limit is lost.
    (
        "payments/pay-traffic",
        "protection-lost",
        "is without the rate limit",
    ),
];

/// An empty directory for PATH.
pub(super) fn nothing() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// `check` without kustomize, kubectl or Helm on the PATH.
pub(super) fn check_alone(directory: &Path, args: &[&str]) -> Output {
    let nothing = nothing();
    Command::new(env!("CARGO_BIN_EXE_attache"))
        .arg("check")
        .args(args)
        .current_dir(directory)
        .env("PATH", nothing.path())
        .output()
        .unwrap()
}

/// Whether kustomizations can be built here. Prints SKIPPED if not.
fn builds() -> bool {
    let runs = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.is_ok_and(|output| output.status.success())
    };
    let there = runs("kustomize", &["version"]) || runs("kubectl", &["kustomize", "--help"]);
    assert!(
        there || std::env::var_os("ATTACHE_REQUIRE_KUSTOMIZE").is_none(),
        "neither kustomize nor kubectl is on the PATH"
    );
    if !there {
        eprintln!("SKIPPED: neither kustomize nor kubectl is on the PATH");
    }
    there
}

/// The findings that count: `namespace/name`, code and message.
pub(super) fn counted(report: &Value) -> Vec<(String, String, String)> {
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: Vec<(String, String, String)> = findings
        .filter(|finding| finding["notice"] != true)
        .map(|finding| {
            let object = &finding["object"];
            let name = format!("{}/{}", text(&object["namespace"]), text(&object["name"]));
            (name, text(&finding["code"]), text(&finding["message"]))
        })
        .collect();
    found.sort();
    found
}

fn each_mistake_once(report: &Value) {
    let found = counted(report);
    let mut wanted: Vec<_> = MISTAKES.to_vec();
    wanted.sort_unstable();
    let names = |(object, code, _): &(String, String, String)| (object.clone(), code.clone());
    let expected: Vec<(String, String)> = wanted
        .iter()
        .map(|(object, code, _)| ((*object).to_owned(), (*code).to_owned()))
        .collect();
    assert_eq!(
        found.iter().map(names).collect::<Vec<_>>(),
        expected,
        "{found:#?}"
    );
    for ((_, _, message), (_, _, helps)) in found.iter().zip(&wanted) {
        assert!(message.contains(helps), "{message}: {helps}");
    }
}

#[test]
fn each_mistake_of_the_estate_is_said_once_and_nothing_else() {
    let output = check_alone(&root(), &["estate", "-o", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(
        text,
        "attache: 3 kustomizations are not built, because neither kustomize nor kubectl is on the PATH: \
         manifests are read as they are, and patches are left out\n"
    );
    let report = json(&output);
    each_mistake_once(&report);
    let skipped: Vec<(&str, &str)> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["file"].as_str().unwrap(), s["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        skipped,
        [
            ("estate/apps/payments/Chart.yaml", "describes a Helm chart"),
            (
                "estate/apps/payments/templates/route-templated.yaml",
                "a template; --helm DIR renders a Helm chart"
            ),
            ("estate/apps/payments/values.yaml", "values of a Helm chart"),
            (
                "estate/apps/shop/overlays/prod/cart-timeout.yaml",
                "read by the kustomization estate/apps/shop/overlays/prod/kustomization.yaml"
            ),
            ("estate/apps/shop/values.yaml", "values of a Helm chart"),
            ("estate/docker-compose.yaml", "a Compose file"),
            ("estate/mkdocs.yml", "a file of MkDocs"),
            ("estate/renovate.json", "a file of Renovate"),
        ]
    );
}

/// Built as kustomize does, with findings at their position in the source files.
#[test]
fn kustomizations_are_built_and_findings_are_where_they_are_written() {
    if !builds() {
        return;
    }
    let output = check(&root(), &["estate", "-o", "json"]);
    assert_eq!(String::from_utf8(output.stderr.clone()).unwrap(), "");
    let report = json(&output);
    each_mistake_once(&report);
    let findings = report["findings"].as_array().unwrap();
    let findings_in = |name: &str| {
        findings
            .iter()
            .find(|f| f["object"]["name"] == name && f["notice"] != true)
    };
    let limit = findings_in("cart-checkout-limit").unwrap();
    assert_eq!(limit["file"], "estate/apps/shop/base/policies.yaml");
    assert_eq!(limit["line"], 25);
    // The patch is in effect.
    let describe = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args([
            "describe",
            "httproute/cart",
            "-n",
            "shop",
            "--from",
            "estate",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let text = stdout(&describe);
    assert!(
        text.contains("timeout.http.requestTimeout") && text.contains("4s"),
        "{text}"
    );
    // A single directory.
    let report = json(&check(
        &root(),
        &["-k", "estate/apps/shop/overlays/prod", "-o", "json"],
    ));
    let found = counted(&report);
    assert!(
        found
            .iter()
            .any(|(name, code, _)| name == "shop/cart-checkout-limit" && code == "section-unknown"),
        "{found:?}"
    );
}

#[test]
fn the_report_ends_with_what_failed_and_why() {
    let text = stdout(&check_alone(&root(), &["estate"]));
    let end: Vec<&str> = text.lines().rev().take(7).collect();
    assert_eq!(
        end.into_iter().rev().collect::<Vec<_>>(),
        [
            "65 objects, 27 policies: 8 deny, 10 warn",
            "40 notices hidden; use --notices to show them",
            "8 files are not manifests; --show-skipped lists them",
            "attache help CODE explains a finding: target-not-found, section-unknown, kind-unknown, strategy-unsupported, and 9 more",
            "no CRD found for BackendTrafficPolicy.gateway.envoyproxy.io, ClientTrafficPolicy.gateway.envoyproxy.io, \
             SecurityPolicy.gateway.envoyproxy.io, BackendTLSPolicy and 3 more kinds: their fields are not checked, \
             only their profiles are used",
            "the manifests are taken as the whole state, so target-not-found and kind-unknown deny; if other objects exist, name the manifests as PATH and the existing state with --from DIR or --cluster",
            "failed (exit code 1): 8 findings with severity deny",
        ],
        "{text}"
    );
    // Refusals come before warnings, each grouped by file.
    let severities: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(": ").nth(1))
        .filter_map(|output| output.split(' ').next())
        .filter(|word| ["deny", "warn"].contains(word))
        .collect();
    assert!(severities.is_sorted(), "{text}");
}

#[test]
fn what_nobody_wants_checked_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path: PathBuf = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let broken = "apiVersion: v1\nkind: [\n";
    let good = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: b}\n";
    write("good.yaml", good);
    write("legacy/a.yaml", broken);
    write("legacy/keep/b.yaml", broken);
    write("tests/c.yaml", broken);
    write(".attacheignore", "# Not ours.\n/legacy/*\n!/legacy/keep\n");
    write("tests/.attacheignore", "*.yaml\n");
    let report = json(&check_alone(dir.path(), &[".", "-o", "json"]));
    let files: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["file"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["legacy/keep/b.yaml"]);
    // A file that the user names is read.
    let output = check_alone(dir.path(), &["legacy/a.yaml"]);
    assert_eq!(output.status.code(), Some(1));
}

/// Overlays for several clusters define the same objects: each is checked together with what they share.
#[test]
fn overlays_are_alternatives_and_no_duplicates() {
    if !builds() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let kustomization = |rest: &str| {
        format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{rest}")
    };
    write(
        "base/kustomization.yaml",
        &kustomization("resources: [all.yaml]\n"),
    );
    write(
        "base/all.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: infra}\n\
         spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}\n---\n\
         apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {name: tls, namespace: infra}\n\
         spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: http}]\n  timeout: {http: {requestReceivedTimeout: 5s}}\n",
    );
    for (overlay, section) in [("dev", "http"), ("prod", "htpt")] {
        write(
            &format!("overlays/{overlay}/kustomization.yaml"),
            &kustomization("resources: [../../base]\npatches: [{path: section.yaml}]\n"),
        );
        write(
            &format!("overlays/{overlay}/section.yaml"),
            &format!(
                "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: ClientTrafficPolicy\nmetadata: {{name: tls, namespace: infra}}\n\
                 spec:\n  targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: {section}}}]\n"
            ),
        );
    }
    let text = stdout(&check(dir.path(), &["."]));
    let findings: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(": deny "))
        .collect();
    assert_eq!(findings.len(), 1, "{text}");
    assert!(
        findings[0].starts_with("base/all.yaml:")
            && findings[0].ends_with("did you mean \"http\"? (in prod)"),
        "{text}"
    );
    assert!(!text.contains("object-duplicate"), "{text}");
}

#[test]
fn nothing_checked_is_not_green() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::write(dir.path().join("values.yaml"), "a: 1\n").unwrap();
    for args in [&["empty"][..], &["values.yaml"], &["."]] {
        let output = check_alone(dir.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            text.starts_with(
                "attache: nothing was checked: there is no Kubernetes object to check in "
            ),
            "{text}"
        );
        let allowed: Vec<&str> = args.iter().copied().chain(["--allow-empty"]).collect();
        let output = check_alone(dir.path(), &allowed);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
    let output = check_alone(dir.path(), &["-"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("on standard input"), "{text}");
    let output = check_alone(dir.path(), &["--helm", "empty"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with("attache: helm is not on the PATH: install it, or run helm template"),
        "{text}"
    );
}

#[test]
fn codes_are_left_out_denied_and_warned_of_on_the_command_line() {
    let run = |args: &[&str]| {
        let args: Vec<&str> = ["estate", "-o", "json"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        let report = json(&check_alone(&root(), &args));
        let findings = report["findings"].as_array().unwrap().iter();
        let mut found: Vec<(String, String)> = findings
            .filter(|finding| finding["notice"] != true)
            .map(|f| {
                (
                    f["code"].as_str().unwrap().to_owned(),
                    f["severity"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        found.sort();
        found.dedup();
        found
    };
    let pair = |code: &str, severity: &str| (code.to_owned(), severity.to_owned());
    assert_eq!(
        run(&[
            "--only",
            "route-not-attached,overridden",
            "--deny",
            "overridden"
        ]),
        [
            // Nobody checked its object.
            pair("kind-unknown", "deny"),
            pair("overridden", "deny"),
            pair("route-not-attached", "warn")
        ]
    );
    let all = run(&["--ignore", "section-unknown", "--warn", "target-not-found"]);
    assert!(all.contains(&pair("target-not-found", "warn")), "{all:?}");
    assert!(
        !all.iter().any(|(code, _)| code == "section-unknown"),
        "{all:?}"
    );
    let output = check_alone(&root(), &["estate", "--ignore", "section-unknwon"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("'section-unknown'"), "{text}");
}

#[test]
fn a_comment_fits_into_a_pull_request() {
    let comment = stdout(&check_alone(&root(), &["estate", "-o", "markdown"]));
    assert!(
        comment.starts_with("**attache check**: 65 objects, 27 policies: 8 deny, 10 warn\n"),
        "{comment}"
    );
    assert!(
        comment.contains(
            "\n**Denied**\n\n- `target-not-found` **SecurityPolicy blog/comments-cors**:"
        ),
        "{comment}"
    );
    assert!(
        comment.contains("<details><summary>10 warnings</summary>"),
        "{comment}"
    );
    assert!(comment.chars().count() < 65_000);
}
