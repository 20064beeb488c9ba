//! Tests that no object that a CRD allows is refused.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::admission::evidence::Evidence;
use crate::admission::request::{Operation, Request};
use crate::admission::review::review;
use crate::kinds::profile::ProfileRules;
use crate::model::ids::GroupKind;
use crate::model::object::Object;
use crate::state::snapshot::{Change, Snapshot};

const GROUP: &str = "example.com";

fn object(json: &Value) -> Object {
    let version = json["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let gk = GroupKind::new(group, json["kind"].as_str().unwrap());
    Object::from_json(&gk, &to_raw_value(json).unwrap()).unwrap()
}

/// A CRD with these schemas of `spec`, the stored one first.
fn crd(specs: &[Value]) -> Object {
    let versions = specs.iter().enumerate().map(|(i, spec)| {
        json!({"name": format!("v{i}"), "served": true, "storage": i == 0,
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    });
    object(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "testpolicies.example.com"},
        "spec": {"group": GROUP, "scope": "Namespaced",
                 "names": {"kind": "TestPolicy", "plural": "testpolicies"},
                 "versions": versions.collect::<Vec<_>>()},
    }))
}

/// An entry with additional properties and these rules.
fn entry(more: &Value, rules: &[&str]) -> Value {
    let text = json!({"type": "string"});
    let mut fields = json!({"group": text, "kind": text, "name": text});
    for (name, schema) in more.as_object().unwrap() {
        fields[name] = schema.clone();
    }
    with_rules(
        json!({"type": "object", "properties": fields, "required": ["group", "kind", "name"]}),
        rules,
    )
}

fn with_rules(mut schema: Value, rules: &[&str]) -> Value {
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    schema["x-kubernetes-validations"] = json!(rules);
    schema
}

fn list(entry: &Value, rules: &[&str]) -> Value {
    with_rules(json!({"type": "array", "items": entry}), rules)
}

/// A spec with these target fields and one setting.
fn spec(fields: Value, rules: &[&str]) -> Value {
    let mut properties = fields;
    properties["timeout"] = json!({"type": "string"});
    with_rules(json!({"type": "object", "properties": properties}), rules)
}

fn section() -> Value {
    json!({"sectionName": {"type": "string"}})
}

fn target(kind: &str) -> Value {
    json!({"group": "gateway.networking.k8s.io", "kind": kind, "name": "one"})
}

fn with(mut target: Value, part: &str, value: impl Into<Value>) -> Value {
    target[part] = value.into();
    target
}

/// The refusals when a policy with this spec is created.
fn refused(specs: &[Value], mut policy: Value) -> Vec<String> {
    if policy["timeout"].is_null() && policy["defaults"].is_null() {
        policy["timeout"] = json!("1s");
    }
    let snapshot = Snapshot::new(Arc::new(ProfileRules::default()));
    let snapshot = snapshot.apply(Change::Applied(Arc::new(crd(specs))));
    let policy = json!({"apiVersion": "example.com/v0", "kind": "TestPolicy",
                        "metadata": {"namespace": "shop", "name": "test"}, "spec": policy});
    let raw = to_raw_value(&policy).unwrap();
    let request = Request {
        operation: Operation::Create,
        gk: GroupKind::new(GROUP, "TestPolicy"),
        namespace: "shop",
        name: "test",
        subresource: "",
        object: Some(&raw),
        old: None,
    };
    let verdict = review(&snapshot, &request, &Evidence::Authoritative);
    let causes = verdict.causes().into_iter();
    causes.map(|cause| cause.message).collect()
}

#[track_caller]
fn allows(spec: &Value, policy: Value) {
    assert_eq!(
        refused(std::slice::from_ref(spec), policy),
        Vec::<String>::new()
    );
}

#[track_caller]
fn refuses(spec: &Value, policy: Value, why: &str) {
    let messages = refused(std::slice::from_ref(spec), policy);
    assert!(
        messages.iter().any(|message| message.contains(why)),
        "{messages:?}"
    );
}

