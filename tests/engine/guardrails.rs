//! Runs every case in `tests/guardrails/`: requests on the state in `examples/guardrails/cluster`, and what the guardrails
//! say. A case has the guardrails of `examples/guardrails`, or its own in `guardrails.yaml`, and may add to the state.
//!
//! `ATTACHE_BLESS=1` writes the actual answers into `expected.yaml`; read the difference before you commit it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache::config::Configuration;
use attache::engine::admission::disclosure::{DisclosureLevels, Subject, conceal};
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::review::states;
use attache::engine::admission::settings::Guard as _;
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::ObjectKey;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache_guardrails::{GuardrailFile, Guardrails};
use jiff::civil::date;
use serde_json::{Value, json};
use testing::cases::{asked, documents, hold, nothing, object, root};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/guardrails")
}

fn yaml_in(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    files
}

fn guardrails(case: &Path) -> Guardrails {
    let own = case.join("guardrails.yaml");
    let files = if own.exists() {
        vec![own]
    } else {
        yaml_in(&examples())
    };
    let all = files.iter().flat_map(|file| documents(file));
    let all: Vec<GuardrailFile> = all
        .map(|document| serde_json::from_value(document).unwrap())
        .collect();
    Guardrails::compile(&all).unwrap()
}

fn state(case: &Path) -> Snapshot {
    let own = case.join("state.yaml");
    let mut files = yaml_in(&examples().join("cluster"));
    files.extend(own.exists().then_some(own));
    let documents = files.iter().flat_map(|file| documents(file));
    documents.fold(nothing(&Configuration::default()), |snapshot, document| {
        snapshot.apply(Change::Applied(Arc::new(object(&document))))
    })
}

