//! Tests of constraints: their messages, and their agreement with a JSON Schema validator.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::KnownConstraints;
use crate::kinds::profile::VersionSchema;
use crate::kinds::profile::derive::Schemas;
use crate::kinds::profile::derive::versions::versions;

/// The violations of a spec, each as `path: message`.
fn violations_of(schema: &Value, spec: &Value) -> Vec<String> {
    let violations = version(schema).violations(spec);
    violations
        .into_iter()
        .map(|violation| format!("{}: {}", violation.path, violation.message))
        .collect()
}

fn version(schema: &Value) -> VersionSchema {
    let schemas = Schemas {
        spec: schema.clone(),
        names: vec!["v1".into()],
        ..Schemas::default()
    };
    versions(&schemas).first().unwrap().clone()
}

/// The schema of an object with a field `of`.
fn field(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"of": schema}})
}

/// The message of the only violation of a value.
fn of_value(schema: &Value, value: &Value) -> String {
    let violations = violations_of(&field(schema), &json!({"of": value}));
    let [violation] = &*violations else {
        panic!("{schema} {value}: {violations:?}");
    };
    violation.strip_prefix("spec.of: ").unwrap().to_owned()
}

#[test]
fn a_value_of_another_type_is_named_with_the_type() {
    for (schema, value, expected) in [
        (
            json!({"type": "string"}),
            json!(5),
            "5 is a number; it must be a string",
        ),
        (
            json!({"type": "string"}),
            json!({}),
            "it is an object; it must be a string",
        ),
        (
            json!({"type": "integer"}),
            json!("5"),
            "\"5\" is a string; it must be a whole number",
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            "1.5 is not a whole number",
        ),
        (
            json!({"type": "boolean"}),
            json!("on"),
            "\"on\" is a string; it must be true or false",
        ),
        (
            json!({"type": "array"}),
            json!({}),
            "it is an object; it must be a list",
        ),
    ] {
        assert_eq!(of_value(&schema, &value), expected);
    }
    let either = json!({"x-kubernetes-int-or-string": true});
    let expected = "true is a boolean; it must be a whole number or a string";
    assert_eq!(of_value(&either, &json!(true)), expected);
}

#[test]
fn bounds_are_named_with_the_number() {
    let integer_with = |name: &str, bound: u64| json!({"type": "integer", name: bound});
    let out = |name: &str, excludes: &str| json!({"type": "number", name: 1, excludes: true});
    let less = out("maximum", "exclusiveMaximum");
    let more = out("minimum", "exclusiveMinimum");
    let int32 = json!({"type": "integer", "format": "int32"});
    for (schema, value, expected) in [
        (integer_with("minimum", 1), json!(0), "0 is less than 1"),
        (
            integer_with("maximum", 600),
            json!(601),
            "601 is more than 600",
        ),
        (
            integer_with("multipleOf", 5),
            json!(7),
            "7 is not a multiple of 5",
        ),
        (more, json!(1), "1 is not more than 1"),
        (less, json!(1.0), "1.0 is not less than 1"),
        (
            int32,
            json!(3_000_000_000_u64),
            "3000000000 does not fit in 32 bits",
        ),
    ] {
        assert_eq!(of_value(&schema, &value), expected);
    }
}