#[test]
fn a_rule_on_the_number_of_targets_says_nothing_of_each() {
    let counted = spec(
        json!({"targetRef": entry(&json!({}), &["self.kind == 'Gateway'"]),
               "targetRefs": list(&entry(&section(), &[]), &["self.size() <= 1"])}),
        &[],
    );
    let target = with(target("HTTPRoute"), "sectionName", "one");
    allows(&counted, json!({"targetRefs": [target]}));
    let counted = spec(
        json!({"targetRefs": list(&entry(&json!({}), &[]), &["self.size() > 2"])}),
        &[],
    );
    let three = ["a", "b", "c"].map(|name| with(self::target("Gateway"), "name", name));
    allows(&counted, json!({"targetRefs": three}));
}

#[test]
fn a_rule_on_the_first_target_says_nothing_of_the_others() {
    let first = spec(
        json!({"targetRefs": list(&entry(&json!({}), &[]), &["self[0].kind == 'Gateway'"])}),
        &[],
    );
    let targets = json!({"targetRefs": [target("Gateway"), target("HTTPRoute")]});
    allows(&first, targets);
}

#[test]
fn groups_without_a_dot_and_kinds_in_any_case() {
    let deployments = "self.group == 'apps' && self.kind == 'Deployment'";
    let gateways = "self.group == 'gateway.networking.k8s.io' && self.kind == 'Gateway'";
    let rule = format!("{deployments} || {gateways} || self.kind == 'my-kind'");
    let apps = spec(json!({"targetRef": entry(&json!({}), &[&rule])}), &[]);
    let deployment = json!({"group": "apps", "kind": "Deployment", "name": "one"});
    allows(&apps, json!({"targetRef": deployment}));
    allows(&apps, json!({"targetRef": target("my-kind")}));
    allows(&apps, json!({"targetRef": target("Gateway")}));
    refuses(
        &apps,
        json!({"targetRef": target("HTTPRoute")}),
        "cannot target",
    );
    let core = "self.kind == 'Service' && self.group in ['', 'core']";
    let core = spec(json!({"targetRef": entry(&json!({}), &[core])}), &[]);
    let service = json!({"group": "core", "kind": "Service", "name": "one"});
    allows(&core, json!({"targetRef": service}));
    allows(&core, json!({"targetRef": with(service, "group", "")}));
}

#[test]
fn sections_of_one_field_are_not_those_of_another() {
    let rule = "self.kind == 'Gateway' && self.group == 'gateway.networking.k8s.io'";
    let fields = json!({"targetRef": entry(&json!({}), &[rule]),
                        "targetRefs": list(&entry(&section(), &[rule]), &[])});
    let target = with(target("Gateway"), "sectionName", "one");
    allows(&spec(fields, &[]), json!({"targetRefs": [target]}));
}

#[test]
fn some_names_of_sections_and_namespaces() {
    let some = "!has(self.sectionName) || self.sectionName in ['http', 'https']";
    let some = spec(json!({"targetRef": entry(&section(), &[some])}), &[]);
    let http = || with(target("Gateway"), "sectionName", "http");
    allows(&some, json!({"targetRef": http()}));
    let listed = json!({"sectionName": {"type": "string", "enum": ["http", "https"]}});
    let listed = spec(json!({"targetRef": entry(&listed, &[])}), &[]);
    allows(&listed, json!({"targetRef": http()}));
    let none = spec(
        json!({"targetRef": entry(&section(), &["!has(self.sectionName)"])}),
        &[],
    );
    refuses(&none, json!({"targetRef": http()}), "takes no sectionName");

    let namespace = json!({"namespace": {"type": "string"}});
    let own = "!has(self.namespace) || self.namespace == 'gateways'";
    let own = spec(json!({"targetRef": entry(&namespace, &[own])}), &[]);
    let there = || with(target("Gateway"), "namespace", "gateways");
    allows(&own, json!({"targetRef": there()}));
    let short = "!has(self.namespace) || self.namespace.size() < 9";
    let short = spec(json!({"targetRef": entry(&namespace, &[short])}), &[]);
    allows(&short, json!({"targetRef": there()}));
    let empty = "!has(self.namespace) || self.namespace.size() == 0";
    let empty = spec(json!({"targetRef": entry(&namespace, &[empty])}), &[]);
    refuses(
        &empty,
        json!({"targetRef": there()}),
        "can only target objects in their own namespace",
    );
}

