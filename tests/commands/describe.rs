//! `attache describe`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use attache::answer::description::{Description, Descriptions};
use attache::answer::schema;
use tempfile::TempDir;

use crate::examples::{all, named, worked};
use crate::run::{fits, holds, run, run_with, session};

const QUICKSTART: &str = "examples/quickstart";

fn quick(arguments: &[&str]) -> String {
    let lines: Vec<String> = arguments
        .iter()
        .map(|arguments| format!("describe {arguments} --from {QUICKSTART}"))
        .collect();
    session(&lines)
}

#[test]
fn targets_are_described() {
    let output = quick(&[
        "httproute/cart -n shop",
        "httproute cart -n shop",
        "HTTPRoutes.v1.gateway.networking.k8s.io/cart#checkout -n shop",
        "gtw/edge -n infra",
        "gtw/edge#https -n infra",
        "gc/example",
        "ns/shop",
        "svc/cart -n shop",
        "httproutes -A",
        "externalservice.networking.acme.io/foo.com",
    ]);
    holds("describe/targets.txt", &output);
}

/// The description of a port has only the routes to that port, and a policy on one listener or route is not on all
/// paths.
#[test]
fn ports_and_listeners_are_described_by_what_concerns_them() {
    let state = "--from tests/commands/describe/ports.yaml -n ns";
    let lines: Vec<String> = [
        "httproute/cart",
        "svc/cart#http",
        "svc/cart#admin",
        "gtw/edge",
    ]
    .iter()
    .map(|what| format!("describe {what} {state}"))
    .collect();
    holds("describe/ports.txt", &session(&lines));
}

/// If two listeners share a port, the one with the more specific hostname takes the requests that
/// it matches.
#[test]
fn a_listener_leaves_requests_to_a_more_specific_one() {
    let state = "--from tests/commands/describe/isolation -n web";
    let lines: Vec<String> = [
        "describe httproute/shop",
        "describe httproute/by-name",
        "policies",
        "explain http://shop.example.com/",
    ]
    .iter()
    .map(|what| format!("{what} {state}"))
    .chain(["check tests/commands/describe/isolation".to_owned()])
    .collect();
    holds("describe/isolation.txt", &session(&lines));
}

/// Policies that filters of rules name apply there; those that are not there are reported.
#[test]
fn filters_name_policies() {
    let state = "--from tests/commands/describe/filters -n shop";
    let lines: Vec<String> = [
        "describe httproute/cart",
        "policies -o wide",
        "explain http://cart.example.com/open",
    ]
    .iter()
    .map(|what| format!("{what} {state}"))
    .chain(["check tests/commands/describe/filters".to_owned()])
    .collect();
    holds("describe/filters.txt", &session(&lines));
}

/// Paths on which no policy of a kind is in force are shown beside those on which one is.
#[test]
fn paths_without_a_policy_are_shown() {
    let state = "--from tests/commands/describe/open-paths -n web";
    let lines: Vec<String> = [
        "describe httproute/blog",
        "describe httproute/shop",
        "policies",
    ]
    .iter()
    .map(|what| format!("{what} {state}"))
    .chain(["check tests/commands/describe/open-paths".to_owned()])
    .collect();
    holds("describe/open-paths.txt", &session(&lines));
}

/// A policy that the API server refuses is not in force, and says why.
#[test]
fn policies_that_the_api_server_refuses_are_not_in_force() {
    let state = "--from tests/commands/check/refused -n shop";
    let lines: Vec<String> = [
        "policies",
        "describe limitpolicy/modes",
        "describe httproute/cart",
        "impact --delete limitpolicy/modes",
    ]
    .iter()
    .map(|what| format!("{what} {state}"))
    .collect();
    holds("describe/refused.txt", &session(&lines));
}