/// The findings of the guardrails on one request, as text.
fn said(guardrails: &Guardrails, snapshot: &Snapshot, about: &Value) -> String {
    let texts = |name: &str| -> Vec<String> {
        let all = about[name].as_array().into_iter().flatten();
        all.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let subject = Subject {
        user: about["user"].as_str().unwrap_or_default().to_owned(),
        groups: texts("groups"),
        ..Subject::default()
    };
    let verdict = asked(about, |request| {
        let states = states(snapshot, request).unwrap();
        let today = date(2026, 12, 1);
        let findings = guardrails.findings(&states, request.operation, Some(&subject), today);
        let again = guardrails.findings(&states, request.operation, Some(&subject), today);
        assert_eq!(findings, again, "the same question, the same answer");
        let hidden = texts("hidden");
        let hints = findings.iter().filter_map(|finding| finding.hint.as_ref());
        let hinted = hints.flat_map(|hint| hint.mentioned.iter());
        let hidden: BTreeSet<ObjectKey> = hinted
            .filter(|policy| hidden.contains(&policy.path()))
            .cloned()
            .collect();
        let verdict = Verdict::new(findings, &Evidence::Authoritative);
        conceal(
            verdict,
            request.namespace,
            &hidden,
            &DisclosureLevels::default(),
        )
    });
    let mut text = format!("# {}\n", about["about"].as_str().unwrap());
    writeln!(text, "allowed: {}", verdict.allowed()).unwrap();
    for cause in verdict.causes() {
        writeln!(text, "- refused: {:?}", cause.message).unwrap();
    }
    for line in verdict.warnings() {
        writeln!(text, "- warning: {line:?}").unwrap();
    }
    text
}

#[test]
fn every_case_gives_the_expected_answer() {
    hold(&root("guardrails"), |case| {
        let (guardrails, snapshot) = (guardrails(case), state(case));
        let requests = documents(&case.join("requests.yaml"));
        let answers = requests.iter().map(|one| said(&guardrails, &snapshot, one));
        answers.collect::<Vec<String>>().join("---\n")
    });
}

/// A guardrail that cannot be used is named, with the field.
#[test]
fn what_is_wrong_with_a_guardrail() {
    let wrong = |spec: &str| {
        let text = format!(
            "metadata: {{name: x}}\nspec:\n  policyKind: {{group: g, kind: K}}\n  action: deny\n  {spec}"
        );
        let file: GuardrailFile = serde_saphyr::from_str(&text).unwrap();
        Guardrails::compile(&[file]).unwrap_err().to_string()
    };
    for (spec, why) in [
        (
            "rules: [{require: 'effective.spec.a =='}]",
            "guardrail \"x\": spec.rules[0].require: column ",
        ),
        (
            "rules: [{require: 'true'}, {require: 'efective.spec.a'}]",
            "guardrail \"x\": spec.rules[1].require: there is no variable \"efective\"",
        ),
        (
            "rules: [{require: 'true', message: 'name'}]",
            "guardrail \"x\": spec.rules[0].message: there is no variable \"name\"",
        ),
        (
            "rules: [{require: 'true', message: \"'on ' + gateway.nam\"}]",
            "guardrail \"x\": spec.rules[0].message: gateway has no field \"nam\"; did you mean \"name\"?",
        ),
        (
            "rules: [{require: 'true', message: \"'for ' + request.userInfo.user\"}]",
            "guardrail \"x\": spec.rules[0].message: request.userInfo has no field \"user\"; there are username, groups, uid",
        ),
        (
            "rules: [{require: 'true', message: \"'port ' + listener.port\"}]",
            "guardrail \"x\": spec.rules[0].message: a string and a number cannot be added; write string(listener.port)",
        ),
        (
            "rules: [{require: 'true', message: 'listener.port'}]",
            "guardrail \"x\": spec.rules[0].message: its result is a number; a message must be a string",
        ),
        (
            "rules: [{require: 'policies.exists(one, one.attachedTo.sectoin == \"\")'}]",
            "guardrail \"x\": spec.rules[0].require: one.attachedTo has no field \"sectoin\"; did you mean \"section\"?",
        ),
        (
            "rules: [{require: 'policies[0].kinds == \"X\"'}]",
            "guardrail \"x\": spec.rules[0].require: policies[…] has no field \"kinds\"; did you mean \"kind\"?",
        ),
        (
            "rules: [{require: 'has(before.protection)'}]",
            "guardrail \"x\": spec.rules[0].require: before has no field \"protection\"; did you mean \"protections\"?",
        ),
        (
            "rules: []",
            "guardrail \"x\": spec.rules: it needs at least one rule",
        ),
    ] {
        let answer = wrong(spec);
        assert!(answer.starts_with(why), "{answer}");
    }
    for (more, why) in [
        (
            "match: {kinds: [Route]}",
            "guardrail \"x\": spec.match.kinds[0]: \"Route\" is not a kind",
        ),
        (
            "match: {gateways: [{}]}",
            "guardrail \"x\": spec.match.gateways[0]: it is empty",
        ),
        (
            "except: [{target: {namespace: a, name: b}, until: soon, reason: c}]",
            "guardrail \"x\": spec.except[0].until: \"soon\" is not a date",
        ),
        (
            "except: [{target: {namespace: a, name: b}, until: '2027-01-01', reason: ''}]",
            "guardrail \"x\": spec.except[0].reason: it is empty",
        ),
    ] {
        let answer = wrong(&format!("rules: [{{require: 'true'}}]\n  {more}"));
        assert!(answer.starts_with(why), "{answer}");
    }
}

/// Work that one request cannot pay for is said, not done.
#[test]
fn an_expression_may_not_take_all_the_time_there_is() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let begin = names.map(|name| format!("effective.sources.all({name}, "));
    let begin = begin.concat();
    let nested = format!("{begin}a != b{}", ")".repeat(names.len()));
    let text = format!(
        "metadata: {{name: slow}}\nspec:\n  policyKind: {{group: gateway.envoyproxy.io, kind: SecurityPolicy}}\n  action: deny\n  rules: [{{require: '{nested}'}}]"
    );
    let file: GuardrailFile = serde_saphyr::from_str(&text).unwrap();
    let guardrails = Guardrails::compile(&[file]).unwrap();
    let request = &documents(&root("guardrails").join("authentication/requests.yaml"))[5];
    let answer = said(&guardrails, &state(Path::new("none")), request);
    assert!(
        answer.contains("computing the effect on guardrails exceeds the work limit of a review; run attache guardrails"),
        "{answer}"
    );
    assert!(answer.contains("allowed: true"), "{answer}");
}