#[test]
fn a_section_or_something_else() {
    let mut parts = section();
    parts["port"] = json!({"type": "integer"});
    let rule = "has(self.sectionName) || has(self.port)";
    let either = spec(json!({"targetRef": entry(&parts, &[rule])}), &[]);
    let port = with(target("Gateway"), "port", 80);
    allows(&either, json!({"targetRef": port}));
    let needed = spec(
        json!({"targetRef": entry(&section(), &["has(self.sectionName)"])}),
        &[],
    );
    refuses(
        &needed,
        json!({"targetRef": target("Gateway")}),
        "set sectionName",
    );
}

#[test]
fn targets_that_differ_in_something_else() {
    let port = || json!({"port": {"type": "integer"}});
    let ports = || [80, 81].map(|port| with(target("Gateway"), "port", port));
    let mut keyed = list(&entry(&port(), &[]), &[]);
    keyed["x-kubernetes-list-type"] = json!("map");
    keyed["x-kubernetes-list-map-keys"] = json!(["group", "kind", "name", "port"]);
    allows(
        &spec(json!({"targetRefs": keyed}), &[]),
        json!({"targetRefs": ports()}),
    );
    let rule = "self.all(p, self.exists_one(q, p.name == q.name && (has(p.port) ? p.port : 0) == (has(q.port) ? q.port : 0)))";
    let ruled = spec(
        json!({"targetRefs": list(&entry(&port(), &[]), &[rule])}),
        &[],
    );
    allows(&ruled, json!({"targetRefs": ports()}));

    let mut keyed = list(&entry(&port(), &[]), &[]);
    keyed["x-kubernetes-list-type"] = json!("map");
    keyed["x-kubernetes-list-map-keys"] = json!(["group", "kind", "name"]);
    let keyed = spec(json!({"targetRefs": keyed}), &[]);
    refuses(&keyed, json!({"targetRefs": ports()}), "same target as");
    let rule = "self.all(p, self.exists_one(q, p.name == q.name))";
    let ruled = spec(
        json!({"targetRefs": list(&entry(&port(), &[]), &[rule])}),
        &[],
    );
    refuses(&ruled, json!({"targetRefs": ports()}), "same target as");
}

#[test]
fn optional_members_of_a_target() {
    let mut without_required = entry(&json!({}), &[]);
    without_required["required"] = json!([]);
    let schema = spec(json!({"targetRef": without_required}), &[]);
    allows(&schema, json!({"targetRef": {"kind": "Gateway"}}));
    allows(&schema, json!({"targetRef": {"name": "one"}}));
    let full = spec(json!({"targetRef": entry(&json!({}), &[])}), &[]);
    refuses(
        &full,
        json!({"targetRef": {"group": "", "kind": "Service"}}),
        "no name",
    );
    refuses(
        &full,
        json!({"targetRef": {"group": "", "name": "one"}}),
        "no kind",
    );

    // It is unknown which group is meant.
    let mut groups = entry(&json!({}), &["self.kind == 'Backend'"]);
    groups["properties"]["group"]["enum"] = json!(["backends.example.com"]);
    groups["required"] = json!(["kind", "name"]);
    let groups = spec(json!({"targetRef": groups}), &[]);
    allows(
        &groups,
        json!({"targetRef": {"kind": "Backend", "name": "one"}}),
    );
    let other = json!({"group": "other.example.com", "kind": "Backend", "name": "one"});
    refuses(&groups, json!({"targetRef": other}), "cannot target");
}

