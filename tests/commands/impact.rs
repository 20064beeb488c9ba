//! `attache impact`.

use std::fmt::Write as _;
use std::fs;

use attache::answer;
use attache::answer::impact::Impact;
use serde_json::Value;
use tempfile::TempDir;

use crate::examples::{Example, Step, all, named, worked};
use crate::run::{Ran, fits, holds, run, run_with, session};

const QUICKSTART: &str = "examples/quickstart";

#[test]
fn the_quickstart_before_and_after() {
    let quick = |arguments: &str| format!("impact --from {QUICKSTART} {arguments}");
    let lines: Vec<String> = [
        "--delete RetryPolicy/edge-retries -n infra",
        "--delete timeoutpolicies/cart-timeouts -n shop",
        "--delete httproute/cart -n shop",
        "--delete Gateway/edge -n infra",
        "--delete ns/shop",
        "--delete crd/retrypolicies.policies.example.com",
        "--delete Service/cart -n shop",
        "--delete -f examples/quickstart/50-policies.yaml",
        "-f tests/commands/impact/replacement.yaml --delete timeoutpolicy/cart-timeouts -n shop",
        "--delete TimeoutPolicy/cart-timeouts -n shop --fail-on change",
        "--delete Service/cart -n shop --fail-on change",
    ]
    .iter()
    .map(|arguments| quick(arguments))
    .collect();
    holds("impact/quickstart-delete.txt", &session(&lines));
}

/// Requests that no route takes any more are an effect, though no policy applies to them.
#[test]
fn deleting_the_only_route_of_a_host_changes_traffic() {
    let lines = [
        "httproute/cart",
        "httproute/blog",
        "httproute/all-of-blog",
        "namespace/shop",
    ]
    .map(|what| {
        let state = "--from tests/commands/impact/last-route.yaml -n shop";
        format!("impact --delete {what} {state} --fail-on change")
    });
    holds("impact/last-route.txt", &session(&lines));
}

/// Documents that are applied one after the other, each on its own.
const APPLIED: &str = include_str!("impact/applied.yaml");

#[test]
fn applied_changes_are_listed_by_file() {
    let mut output = String::new();
    for document in APPLIED.split("---\n") {
        let title = document.lines().next().unwrap();
        let ran = run_with(&["impact", "--from", QUICKSTART, "-f", "-"], document);
        writeln!(output, "{title}\n{}", ran.all()).unwrap();
    }
    writeln!(output, "# All of it as one change.").unwrap();
    let ran = run_with(&["impact", "--from", QUICKSTART, "-f", "-"], APPLIED);
    writeln!(output, "{}", ran.all()).unwrap();
    holds("impact/quickstart-apply.txt", &output);
}

#[test]
fn programs_read_the_same() {
    let arguments = ["--delete", "retrypolicy/edge-retries", "-n", "infra"];
    let common = ["impact", "--from", QUICKSTART, "-o", "json"];
    let text = run(&[&common[..], &arguments].concat()).clean();
    assert_eq!(text, run(&[&common[..], &arguments].concat()).clean());
    holds("impact/quickstart-delete.json", &text);
    let text = run_with(&[&common[..], &["-f", "-"]].concat(), APPLIED).clean();
    holds("impact/quickstart-apply.json", &text);
    fits(
        &serde_json::from_str(&text).unwrap(),
        &answer::schema::<Impact>(),
    );
}

#[test]
fn the_worked_examples() {
    for example in worked() {
        let mut output = String::new();
        for (steps, _) in example.changes() {
            let (words, stdin) = arguments(&steps);
            let ran = asked(&example, &words, &stdin, "text");
            writeln!(
                output,
                "$ attache impact {}\n{}",
                words.join(" "),
                // The state is written to a folder whose name differs from run to run.
                ran.all().replace(example.from(), "state")
            )
            .unwrap();
        }
        if !output.is_empty() {
            holds(&format!("impact/{}.txt", example.name), &output);
        }
    }
}

