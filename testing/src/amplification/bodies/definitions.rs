//! CRDs of policy kinds.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{Hostile, MIB, hostile, many};

/// CRDs.
#[allow(clippy::too_many_lines)] // A list.
pub fn definitions() -> Vec<Hostile> {
    let text = json!({"type": "string"});
    let entry =
        json!({"type": "object", "properties": {"group": text, "kind": text, "name": text}});
    let refs = |more: Value| {
        let mut list = json!({"type": "array", "items": entry});
        list.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        list
    };
    let definition = |spec: &Value, versions: usize| {
        let version = |i: usize| {
            json!({"name": format!("v{i}"), "served": true, "storage": i == 0,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
        };
        json!({"metadata": {"name": "x"}, "spec": {"group": "policies.example.com", "scope": "Namespaced",
            "names": {"kind": "NewPolicy", "plural": "newpolicies"},
            "versions": (0..versions).map(version).collect::<Vec<_>>()}}).to_string()
    };
    let rules = |one: &str, times: usize| {
        let rule = json!({"rule": one});
        refs(json!({"x-kubernetes-validations": vec![rule; times]}))
    };
    let spec = |list: Value| json!({"type": "object", "properties": {"targetRefs": list, "timeout": text}});
    let ones = vec!["1"; 90].join(",");
    let busy = format!(
        "self.all(r, r.kind in ['A', 'B'] && [{ones}].all(a, [{ones}].all(b, [{ones}].all(c, a + b == c + 1 || r.kind == 'A'))))"
    );
    let names: Vec<String> = (0..100_000).map(|i| format!("Kind{i}")).collect();
    let mut enums = spec(refs(json!({})));
    enums["properties"]["targetRefs"]["items"]["properties"]["kind"]["enum"] = json!(names);
    let mut wide = spec(refs(json!({})));
    for i in 0..30_000 {
        wide["properties"][format!("p{i}")] = json!({"type": "object", "properties": {"a": text}});
    }
    let mut deep = json!({"type": "string"});
    for _ in 0..50 {
        deep = json!({"type": "object", "properties": {"defaults": deep}});
    }
    let mut described = spec(refs(json!({})));
    described["description"] = json!("a".repeat(2 * MIB));
    let long = format!(
        "self.all(r, r.kind in [{}])",
        vec!["'Gateway'"; 1_500].join(",")
    );
    let all = [
        (
            "definition with busy rules",
            definition(&spec(rules(&busy, 2_000)), 1),
        ),
        (
            "definition with long rules",
            definition(&spec(rules(&long, 150)), 1),
        ),
        (
            "definition with deep rules",
            definition(
                &spec(rules(
                    &format!("{}true{}", "(".repeat(9_000), ")".repeat(9_000)),
                    150,
                )),
                1,
            ),
        ),
        (
            "definition with many rules",
            definition(&spec(rules("self.all(r, r.kind == 'Gateway')", 50_000)), 1),
        ),
        ("definition with large enums", definition(&enums, 1)),
        ("definition with many fields", definition(&wide, 1)),
        ("definition that is deep", definition(&spec(deep), 1)),
        (
            "definition with many versions",
            definition(&spec(rules("self.all(r, r.kind == 'Gateway')", 100)), 500),
        ),
        (
            "definition with a long description",
            definition(&described, 1),
        ),
        (
            "definition of small maps",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"properties":{{"spec":{{"properties":{{"x":[{}]}}}}}}}}}}}}]}}}}"#,
                many(r#"{"a":0}"#)
            ),
        ),
        (
            "definition with much beside the properties",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"x":[{}]}}}}}}]}}}}"#,
                many(r#"{"a":0}"#)
            ),
        ),
        (
            "definition with many short names",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k","shortNames":[{}]}},"versions":[]}}}}"#,
                many("\"\"")
            ),
        ),
        (
            "definition with many empty versions",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k"}},"versions":[{}]}}}}"#,
                many(r#"{"name":""}"#)
            ),
        ),
    ];
    let all = all.into_iter().flat_map(|(name, object)| {
        let other: Rc<str> = object.replacen("\"x\"", "\"y\"", 1).into();
        let object = object.into();
        [
            hostile(name, "CREATE", &object, None),
            hostile(name, "UPDATE", &object, Some(&other)),
        ]
    });
    all.collect()
}