/// The reason why a policy is not attached to a target is that of the finding, with what to write.
#[test]
fn a_policy_that_is_not_attached_says_what_to_write() {
    let state = "--from tests/commands/describe/reasons.yaml -n shop";
    let lines: Vec<String> = [
        "policies -o wide",
        "describe securitypolicy/no-group",
        "describe clienttrafficpolicy/other-case",
        "describe backendtlspolicy/port-by-number",
        "describe httproute/cart",
        "policies HTTPRoute",
    ]
    .iter()
    .map(|what| format!("{what} {state}"))
    .chain(["check tests/commands/describe/reasons.yaml".to_owned()])
    .collect();
    holds("describe/reasons.txt", &session(&lines));
}

/// If no listener of a Gateway is accepted, each has its own reason, and each counts.
#[test]
fn each_listener_that_is_not_accepted_has_its_reason() {
    let lines = [
        "gateway/different",
        "gateway/different#https",
        "gateway/alike",
        "gateway/no-class",
        "securitypolicy/on-different",
    ]
    .map(|what| {
        format!("describe {what} --from tests/commands/describe/refused-listeners.yaml -n infra")
    });
    holds("describe/refused-listeners.txt", &session(&lines));
}

/// Nobody knows to what a policy applies that cannot be read.
#[test]
fn policies_that_could_not_be_read_are_named() {
    let lines = [
        "httproute/cart",
        "httproute/pay",
        "namespace/shop",
        "httproute/cart -o jsonpath={.unread}",
    ]
    .map(|what| format!("describe {what} --from tests/commands/describe/unread.yaml -n shop"));
    holds("describe/unread.txt", &session(&lines));
}

/// A group distinguishes kinds of the same name; the group of the core API is written `core`.
#[test]
fn a_kind_of_the_core_group_has_a_name_of_its_own() {
    let lines = ["httproute/no-version", "httproute.core/no-version"]
        .map(|what| format!("describe {what} --from tests/commands/check/headers -n shop"));
    holds("describe/kinds-of-one-name.txt", &session(&lines));
}

#[test]
fn objects_above_routes_are_described_route_by_route() {
    let lines = [
        "gateway/public",
        "gateway/partner",
        "gateway/public --problems",
        "gateways,httproutes -A --problems",
        "httproute/catalog --problems",
        "namespace/shop",
        "gatewayclass/eg",
    ]
    .map(|what| format!("describe {what} --from tests/commands/estate"));
    holds("describe/gateways.txt", &session(&lines));
}

#[test]
fn policies_and_their_kinds_are_described() {
    let output = quick(&[
        "retrypolicy/edge-retries -n infra",
        "timeoutpolicies -A",
        "kind/timeoutpolicy",
    ]);
    holds("describe/policies.txt", &output);
}

#[test]
fn an_object_that_cannot_be_described_is_an_error() {
    let output = quick(&[
        "httproute/crt -n shop",
        "httproute/cart -n blog",
        "httproute/cart#chekout -n shop",
        "htproute/cart",
        "retrypolicy/nobody -n infra",
        "kind/httproute",
        "deployment/cart -n shop",
        "httproute/cart -A",
        "httproutes -n infra",
        "httproute/",
    ]);
    holds("describe/errors.txt", &output);
}