#[test]
fn values_patterns_and_lengths_are_named_with_what_is_allowed() {
    let text = |name: &str, limit: Value| json!({"type": "string", name: limit});
    let list = |name: &str| json!({"type": "array", name: 1});
    let one = json!({"type": "object", "maxProperties": 1});
    for (schema, value, expected) in [
        (
            text("enum", json!(["Merge", "Replace"])),
            json!("merge"),
            "\"merge\" is none of \"Merge\", \"Replace\"; did you mean \"Merge\"?",
        ),
        (json!({"enum": [1, 2]}), json!(3), "3 is none of 1, 2"),
        (
            text("pattern", json!("^[0-9]+(ms|s)$")),
            json!("5 s"),
            "\"5 s\" does not match ^[0-9]+(ms|s)$",
        ),
        (
            text("minLength", json!(2)),
            json!("a"),
            "it has 1 character; it must have at least 2",
        ),
        (
            text("maxLength", json!(2)),
            json!("aäb"),
            "it has 3 characters; it must have at most 2",
        ),
        (
            list("minItems"),
            json!([]),
            "it has 0 items; it must have at least 1",
        ),
        (
            list("maxItems"),
            json!([1, 2]),
            "it has 2 items; it must have at most 1",
        ),
        (
            one,
            json!({"a": 1, "b": 1}),
            "it has 2 fields; it must have at most 1",
        ),
    ] {
        assert_eq!(of_value(&schema, &value), expected);
    }
}

#[test]
fn fields_items_and_values_are_named_by_their_path() {
    let schema = json!({"type": "object", "required": ["rules"], "properties": {
        "rules": {"type": "array", "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string", "maxLength": 3}},
        }},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    assert_eq!(
        violations_of(&schema, &json!({})),
        ["spec.rules: it is required"]
    );
    assert_eq!(
        violations_of(
            &schema,
            &json!({"rules": [{"name": "a"}, {}, {"name": "long"}], "headers": {"x": 1}})
        ),
        [
            "spec.headers.x: 1 is a number; it must be a string",
            "spec.rules[1].name: it is required",
            "spec.rules[2].name: it has 4 characters; it must have at most 3",
        ],
    );
}

#[test]
fn items_that_must_differ_are_distinguished_by_their_keys() {
    let list = |kind: Value| {
        let mut list = json!({"type": "array", "items": {}});
        list.as_object_mut()
            .unwrap()
            .extend(kind.as_object().unwrap().clone());
        field(&list)
    };
    let map =
        list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"]}));
    let items = json!({"of": [{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "c": 3}]});
    assert_eq!(
        violations_of(&map, &items),
        ["spec.of[2]: it has the same a and b as item 0"]
    );
    let set = list(json!({"x-kubernetes-list-type": "set"}));
    assert_eq!(
        violations_of(&set, &json!({"of": ["x", "y", "x"]})),
        ["spec.of[2]: it is the same as item 0"],
    );
    assert!(
        violations_of(
            &list(json!({"x-kubernetes-list-type": "atomic"})),
            &json!({"of": [1, 1]})
        )
        .is_empty()
    );
}

#[test]
fn alternatives_are_named_by_the_fields_that_they_require() {
    let alternatives = |word: &str| {
        json!({"type": "object", "properties": {"a": {}, "b": {}},
            word: [{"required": ["a"]}, {"required": ["b"]}]})
    };
    assert_eq!(
        violations_of(&alternatives("anyOf"), &json!({})),
        ["spec: it needs at least one of \"a\", \"b\""]
    );
    assert_eq!(
        violations_of(&alternatives("oneOf"), &json!({})),
        ["spec: it needs one of \"a\", \"b\""]
    );
    assert_eq!(
        violations_of(&alternatives("oneOf"), &json!({"a": 1, "b": 1})),
        ["spec: it may have only one of \"a\", \"b\""],
    );
    assert!(violations_of(&alternatives("oneOf"), &json!({"b": 1})).is_empty());
    let not = json!({"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}});
    assert_eq!(
        violations_of(&not, &json!({"a": 1, "b": 1})),
        ["spec: it may not have \"a\", \"b\" together"]
    );
}

#[test]
fn what_the_api_server_fills_in_or_drops_is_not_missed() {
    let schema = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "string", "default": "x"},
        "b": {"type": "string", "nullable": true, "enum": ["y"]},
        "c": {"type": "string"},
        "d": {"x-kubernetes-preserve-unknown-fields": true},
    }});
    assert!(violations_of(&schema, &json!({"b": null, "c": null, "d": {"any": [1]}})).is_empty());
}

