//! Messages for arbitrary user input.

use std::sync::Arc;

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::finding::{Code, Finding};
use attache::engine::admission::request::{Operation, Request};
use attache::engine::admission::review::review;
use attache::engine::admission::verdict::{Verdict, escape};
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::state::snapshot::{Change, Snapshot};
use proptest::prelude::*;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::events::{GROUP, empty, object};

fn gateway() -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "ns", "name": "g0"},
        "spec": {"gatewayClassName": "c", "listeners": [{"name": "l0", "port": 80}]},
    })
}

fn route() -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": "ns", "name": "r"},
        "spec": {"parentRefs": [{"name": "g0"}], "rules": [{"name": "r"}, {}]},
    })
}

fn policy(name: &str) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Newest",
        "metadata": {"namespace": "ns", "name": name},
        "spec": {"targetRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g0"}},
    })
}

fn state() -> Snapshot {
    empty().apply(Change::Applied(Arc::new(object(&gateway()))))
}

proptest! {
    #[test]
    fn no_warning_holds_a_control_character_or_breaks_the_budget(
        names in proptest::collection::vec(".{0,260}", 1..30),
    ) {
        let mut snapshot = state();
        for (i, text) in names.iter().enumerate() {
            let mut policy = policy(&format!("{text}{i}"));
            policy["spec"][text] = json!(text);
            snapshot = snapshot.apply(Change::Applied(Arc::new(object(&policy))));
        }
        let value = route();
        let raw = to_raw_value(&value).unwrap();
        let request = Request {
            operation: Operation::Create,
            gk: GroupKind::gateway_api("HTTPRoute"),
            namespace: "ns",
            name: "r",
            subresource: "",
            object: Some(&raw),
            old: None,
        };
        let warnings = review(&snapshot, &request, &Evidence::Cached).warnings();
        prop_assert!(warnings.len() <= 10);
        prop_assert!(warnings.iter().map(|line| line.chars().count()).sum::<usize>() <= 2_000);
        for line in warnings {
            prop_assert!(line.chars().count() <= 256);
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn any_json_in_a_spec_gets_an_answer(text in "[\\[\\]{}\":,a-z0-9 .-]{0,80}") {
        let spec = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let snapshot = state();
        for (group, kind) in [(GROUP, "Newest"), ("gateway.networking.k8s.io", "HTTPRoute"), ("", "Service")] {
            let object = json!({"metadata": {"name": "x", "namespace": "ns"}, "spec": spec});
            let raw = to_raw_value(&object).unwrap();
            let request = Request {
                operation: Operation::Create,
                gk: GroupKind::new(group, kind),
                namespace: "ns",
                name: "x",
                subresource: "",
                object: Some(&raw),
                old: None,
            };
            let verdict = review(&snapshot, &request, &Evidence::Cached);
            prop_assert!(verdict.warnings().iter().all(|line| escape(line) == *line));
        }
    }
}

#[test]
fn rules_of_the_configuration_need_no_crd() {
    let rules = Arc::new(ProfileRules::new(
        Vec::new(),
        testing::builtin().profiles.clone(),
    ));
    let snapshot = Snapshot::new(rules);
    assert!(
        snapshot
            .profile(&GroupKind::gateway_api("BackendTLSPolicy"))
            .is_some()
    );
}

#[test]
fn a_thousand_findings_are_ten_lines_and_the_same_each_time() {
    let route = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart");
    let finding = |i: usize, code| {
        let name = format!("{i:04}-{}", "n".repeat(100));
        let policy = ObjectKey::new(GroupKind::new("p.example.com", "Color"), "shop", name);
        let mut finding = Finding::new(code, &route, policy.to_string());
        let settings: Vec<String> = (0..20).map(|n| format!("setting{n}={i}")).collect();
        finding.settings = settings.into();
        finding
    };
    let mut findings: Vec<Finding> = (0..999).map(|i| finding(i, Code::AffectedBy)).collect();
    findings.push(finding(999, Code::SectionAmbiguous));
    let answer = Verdict::new(findings.clone(), &Evidence::Authoritative).warnings();
    findings.reverse();
    let again = Verdict::new(findings, &Evidence::Authoritative).warnings();
    assert_eq!(answer, again);
    assert!(answer.len() <= 10, "{}", answer.len());
    let characters: usize = answer.iter().map(|line| line.chars().count()).sum();
    assert!(characters <= 2_000, "{characters}");
    assert!(
        answer[0].starts_with("section-ambiguous: "),
        "{}",
        answer[0]
    );
    let last = answer.last().unwrap();
    assert!(
        last.starts_with("and 99") && last.ends_with("attache describe HTTPRoute/cart -n shop"),
        "{last}"
    );
    // Names are complete or missing.
    let is_complete = |line: &String| line.contains(&"n".repeat(100)) || !line.contains('-');
    assert!(
        answer[1..answer.len() - 1]
            .iter()
            .all(|line| is_complete(line) || line.starts_with("affected-by: too long"))
    );
}