#[test]
fn workloads_are_described_by_the_services_that_lead_to_them() {
    let folder = TempDir::new().unwrap();
    for file in fs::read_dir(QUICKSTART).unwrap() {
        let file = file.unwrap().path();
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let workloads = Path::new("tests/commands/describe/workloads.yaml");
    fs::copy(workloads, folder.path().join("60-workloads.yaml")).unwrap();
    let from = folder.path().to_str().unwrap();
    let outputs: Vec<String> = ["deploy/cart", "po/cart-0", "sts/lonely", "svc/cart"]
        .iter()
        .map(|what| {
            let ran = run(&["describe", what, "-n", "shop", "--from", from]);
            format!("$ attache describe {what} -n shop\n{}", ran.all())
        })
        .collect();
    holds("describe/workloads.txt", &outputs.join("\n"));
}

#[test]
fn programs_read_the_same() {
    let described = schema::<Description>();
    for (name, what) in [
        ("route", "httproute/cart -n shop"),
        ("policy", "timeoutpolicy/edge-timeouts -n infra"),
        ("kind", "kind/RetryPolicy"),
    ] {
        let line = format!("describe {what} --from {QUICKSTART} -o json");
        let words: Vec<&str> = line.split_whitespace().collect();
        let text = run(&words).clean();
        assert_eq!(text, run(&words).clean());
        holds(&format!("describe/{name}.json"), &text);
        fits(&serde_json::from_str(&text).unwrap(), &described);
    }
    let many = [
        "describe",
        "httproutes",
        "-A",
        "-o",
        "json",
        "--from",
        QUICKSTART,
    ];
    fits(&run(&many).json(), &schema::<Descriptions>());
}

#[test]
fn manifests_are_read_from_standard_input() {
    let mut manifests = String::new();
    for file in [
        "10-policy-kinds",
        "20-namespaces",
        "30-gateway",
        "40-shop",
        "50-policies",
    ] {
        let text = fs::read_to_string(format!("{QUICKSTART}/{file}.yaml")).unwrap();
        manifests.push_str("---\n");
        manifests.push_str(&text);
    }
    let arguments = ["describe", "httproute/cart", "-n", "shop", "--from", "-"];
    let config = ["--config", "examples/quickstart/attache.yaml"];
    let ran = run_with(&[&arguments[..], &config[..]].concat(), &manifests);
    let from_files = run(&[
        "describe",
        "httproute/cart",
        "-n",
        "shop",
        "--from",
        QUICKSTART,
    ]);
    assert_eq!(ran.clean(), from_files.clean());
}

#[test]
fn the_worked_examples_are_described() {
    for example in worked() {
        let mut output = String::new();
        for kind in ["gateways", "httproutes", "services"] {
            let ran = run(&["describe", kind, "-A", "--from", example.from()]);
            writeln!(output, "$ attache describe {kind} -A\n{}", ran.all()).unwrap();
        }
        holds(&format!("describe/{}.txt", example.name), &output);
    }
}

/// `describe` shows the same acting policies as the engine: warnings, conditions and counts use one set.
#[test]
fn describe_and_warnings_name_the_same_policies() {
    let mut asked = 0;
    for example in all() {
        for (object, acting) in example.acting() {
            let (word, namespace) = words(&object);
            let mut arguments = vec!["describe", &word, "-o", "json", "--from", example.from()];
            arguments.extend(namespace.iter().flat_map(|ns| ["-n", ns]));
            let output = run(&arguments).json();
            let effective = output["effective"].as_array().unwrap();
            if effective.iter().all(|e| e["notAttached"] == true) && !effective.is_empty() {
                // Nothing is in force without requests; a warning mentions the policy nevertheless.
                continue;
            }
            let policies = output["policies"].as_array().unwrap();
            let acts = policies.iter().filter(|policy| {
                match policy["state"].as_str().unwrap() {
                    "Enforced" | "PartiallyEnforced" => true,
                    // A warning mentions it without its settings.
                    "Unknown" => {
                        let reason = policy["reason"].as_str().unwrap_or_default();
                        reason.starts_with("only its controller knows how it merges")
                    }
                    _ => false,
                }
            });
            let mut acts: Vec<String> = acts.map(|policy| named(&policy["policy"])).collect();
            acts.sort();
            acts.dedup();
            let mut wanted = acting.clone();
            wanted.sort();
            assert_eq!(acts, wanted, "{} {object}\n{output:#}", example.name);
            asked += 1;
        }
    }
    assert!(asked > 30, "the questions are gone: {asked}");
}

/// `Gateway infra/edge` as an argument of a command, with its namespace.
fn words(object: &str) -> (String, Option<&str>) {
    let (kind, path) = object.split_once(' ').unwrap();
    match path.split_once('/') {
        Some((namespace, name)) => (format!("{kind}/{name}"), Some(namespace)),
        None => (format!("{kind}/{path}"), None),
    }
}

#[test]
fn a_gateway_whose_controller_does_not_act_on_a_kind_has_none_of_its_settings() {
    let output = session(&[
        "describe httproute/shop -n web --from tests/kinds/routes-with-parents-of-two-controllers/state.yaml".to_owned(),
    ]);
    holds("describe/two-controllers.txt", &output);
}
