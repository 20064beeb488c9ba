//! `attache policies`.

use std::collections::BTreeSet;
use std::fs;

use attache::answer;
use attache::answer::policies::Policies;
use serde_json::Value;
use tempfile::TempDir;

use crate::examples::{all, named, worked};
use crate::run::{fits, holds, run, session};

const QUICKSTART: &str = "examples/quickstart";

/// A policy on two Gateways, of which one does not exist.
#[test]
fn a_policy_that_is_attached_to_some_targets_says_so() {
    let state = TempDir::new().unwrap();
    for entry in fs::read_dir(QUICKSTART).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, state.path().join(path.file_name().unwrap())).unwrap();
    }
    let policy = "apiVersion: policies.example.com/v1
kind: TimeoutPolicy
metadata: {name: two, namespace: infra}
spec:
  targetRefs:
  - {group: gateway.networking.k8s.io, kind: Gateway, name: edge, sectionName: http}
  - {group: gateway.networking.k8s.io, kind: Gateway, name: gone}
  overrides: {request: 9s}
";
    fs::write(state.path().join("60-two.yaml"), policy).unwrap();
    let from = state.path().to_str().unwrap();
    let answer = run(&["policies", "--from", from, "-n", "infra", "-o", "json"]).json();
    let policies = answer["policies"].as_array().unwrap();
    let two = policies.iter().find(|p| p["policy"]["name"] == "two");
    let two = two.unwrap_or_else(|| panic!("{answer:#}"));
    assert_eq!(two["state"], "PartiallyEnforced", "{two:#}");
    assert_eq!(two["targets"][0]["state"], "Enforced", "{two:#}");
    let reason = "not attached to Gateway infra/gone: ";
    assert!(two["reason"].as_str().unwrap().contains(reason), "{two:#}");
    let table = run(&["policies", "--from", from, "-n", "infra"]).clean();
    assert!(
        table.contains("PartiallyEnforced (1 of 2 targets)"),
        "{table}"
    );
    let described = run(&[
        "describe",
        "timeoutpolicy/two",
        "-n",
        "infra",
        "--from",
        from,
    ])
    .clean();
    assert!(described.contains("PartiallyEnforced: "), "{described}");
    assert!(described.contains(reason), "{described}");
}

#[test]
fn the_quickstart_is_listed() {
    let quick = |arguments: &str| format!("policies --from {QUICKSTART} {arguments}");
    let lines: Vec<String> = [
        "-A",
        "-A -o wide",
        "-n shop",
        "retrypolicies -A",
        "-A --no-headers",
        "-A -o name",
        "-A --summary",
        "-A --sort acts-on",
        "-A --sort age --state enforced,Overridden",
        "--acting-on HTTPRoute/cart -n shop",
        "--acting-on Gateway/edge#https -n infra",
        "--acting-on HTTPRoute/posts#rule-1 -n blog -o name",
        "--acting-on Service/cart -n shop",
        "",
        "-A -l team=edge",
        "-n blog --state Conflicted",
    ]
    .iter()
    .map(|arguments| quick(arguments))
    .collect();
    holds("policies/quickstart.txt", &session(&lines));
}

#[test]
fn programs_read_the_same() {
    let arguments = ["policies", "--from", QUICKSTART, "-A", "-o", "json"];
    let text = run(&arguments).clean();
    assert_eq!(text, run(&arguments).clean());
    holds("policies/quickstart.json", &text);
}

#[test]
fn an_unanswerable_question_is_an_error() {
    let quick = |arguments: &str| format!("policies --from {QUICKSTART} {arguments}");
    let lines: Vec<String> = [
        "httproutes",
        "retrypolici",
        "--state Enforcd",
        "-l a=b=c",
        "--acting-on HTTPRoute",
        "--acting-on HTTPRoute/crat -n shop",
        "--acting-on Gateway/edge#htps -n infra",
        "--acting-on GatewayClass/example#http",
    ]
    .iter()
    .map(|arguments| quick(arguments))
    .collect();
    holds("policies/errors.txt", &session(&lines));
}

#[test]
fn the_worked_examples_are_listed() {
    for example in worked() {
        let list = |output| run(&["policies", "--from", example.from(), "-A", "-o", output]);
        let answer = list("json").json();
        let listed = answer["policies"].as_array().unwrap();
        // Ages change from day to day.
        if listed.iter().any(|policy| !policy["created"].is_null()) {
            holds(
                &format!("policies/{}.json", example.name),
                &list("json").stdout,
            );
        } else {
            holds(
                &format!("policies/{}.txt", example.name),
                &list("wide").all(),
            );
        }
    }
}

/// The command reports the same states as the engine.
#[test]
fn the_command_shows_the_result_of_the_engine() {
    let schema = answer::schema::<Policies>();
    let mut count = 0;
    for example in all() {
        let Some(expected) = example.policies() else {
            continue;
        };
        let answer = run(&["policies", "--from", example.from(), "-A", "-o", "json"]).json();
        fits(&answer, &schema);
        let lines: Vec<String> = answer["policies"]
            .as_array()
            .unwrap()
            .iter()
            .map(line_of)
            .collect();
        assert_eq!(lines, found(&expected), "{}", example.name);
        count += lines.len();
    }
    assert!(count > 100, "the questions are gone");
}

/// `RetryPolicy.example.com ns/name: Overridden, acts on 2`.
fn line_of(policy: &Value) -> String {
    let (name, state) = (named(&policy["policy"]), policy["state"].as_str().unwrap());
    format!("{name}: {state}, acts on {}", policy["actsOn"])
}