#[test]
fn every_served_version_is_allowed_what_it_allows() {
    let one = entry(&json!({}), &["self.kind == 'Gateway'"]);
    let mut few = list(&one, &["self.all(p, self.exists_one(q, p.name == q.name))"]);
    few["maxItems"] = json!(1);
    let mut strict = spec(json!({"targetRefs": few}), &[]);
    strict["required"] = json!(["targetRefs"]);
    strict["properties"]["mergeType"] = json!({"type": "string", "enum": ["Atomic"]});
    let mut parts = section();
    parts["namespace"] = json!({"type": "string"});
    let mut loose = spec(json!({"targetRefs": list(&entry(&parts, &[]), &[])}), &[]);
    loose["properties"]["mergeType"] = json!({"type": "string", "enum": ["Atomic", "Patch"]});
    let route = with(
        with(target("HTTPRoute"), "sectionName", "a"),
        "namespace",
        "shop",
    );
    let versions = [strict.clone(), loose];
    let none = Vec::<String>::new();
    let targets = json!([route, route, target("Gateway")]);
    assert_eq!(refused(&versions, json!({"targetRefs": targets})), none);
    assert_eq!(refused(&versions, json!({})), none);
    let patch = json!({"targetRefs": targets, "mergeType": "Patch"});
    assert_eq!(refused(&versions, patch), none);
    let twice = || json!([target("Gateway"), target("Gateway")]);
    refuses(&strict, json!({"targetRefs": twice()}), "1 at most");
    refuses(&strict, json!({"targetRefs": twice()}), "same target as");
    refuses(
        &strict,
        json!({"targetRefs": [target("HTTPRoute")]}),
        "cannot target",
    );
    refuses(
        &strict,
        json!({"targetRefs": twice(), "mergeType": "Patch"}),
        "not a strategy",
    );
    refuses(&strict, json!({}), "names no target");
    assert_eq!(
        refused(
            &[strict.clone(), strict],
            json!({"targetRefs": [target("HTTPRoute")]})
        )
        .len(),
        1
    );
}

#[test]
fn entries_that_take_anything() {
    let mut open = entry(&json!({}), &[]);
    open["x-kubernetes-preserve-unknown-fields"] = json!(true);
    let open = spec(json!({"targetRef": open}), &[]);
    let target = with(
        with(target("Gateway"), "sectionName", "a"),
        "namespace",
        "shop",
    );
    allows(&open, json!({"targetRef": target}));
    allows(
        &open,
        json!({"targetRef": with(target, "namespace", "other")}),
    );
}

#[test]
fn settings_that_are_called_strategy() {
    let text = json!({"type": "string"});
    let named = |values: &Value| json!({"type": "string", "enum": values});
    let algorithms = json!(["RoundRobin", "LeastRequest"]);
    let mut balancing = spec(json!({"targetRef": entry(&json!({}), &[])}), &[]);
    balancing["properties"]["strategy"] = named(&algorithms);
    let facts = facts(&balancing);
    assert_eq!(
        (facts.strategies.path, facts.strategies.values.len()),
        (None, 0)
    );

    let body = |strategy: &Value| json!({"type": "object", "properties": {"timeout": text, "strategy": strategy}});
    for strategy in [named(&algorithms), text.clone()] {
        let mut both = spec(json!({"targetRef": entry(&json!({}), &[])}), &[]);
        both["properties"]["defaults"] = body(&strategy);
        both["properties"]["overrides"] = body(&strategy);
        let body = json!({"strategy": "RoundRobin"});
        allows(
            &both,
            json!({"targetRef": target("Gateway"), "defaults": body, "overrides": body}),
        );
    }
}

#[test]
fn stanzas_that_are_none() {
    let text = json!({"type": "string"});
    let mut other = spec(json!({"targetRef": entry(&json!({}), &[])}), &[]);
    other["properties"]["defaults"] = json!({"type": "object", "properties": {"image": text}});
    other["properties"]["overrides"] = json!({"type": "object", "properties": {"hosts": text}});
    assert_eq!(facts(&other).strategies.stanzas, None);
}

#[test]
fn fields_beside_the_stanzas() {
    let text = json!({"type": "string"});
    let body = json!({"type": "object", "properties": {"timeout": text}});
    let rule = "!(has(self.defaults) && has(self.overrides))";
    let mut apart = spec(json!({"targetRef": entry(&json!({}), &[])}), &[rule]);
    apart["properties"]["defaults"] = body.clone();
    apart["properties"]["overrides"] = body;
    apart["properties"]["priority"] = json!({"type": "integer"});
    let timeout = json!({"timeout": "1s"});
    let target = target("Gateway");
    allows(
        &apart,
        json!({"targetRef": target, "defaults": timeout, "priority": 5}),
    );
    let both = json!({"targetRef": target, "defaults": timeout, "overrides": timeout});
    refuses(&apart, both, "keep one");
    let with_sibling = json!({"targetRef": target, "defaults": timeout, "timeout": "1s"});
    refuses(&apart, with_sibling, "keep one");
}

fn facts(spec: &Value) -> super::Derived {
    let schemas = super::Schemas {
        spec: spec.clone(),
        ..super::Schemas::default()
    };
    super::Derived::read(&schemas)
}