/// The command reports the same changes as the engine, path by path.
#[test]
fn the_command_shows_the_result_of_the_engine() {
    let schema = answer::schema::<Impact>();
    let mut count = 0;
    for example in all() {
        for (steps, expected) in example.changes() {
            let (words, stdin) = arguments(&steps);
            let answer = asked(&example, &words, &stdin, "json").json();
            fits(&answer, &schema);
            let mut changes = Vec::new();
            for change in answer["changes"].as_array().unwrap() {
                let side = |spec: &str, from: &str| match &change[spec] {
                    Value::Null if change[from].as_array().unwrap().is_empty() => "nothing".into(),
                    Value::Null => "the kind's own rules".to_owned(),
                    spec => spec.to_string(),
                };
                let (was, is) = (side("before", "beforeFrom"), side("after", "afterFrom"));
                let kind = change["policyKind"]["kind"].as_str().unwrap();
                let line = format!("{kind} {} {was} -> {is}", named(&change["object"]));
                let paths = change["paths"]["changed"].as_u64().unwrap();
                assert!(
                    paths <= change["paths"]["of"].as_u64().unwrap(),
                    "{change:#}"
                );
                changes.extend(std::iter::repeat_n(line, usize::try_from(paths).unwrap()));
            }
            let mut found: Vec<String> = expected
                .chunks(2)
                .map(|lines| {
                    let (kind, path) = lines[0]
                        .trim_start_matches("  - ")
                        .split_once(": ")
                        .unwrap();
                    let target = path.rsplit(" > ").next().unwrap();
                    format!("{kind} {target} {}", lines[1].trim())
                })
                .collect();
            changes.sort();
            found.sort();
            assert_eq!(changes, found, "{}: {words:?}", example.name);
            count += 1;
        }
    }
    assert!(count > 60, "the questions are gone");
}

/// Arguments and standard input for a change.
fn arguments(steps: &[Step]) -> (Vec<String>, String) {
    let (mut words, mut stdin) = (Vec::new(), String::new());
    for step in steps {
        match step {
            Step::Delete(name) => {
                let (kind, path) = name.split_once(' ').unwrap();
                let (namespace, name) = path.split_once('/').unwrap_or(("", path));
                words.extend(["--delete".to_owned(), format!("{kind}/{name}")]);
                let output = words.iter().any(|word| word == "-n");
                if !namespace.is_empty() && !output {
                    words.extend(["-n".to_owned(), namespace.to_owned()]);
                }
            }
            Step::Apply(object) => writeln!(stdin, "{object}\n---").unwrap(),
        }
    }
    if !stdin.is_empty() {
        words.extend(["-f".to_owned(), "-".to_owned()]);
    }
    (words, stdin)
}

fn asked(example: &Example, words: &[String], stdin: &str, output: &str) -> Ran {
    let mut all = vec!["impact", "--from", example.from(), "-o", output];
    all.extend(words.iter().map(String::as_str));
    run_with(&all, stdin)
}

#[test]
fn an_unanswerable_question_is_an_error() {
    let quick = |arguments: &str| format!("impact --from {QUICKSTART} {arguments}");
    let lines: Vec<String> = [
        "--delete retrypolicy/edge-retrys -n infra",
        "--delete retrypolicy/edge-retries -n shop",
        "--delete retrypolicy/infra/edge-retries",
        "--delete retrypolicy/zzz -n infra",
        "--delete httproute/zzz -n infra",
        "--delete gatewayclass/exampel",
        "--delete retrypolici/edge-retries -n infra",
        "--delete Gateway/edge#http -n infra",
        "--delete edge -n infra",
        "--delete",
        "--delete -f tests/commands/impact/replacement.yaml",
        "-f examples/quickstart --delete retrypolicy/edge-retries -n infra",
        "-f there-is-none.yaml",
        "-f src/lib.rs",
        "-f -",
    ]
    .iter()
    .map(|arguments| quick(arguments))
    .collect();
    holds("impact/errors.txt", &session(&lines));
    let both = run(&["impact", "--from", "-", "-f", "-"]).failure();
    assert!(both.contains("cannot both read standard input"), "{both}");
}

#[test]
fn a_change_that_is_not_read_whole_is_not_answered() {
    let broken = "apiVersion: v1\nkind: Service\nmetadata: {name: a\n";
    let output = run_with(&["impact", "--from", QUICKSTART, "-f", "-"], broken).failure();
    assert!(output.contains("standard input:"), "{output}");
    assert!(output.contains("unless all of it can be read"), "{output}");
}

