//! CRDs that are expensive to read: the work is bounded, and the rules of one CRD share one bound.

use std::time::{Duration, Instant};

use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::{Node, Object};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// Generous: tests are not optimized and run in parallel.
const MOST: Duration = Duration::from_secs(2);

/// A CRD with these schemas for `spec`, the stored version first.
fn crd(specs: &[Value]) -> Value {
    let versions = specs.iter().enumerate().map(|(i, spec)| {
        json!({"name": format!("v{i}"), "served": true, "storage": i == 0,
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "testpolicies.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
                 "names": {"kind": "TestPolicy", "plural": "testpolicies"},
                 "versions": versions.collect::<Vec<_>>()},
    })
}

fn rules(texts: &[&str]) -> Value {
    texts.iter().map(|text| json!({"rule": text})).collect()
}

/// A spec with these validation rules on its targets, and its settings.
fn spec(on_list: &[&str]) -> Value {
    let text = json!({"type": "string"});
    let entry =
        json!({"type": "object", "properties": {"group": text, "kind": text, "name": text}});
    let list = json!({"type": "array", "items": entry, "x-kubernetes-validations": rules(on_list)});
    json!({"type": "object", "properties": {"targetRefs": list, "timeout": text}})
}

/// Reads a CRD within the time limit.
#[track_caller]
fn is_read_in_time(what: &str, specs: &[Value]) {
    let raw = to_raw_value(&crd(specs)).unwrap();
    let start = Instant::now();
    let object = Object::from_json(&GroupKind::CRD, &raw).unwrap();
    let took = start.elapsed();
    let Node::Crd(crd) = &object.node else {
        panic!("no definition");
    };
    assert!(crd.facts.is_policy);
    eprintln!("{what}: {} kB in {took:?}", raw.get().len() / 1_000);
    assert!(took < MOST, "{what}: {took:?}");
}

fn names(many: usize) -> Vec<String> {
    (0..many).map(|i| format!("Kind{i}")).collect()
}

#[test]
fn large_enums() {
    let mut enums = spec(&[]);
    let parts = &mut enums["properties"]["targetRefs"]["items"]["properties"];
    parts["kind"]["enum"] = json!(names(25_000));
    parts["group"]["enum"] = json!(names(25_000));
    parts["sectionName"] = json!({"type": "string", "enum": names(2_000)});
    is_read_in_time("enums", &[enums]);
}

#[test]
fn many_long_rules() {
    let list: Vec<String> = names(1_500)
        .iter()
        .map(|name| format!("'{name}'"))
        .collect();
    let long = format!("self.all(r, r.kind in [{}])", list.join(","));
    assert!(long.len() > 15_000 && long.len() < 20_000);
    is_read_in_time("long rules", &[spec(&vec![&*long; 500])]);
    let dots = format!("self.{} == 1", "__dot__".repeat(2_800));
    is_read_in_time("escapes", &[spec(&vec![&*dots; 50])]);
    let deep = format!("{}true{}", "(".repeat(9_000), ")".repeat(9_000));
    is_read_in_time("deep rules", &[spec(&vec![&*deep; 500])]);
}

#[test]
fn rules_that_do_much() {
    let ones = vec!["1"; 90].join(",");
    let each = |body: &str| {
        format!(
            "self.all(r, r.kind in ['A', 'B'] && [{ones}].all(a, [{ones}].all(b, [{ones}].all(c, {body}))))"
        )
    };
    let busy = each("a + b == c + 1 || r.kind == 'A'");
    is_read_in_time("busy rules", &[spec(&vec![&*busy; 500])]);
    let text = "a".repeat(4_000);
    let looks = each(&format!(
        "'{text}'.contains('{text}b') || '{text}'.size() == 1 || '{text}c' == '{text}d'"
    ));
    is_read_in_time("long texts", &[spec(&vec![&*looks; 40])]);
}

#[test]
fn long_names_over_many_maps() {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let maps: serde_json::Map<_, _> = names(3_000)
        .into_iter()
        .map(|name| (name, map.clone()))
        .collect();
    let body = json!({"type": "object", "properties": {"x".repeat(200_000): {"type": "object", "properties": maps}}});
    let mut legacy = spec(&[]);
    legacy["properties"]["defaults"] = body.clone();
    legacy["properties"]["overrides"] = body;
    is_read_in_time("maps", &[legacy]);
}

#[test]
fn many_versions() {
    let rule = "self.all(r, r.kind in ['A', 'B', 'C', 'D'] || r.kind == 'E')";
    let one = spec(&vec![rule; 100]);
    is_read_in_time("versions", &vec![one; 100]);
}

#[test]
fn a_crd_with_too_many_values_is_not_read() {
    let mut enums = spec(&[]);
    enums["properties"]["x"] = json!({"enum": names(60_000)});
    let raw = to_raw_value(&crd(&[enums])).unwrap();
    let why = Object::from_json(&GroupKind::CRD, &raw).unwrap_err();
    assert_eq!(why.to_string(), "spec has more than 60000 values");
}