/// The addresses of a Gateway.
#[test]
fn a_format_that_is_not_checked_decides_no_alternative() {
    let address = json!({"type": "object", "oneOf": [
        {"properties": {"type": {"enum": ["IPAddress"]}, "value": {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}}},
        {"properties": {"value": {"format": "hostname"}}},
    ]});
    let schema = field(&address);
    let value = json!({"of": {"type": "IPAddress", "value": "10.0.0.1"}});
    assert!(violations_of(&schema, &value).is_empty());
}

#[test]
fn a_value_without_its_type_is_looked_at_no_further() {
    let schema = field(&json!({"type": "object", "required": ["a"], "enum": [{}]}));
    assert_eq!(
        violations_of(&schema, &json!({"of": "x"})),
        ["spec.of: \"x\" is a string; it must be an object"],
    );
}

#[test]
fn nested_alternatives_and_large_values_end() {
    let mut schema = json!({"type": "string"});
    for _ in 0..100 {
        schema = json!({"oneOf": [schema, {"type": "integer"}]});
    }
    assert!(violations_of(&field(&schema), &json!({"of": "x"})).is_empty());
    let list = vec!["x"; 100_000];
    let items = json!({"type": "array", "items": schema});
    // There are too many values to check, so no violation is certain.
    assert!(violations_of(&field(&items), &json!({"of": list})).is_empty());
    let mut wide = Map::new();
    for n in 0..20_000 {
        wide.insert(format!("f{n}"), json!({"type": "string", "maxLength": n}));
    }
    let schema = json!({"type": "object", "properties": wide});
    assert!(violations_of(&schema, &json!({"f19999": 1})).is_empty());
}

/// A schema that is valid both for a CRD and as JSON Schema (draft 4).
fn schemas() -> impl Strategy<Value = Value> {
    let numbers = || -3_i64..4;
    let sizes = || 0_u64..3;
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "string"})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "number"})),
        (numbers(), any::<bool>())
            .prop_map(|(n, out)| json!({"type": "integer", "minimum": n, "exclusiveMinimum": out})),
        (numbers(), any::<bool>())
            .prop_map(|(n, out)| json!({"type": "integer", "maximum": n, "exclusiveMaximum": out})),
        (1_u64..4).prop_map(|n| json!({"multipleOf": n})),
        (sizes(), sizes()).prop_map(|(a, b)| json!({"minLength": a, "maxLength": b})),
        Just(json!({"type": "string", "pattern": "^a*b?$"})),
        Just(json!({"enum": ["a", 1, true, [1]]})),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let required = prop::collection::btree_set("[abc]", 1..3);
        let fields = prop::collection::btree_map("[abc]", inner.clone(), 1..3);
        prop_oneof![
            (fields, required.clone(), sizes()).prop_map(|(fields, required, most)| {
                json!({"type": "object", "properties": fields, "required": required, "maxProperties": most})
            }),
            inner.clone().prop_map(|values| json!({"additionalProperties": values})),
            (inner.clone(), sizes()).prop_map(|(items, n)| json!({"type": "array", "items": items, "maxItems": n})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"oneOf": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"allOf": all})),
            inner.prop_map(|not| json!({"not": not})),
            required.prop_map(|required| json!({"required": required})),
        ]
    })
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-4_i64..5).prop_map(Value::from),
        Just(json!(0.5)),
        Just(json!(2.5)),
        "[abä]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn a_validator_of_json_schema_judges_the_same(schema in schemas(), value in values()) {
        let options = jsonschema::options().with_draft(jsonschema::Draft::Draft4);
        let validator = options.build(&schema).unwrap();
        let constraints = KnownConstraints::default().read(&schema);
        let violations = constraints.violations(&value);
        prop_assert_eq!(violations.is_empty(), validator.is_valid(&value), "{:?}", violations);
    }

    #[test]
    fn any_schema_and_value_is_survived(schema in values(), value in values()) {
        let _ = KnownConstraints::default().read(&schema).violations(&value);
        let _ = violations_of(&schema, &value);
    }
}