fn found(lines: &[String]) -> Vec<String> {
    let mut found: Vec<(String, BTreeSet<String>)> = Vec::new();
    for line in lines {
        if let Some(policy) = line.strip_prefix("  - ") {
            let (name, state) = policy.split_once(": ").unwrap();
            let word = state.split([',', ' ']).next().unwrap();
            // An attached policy without a known effect counts as `NoEffect`.
            let word = if word == "Accepted" { "NoEffect" } else { word };
            found.push((format!("{name}: {word}"), BTreeSet::new()));
        } else if let Some((_, state)) = line
            .trim()
            .strip_prefix("on ")
            .and_then(|on| on.split_once(": "))
        {
            // The engine's state is that on the targets to which the policy is attached.
            let unattached = ["Conflicted", "Rejected", "Invalid", "TargetNotFound"];
            let policy = &mut found.last_mut().unwrap().0;
            if unattached.iter().any(|word| state.starts_with(word)) {
                *policy = policy.replace(": Enforced", ": PartiallyEnforced");
            }
        } else if let Some(places) = line.trim().strip_prefix("acts on: ") {
            let objects = places
                .split(", ")
                .map(|place| place.split('#').next().unwrap());
            found
                .last_mut()
                .unwrap()
                .1
                .extend(objects.map(str::to_owned));
        }
    }
    let lines = found.into_iter();
    lines
        .map(|(line, objects)| format!("{line}, acts on {}", objects.len()))
        .collect()
}

/// The command shows the same acting policies as warnings and conditions.
#[test]
fn the_command_shows_which_policies_act() {
    let mut count = 0;
    for example in worked() {
        for (object, expected) in example.acting() {
            let (kind, path) = object.split_once(' ').unwrap();
            let (namespace, name) = path.split_once('/').unwrap_or(("default", path));
            let object = format!("{kind}/{name}");
            let mut words = vec!["policies", "--from", example.from(), "-o", "json"];
            words.extend(["--acting-on", &object, "-n", namespace]);
            let answer = run(&words).json();
            let policies = answer["policies"].as_array().unwrap().iter();
            let names: Vec<String> = policies.map(|policy| named(&policy["policy"])).collect();
            assert_eq!(names, expected, "{}: {object}", example.name);
            count += 1;
        }
    }
    assert!(count > 20, "the questions are gone");
}

#[test]
fn sections_are_distinguished() {
    let all = worked();
    for (example, place, expected) in [
        (
            "w05-sections",
            "Gateway/my-gateway#https",
            "my-color-policy",
        ),
        ("w05-sections", "Gateway/my-gateway#http", ""),
        ("w10-example-2-atomic", "Service/b1#80", "p1 p2 p3"),
        ("w10-example-2-atomic", "HTTPRoute/r4#rule-1", "p3"),
        // A direct policy on the whole object still applies to sections without their own.
        ("w19-section-and-whole", "HTTPRoute/http-app-1#bar", "bar"),
        ("w19-section-and-whole", "HTTPRoute/http-app-1#baz", "whole"),
    ] {
        let example = all.iter().find(|e| e.name == example).unwrap();
        let words = [
            "policies",
            "--from",
            example.from(),
            "-o",
            "name",
            "-n",
            "ns",
        ];
        let output = run(&[&words[..], &["--acting-on", place]].concat()).clean();
        let names = output.lines().map(|line| line.split_once('/').unwrap().1);
        assert_eq!(names.collect::<Vec<&str>>().join(" "), expected, "{place}");
    }
}

#[test]
fn nothing_is_hidden() {
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(crate::run::root().join(QUICKSTART)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let odd = include_str!("policies/odd.yaml");
    fs::write(folder.path().join("60-odd.yaml"), odd).unwrap();
    let from = folder.path().to_str().unwrap();
    let output = run(&["policies", "--from", from, "-n", "odd", "-o", "wide"]).all();
    holds("policies/odd.txt", &output);
    let output = run(&["policies", "--from", from, "-n", "odd", "-o", "json"]).clean();
    assert!(!output.contains('\u{1b}'));
    holds("policies/odd.json", &output);
    let names = run(&["policies", "--from", from, "-n", "odd", "-o", "name"]).clean();
    let count = run(&["policies", "--from", from, "-n", "odd", "--no-headers"]).clean();
    assert_eq!(
        names.lines().count(),
        count.lines().count(),
        "{names}{count}"
    );
    let labelled = ["-l", "team in (a, b),!old,tier!=front"];
    let output = run(&[
        &["policies", "--from", from, "-A", "-o", "name"][..],
        &labelled,
    ]
    .concat());
    assert_eq!(
        output.clean(),
        "retrypolicy.policies.example.com/dangling\n"
    );
}

#[test]
fn an_empty_state_has_none() {
    let folder = TempDir::new().unwrap();
    let from = folder.path().to_str().unwrap();
    let text = run(&["policies", "--from", from, "-A"]);
    assert_eq!((text.code, &*text.stdout), (0, ""));
    assert!(
        text.stderr.contains("there are no policies"),
        "{}",
        text.stderr
    );
    let json = run(&["policies", "--from", from, "-A", "-o", "json"]).json();
    fits(&json, &answer::schema::<Policies>());
    assert_eq!(json["summary"]["total"], 0);
    assert_eq!(
        run(&["policies", "--from", from, "-A", "-o", "name"]).clean(),
        ""
    );
}