/// A change on a Gateway concerns all of its routes, and the fuel of a request is enough for them.
#[test]
fn a_change_on_a_gateway_with_thousands_of_routes_is_judged() {
    const ROUTES: usize = 10_000;
    let route = |i: usize| {
        object(&json!({
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": format!("r{i}"), "namespace": "shop"},
            "spec": {
                "parentRefs": [{"name": "public", "namespace": "infra"}],
                "hostnames": [format!("h{i}.example.com")],
                "rules": [{"backendRefs": [{"name": "cart", "port": 80}]}],
            },
        }))
    };
    let snapshot = (0..ROUTES).fold(state(Path::new("none")), |snapshot, i| {
        snapshot.apply(Change::Applied(Arc::new(route(i))))
    });
    let request = &documents(&root("guardrails").join("authentication/requests.yaml"))[0];
    let answer = said(&guardrails(Path::new("none")), &snapshot, request);
    assert!(answer.contains("is broken by 10001 HTTPRoutes"), "{answer}");
}

/// The findings of the webhook on a new guardrail in the state of the examples, beside these
/// objects.
fn applied(spec: &Value, more: &[Value]) -> Vec<String> {
    let snapshot = more.iter().fold(state(Path::new("none")), |snapshot, one| {
        snapshot.apply(Change::Applied(Arc::new(object(one))))
    });
    let about = json!({
        "operation": "CREATE",
        "object": {
            "apiVersion": "attache.dev/v1alpha1",
            "kind": "Guardrail",
            "metadata": {"name": "new"},
            "spec": spec,
        },
    });
    asked(&about, |request| {
        let findings = Guardrails::default().on_rule(&snapshot, request, date(2026, 12, 1));
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    })
}

/// A rule that cannot be judged is not broken.
#[test]
fn a_new_guardrail_that_cannot_be_judged_says_why() {
    let spec = json!({
        "policyKind": {"group": "gateway.envoyproxy.io", "kind": "SecurityPolicy"},
        "match": {"gateways": [{"name": "public"}]},
        "rules": [{"require": "effective.spec.jwt.providers.size() > 1"}],
        "action": "deny",
    });
    assert_eq!(
        applied(&spec, &[]),
        [
            "1 of 2 targets break it now: HTTPRoute shop/cart",
            "it cannot be judged for 1 of 2 targets now: HTTPRoute shop/status: there is no field \"jwt\"; test it with has() first",
        ]
    );
}

/// Anybody could write them before.
#[test]
fn applying_a_guardrail_reports_existing_exceptions() {
    let route = json!({
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {
            "name": "status",
            "namespace": "shop",
            "annotations": {"attache.dev/guardrail-exceptions": "new until 2099-12-31: planted"},
        },
        "spec": {
            "parentRefs": [{"name": "public", "namespace": "infra"}],
            "hostnames": ["status.example.com"],
        },
    });
    let mut spec = json!({"rules": [{"require": "true"}], "action": "deny"});
    assert_eq!(applied(&spec, std::slice::from_ref(&route)), [""; 0]);
    spec["exceptBy"] = json!({"groups": ["platform"]});
    assert_eq!(
        applied(&spec, &[route]),
        [
            "1 target has an exception in an annotation already, and attache does not know who wrote it: HTTPRoute shop/status"
        ]
    );
}

/// The page lists what rules may look for.
#[test]
fn the_reference_lists_the_protections() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/guardrails.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, listed) = page.split_once("## Protections").unwrap();
    let (listed, _) = listed.split_once("## ").unwrap();
    let listed = listed
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.strip_suffix('`'));
    let snapshot = nothing(&Configuration::default());
    let profiles = snapshot
        .policy_kinds()
        .filter_map(|kind| snapshot.profile(kind));
    let known = profiles.flat_map(|profile| profile.protects.iter());
    let known: BTreeSet<String> = known.map(|one| one.name.to_string()).collect();
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), known);
}