#[test]
fn names_and_values_break_no_row() {
    let evil = "x\\u001b[31m\\nFORGED   1   2   3\\u202e";
    let policy = format!(
        r#"{{"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy",
            "metadata": {{"name": "{evil}", "namespace": "shop"}},
            "spec": {{"targetRef": {{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "cart"}},
                     "timeout": "{evil}", "{evil}": "1s"}}}}"#
    );
    let state = "examples/envoy-gateway";
    let output = run_with(&["impact", "--from", state, "-f", "-"], &policy).clean();
    assert!(!output.contains(['\u{1b}', '\u{202e}']), "{output:?}");
    assert!(
        output.lines().all(|line| !line.starts_with("FORGED")),
        "{output}"
    );
    holds("impact/hostile.txt", &output);
}

#[test]
fn many_targets_are_counted_and_the_first_named() {
    let folder = TempDir::new().unwrap();
    let mut state = String::new();
    for i in 0..100 {
        writeln!(
            state,
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
             metadata: {{name: r{i:03}, namespace: ns{}}}\n\
             spec: {{parentRefs: [{{name: edge, namespace: infra, sectionName: http}}], rules: [{{}}]}}\n---",
            i % 7
        )
        .unwrap();
    }
    for entry in fs::read_dir(crate::run::root().join(QUICKSTART)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::write(folder.path().join("60-routes.yaml"), state).unwrap();
    let from = folder.path().to_str().unwrap();
    let delete = ["--delete", "retrypolicy/edge-retries", "-n", "infra"];
    let output = run(&[&["impact", "--from", from][..], &delete].concat()).clean();
    holds("impact/many.txt", &output);
    let all = run(&[&["impact", "--from", from, "-o", "json"][..], &delete].concat()).json();
    assert_eq!(all["summary"]["objects"], 103);
}

#[test]
fn an_empty_state_is_one_too() {
    let folder = TempDir::new().unwrap();
    let from = folder.path().to_str().unwrap();
    let output = run(&["impact", "--from", from, "-f", QUICKSTART]).clean();
    assert!(output.starts_with(
        "Applying 17 objects changes no existing effective policy; adds policies to 3 HTTPRoutes"
    ));
    let gone = run(&["impact", "--from", from, "--delete", "gateway/edge"]).failure();
    assert!(
        gone.contains("there are no Gateways in namespace"),
        "{gone}"
    );
}

/// A new listener takes requests from a less specific one, and from its policies.
#[test]
fn a_more_specific_listener_takes_requests_from_policies() {
    let what = "tests/commands/impact/isolation-after/gateway.yaml --from tests/commands/impact/isolation -n web";
    let lines = [format!("impact -f {what}"), format!("check {what}")];
    holds("impact/isolation.txt", &session(&lines));
}

/// A rule without a policy that takes requests of a rule with one takes its protection away.
#[test]
fn requests_that_another_rule_takes_lose_its_protection() {
    let state = "tests/commands/impact/requests";
    let lines: Vec<String> = ["another-route", "exact"]
        .map(|name| format!("tests/commands/impact/requests-after/{name}.yaml"))
        .iter()
        .flat_map(|file| {
            [
                format!("impact -f {file} --from {state} -n web"),
                format!("check {file} --from {state} -n web"),
            ]
        })
        .collect();
    holds("impact/requests.txt", &session(&lines));
}

/// A protection that all requests had is lost, too, if requests come by a new path without it.
#[test]
fn a_new_path_without_a_protection_is_a_loss() {
    let state = "--from tests/commands/impact/new-paths -n web";
    let after = "tests/commands/impact/new-paths-after";
    holds(
        "impact/new-paths.txt",
        &session(&[
            &format!("impact -f {after}/route.yaml {state}"),
            &format!("impact -f {after}/route.yaml {state} -o markdown"),
            &format!("check {after}/route.yaml {state} --deny protection-lost"),
            &format!("impact -f {after}/set.yaml {state}"),
            &format!("check {after}/set.yaml {state}"),
        ]),
    );
}

/// A policy on a port of a Service applies to the requests that come to the port, so a rule that names another port loses it, and so
/// does a Service that gives its name to another port.
#[test]
fn requests_to_another_port_lose_what_the_port_had() {
    let state = "--from tests/commands/impact/backend-port -n web";
    let after = "tests/commands/impact/backend-port-after";
    holds(
        "impact/backend-port.txt",
        &session(&[
            &format!("impact -f {after}/route.yaml {state}"),
            &format!("impact -f {after}/service.yaml {state}"),
            &format!("check {after}/route.yaml {state}"),
            // A part of the requests goes to a Service without the policy.
            &format!("check {after}/two-backends.yaml {state}"),
            // They fail then, so they lose no protection.
            &format!("impact --delete service/pay {state}"),
        ]),
    );
}

/// If a class is deleted, no controller serves its Gateways; if a Namespace is deleted, policies elsewhere may lose their
/// target.
#[test]
fn deletions_say_what_is_left_behind() {
    let state = "--from tests/commands/impact/left-behind";
    holds(
        "impact/left-behind.txt",
        &session(&[
            &format!("impact --delete gatewayclass/eg {state}"),
            &format!("impact --delete namespace/web {state}"),
        ]),
    );
}

/// A policy may take the place of others without setting anything else than before.
#[test]
fn a_policy_that_replaces_others_changes_something() {
    let what = "impact -f tests/commands/impact/replaces-after.yaml --from tests/commands/impact/replaces -n web";
    holds("impact/replaces.txt", &session(&[what]));
}

/// If a listener is renamed or removed, or a Gateway, grant or backend is deleted, the changes to requests come first.
#[test]
fn routes_that_lose_traffic_come_first() {
    let state = "--from tests/commands/impact/traffic -n web";
    let lines: Vec<String> = [
        "impact -f tests/commands/impact/traffic-after/renamed.yaml",
        "check tests/commands/impact/traffic-after/renamed.yaml",
        "impact -f tests/commands/impact/traffic-after/removed.yaml",
        "impact -f tests/commands/impact/traffic-after/moved.yaml",
        "impact -f tests/commands/impact/traffic-after/route-elsewhere.yaml",
        "check tests/commands/impact/traffic-after/moved.yaml --notices",
        "impact --delete gateway/edge",
        "impact --delete referencegrant/from-web -n data",
        "impact --delete service/api",
    ]
    .iter()
    .map(|what| {
        if what.contains(" -n ") {
            format!("{what} --from tests/commands/impact/traffic")
        } else {
            format!("{what} {state}")
        }
    })
    .collect();
    holds("impact/traffic.txt", &session(&lines));
}

/// Labels of a Namespace, a grant or a broken reference change requests far from them.
#[test]
fn requests_elsewhere_are_looked_at() {
    let at = |name: &str| format!("--from tests/commands/impact/elsewhere/{name}/state.yaml");
    let file = |name: &str| format!("tests/commands/impact/elsewhere/{name}.yaml");
    let lines = [
        format!("impact {} {}", file("sets/labels"), at("sets")),
        format!("check {} {}", file("sets/labels"), at("sets")),
        format!("impact {} {}", file("routes/labels"), at("routes")),
        format!("check {} {}", file("routes/labels"), at("routes")),
        format!(
            "impact --delete referencegrant/g -n certs {}",
            at("certificate")
        ),
        format!("impact {} {}", file("rejected/typo"), at("rejected")),
        format!("impact {} {}", file("selected/labels"), at("selected")),
        format!("check {} {}", file("selected/labels"), at("selected")),
        format!("impact {} {}", file("kept-out/labels"), at("kept-out")),
    ];
    holds("impact/elsewhere.txt", &session(&lines));
}

/// Reports what the API server would refuse or drop in the manifests, as `check` does.
#[test]
fn fields_missing_from_the_crd_are_reported() {
    let (state, files) = (
        "tests/commands/impact/definitions",
        "tests/commands/impact/definitions-after.yaml",
    );
    let impact = format!("impact -f {files} --from {state} -n shop");
    let check = format!("check {files} --from {state} -n shop");
    let policies = format!("policies --from {files} -n shop");
    let describe = format!("describe securitypolicy/cart --from {files} -n shop");
    holds(
        "impact/definitions.txt",
        &session(&[&impact, &check, &policies, &describe]),
    );
    let answer = run(&[
        "impact", "-f", files, "--from", state, "-n", "shop", "-o", "json",
    ]);
    let answer = answer.json();
    fits(&answer, &answer::schema::<Impact>());
    let codes: Vec<&str> = answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"field-unknown") && codes.contains(&"version-unknown"));
}
