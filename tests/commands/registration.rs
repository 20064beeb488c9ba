//! The output of `attache manifests`. `ATTACHE_BLESS=1` rewrites the expected text: read the difference.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const CA: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    let command = command.arg("manifests").args(args).current_dir(ROOT);
    command.output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let run = run(args);
    let output = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{output}");
    String::from_utf8(run.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let run = run(args);
    assert_eq!(run.status.code(), Some(2), "{args:?}");
    assert!(run.stdout.is_empty(), "{args:?}");
    String::from_utf8(run.stderr).unwrap()
}

fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

/// The role, the validating and the mutating configuration.
fn configurations(args: &[&str]) -> [Value; 3] {
    documents(&printed(args)).try_into().unwrap()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

const QUICKSTART: [&str; 2] = ["--from", "examples/quickstart"];

#[test]
fn the_quickstart_to_the_letter() {
    let found = printed(&QUICKSTART);
    let file = Path::new(ROOT).join("tests/commands/registration/quickstart.yaml");
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&file).unwrap());
    assert_eq!(found, printed(&QUICKSTART), "the same bytes each time");
}

/// The shipped configurations and the printed ones differ only in their rules.
#[test]
fn the_terms_are_those_of_the_manifests() {
    let [_, validating, mutating] = configurations(&QUICKSTART);
    for (file, printed) in [("validating", validating), ("mutating", mutating)] {
        let shipped = documents(&text(&format!("manifests/base/{file}-webhook.yaml")));
        let without_rules = |configuration: &Value| {
            let mut configuration = configuration.clone();
            let webhook = configuration["webhooks"][0].as_object_mut().unwrap();
            webhook.remove("rules").unwrap();
            configuration
        };
        assert_eq!(
            without_rules(&shipped[0]),
            without_rules(&printed),
            "{file}"
        );
    }
}

#[test]
fn every_flag_is_in_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.crt");
    std::fs::write(&ca, CA).unwrap();
    let mut args = QUICKSTART.to_vec();
    args.extend(["--name", "advice", "--url", "https://attache.example:8443"]);
    args.extend(["--namespace", "tools", "--exclude-namespace", "quiet"]);
    args.extend(["--failure-policy", "Fail", "--timeout-seconds", "3"]);
    args.extend(["--ca-bundle", ca.to_str().unwrap()]);
    let [role, validating, mutating] = configurations(&args);
    assert_eq!(role["metadata"]["name"], "advice-policies-found");
    for (configuration, path) in [(&validating, "validate"), (&mutating, "mutate")] {
        assert_eq!(configuration["metadata"]["name"], "advice");
        let webhook = &configuration["webhooks"][0];
        let client = &webhook["clientConfig"];
        assert_eq!(
            client["url"],
            format!("https://attache.example:8443/{path}")
        );
        assert!(
            client["caBundle"]
                .as_str()
                .unwrap()
                .starts_with("LS0tLS1CRUdJTi")
        );
        assert_eq!(webhook["failurePolicy"], "Fail");
        assert_eq!(webhook["timeoutSeconds"], 3);
        let excluded = &webhook["namespaceSelector"]["matchExpressions"][0]["values"];
        assert_eq!(
            *excluded,
            serde_json::json!(["kube-system", "quiet", "tools"])
        );
    }
    let definitions = &validating["webhooks"][1];
    assert_eq!(definitions["name"], "definitions.attache.dev");
    assert_eq!(definitions["failurePolicy"], "Ignore");
}

#[test]
fn policies_without_a_definition_are_named_and_nothing_is_printed_without_any() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]}
";
    std::fs::write(folder.path().join("policy.yaml"), policy).unwrap();
    let from = ["--from", folder.path().to_str().unwrap()];
    let expected = "no rule for SecurityPolicy.gateway.envoyproxy.io: there are policies of the kind, but its CRD was not found";
    // A role without rules, applied over that of an earlier run, would take its rights away.
    let output = refused(&from);
    assert!(output.contains(expected), "{output}");
    assert!(
        output.contains("so there are no rules to print"),
        "{output}"
    );
    let kinds = "examples/quickstart/10-policy-kinds.yaml";
    std::fs::copy(
        Path::new(ROOT).join(kinds),
        folder.path().join("kinds.yaml"),
    )
    .unwrap();
    let run = run(&from);
    assert!(run.status.success());
    let text = String::from_utf8(run.stderr).unwrap();
    assert!(text.contains(expected), "{text}");
    let role = &documents(&String::from_utf8(run.stdout).unwrap())[0];
    let rules = role["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0]["apiGroups"][0], "policies.example.com");
}

#[test]
fn an_unusable_option_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("tls.key");
    std::fs::write(
        &key,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    )
    .unwrap();
    let with = |more: &[&str]| refused(&[&QUICKSTART, more].concat());
    assert!(with(&["--ca-bundle", key.to_str().unwrap()]).contains("private key"));
    assert!(with(&["--ca-bundle", "nowhere.crt"]).contains("failed to read nowhere.crt"));
    assert!(with(&["--url", "http://attache.example"]).contains("https://HOST:PORT"));
    assert!(with(&["--failure-policy", "fail"]).contains("[possible values: Ignore, Fail]"));
    assert!(with(&["--timeout-seconds", "31"]).contains("31"));
    assert!(refused(&["--from", "nowhere"]).contains("nowhere does not exist"));
}
