//! An answer reveals nothing about policies that the user may not read.

use std::collections::BTreeSet;

use attache::engine::admission::disclosure::{DisclosureLevels, conceal, policies_named};
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::Operation;
use attache::engine::admission::review::review;
use attache::engine::admission::verdict::{Verdict, sentence};
use attache::engine::model::ids::GATEWAY_API;
use attache::engine::state::snapshot::Snapshot;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::events::{Event, GROUP, asked, definition, fold, object, there};
use super::random::{any_event, any_object, policy};

/// Fields of a policy that are not settings.
const NO_SETTINGS: [&str; 2] = ["targetRefs", "mergeStrategy"];

/// Gives a policy a unique name and unique values; returns other objects unchanged.
fn marked(mut value: Value) -> Value {
    if !is_policy(&value) {
        return value;
    }
    let own = own(&value);
    for (field, setting) in value["spec"].as_object_mut().unwrap() {
        if !NO_SETTINGS.contains(&&**field) {
            mark(setting, &format!("value-of-{own}"));
        }
    }
    value["metadata"]["name"] = json!(format!("name-of-{own}"));
    value
}

fn is_policy(value: &Value) -> bool {
    value["apiVersion"] == format!("{GROUP}/v1")
}

/// A text unique to a policy: `b-p0-deep`.
fn own(value: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
    let meta = &value["metadata"];
    let parts = [&meta["namespace"], &meta["name"], &value["kind"]].map(text);
    format!("{}-end", parts.join("-"))
}

/// Replaces numbers, booleans and texts at any depth.
fn mark(setting: &mut Value, text: &str) {
    match setting {
        Value::Number(_) | Value::String(_) | Value::Bool(_) => *setting = json!(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mark(item, text)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mark(field, text)),
        Value::Null => {}
    }
}

fn marked_event(event: Event) -> Event {
    match event {
        Event::Applied(value) => Event::Applied(marked(value)),
        Event::Deleted(value) => Event::Deleted(marked(value)),
    }
}

/// Everything in an answer: the lines that are sent, and those that do not fit.
fn all_of(verdict: &Verdict) -> String {
    let causes = verdict.causes().into_iter();
    let causes = causes.map(|cause| format!("{} {}", cause.field, cause.message));
    let lines = verdict.warnings().into_iter().chain(causes);
    let lines = lines.chain(verdict.findings.iter().map(sentence));
    lines.collect::<Vec<_>>().join("\n")
}

/// Reviews for a user who may read no policy. The answer names only policies in the object's own namespace and what the
/// user sent; it has settings only from what the user sent.
fn tells_nothing(
    snapshot: &Snapshot,
    state: &[Value],
    operation: Operation,
    (new, old): (Option<&Value>, Option<&Value>),
) -> Result<(), TestCaseError> {
    let subject = new.or(old).unwrap();
    let verdict = asked(operation, new, old, |request| {
        review(snapshot, request, &Evidence::Authoritative)
    });
    let key = object(subject).key;
    let hidden: BTreeSet<_> = policies_named(&verdict).into_iter().collect();
    let concealed = all_of(&conceal(
        verdict,
        &key.namespace,
        &hidden,
        &DisclosureLevels::default(),
    ));
    for policy in state.iter().filter(|value| is_policy(value)) {
        let their = object(policy).key;
        if their == key {
            continue;
        }
        let name = &*their.name;
        let own = name.strip_prefix("name-of-").unwrap();
        prop_assert!(
            !concealed.contains(&format!("value-of-{own}")),
            "{their}: {concealed}\n{subject}"
        );
        let foreign = their.namespace.is_empty() || their.namespace != key.namespace;
        prop_assert!(
            !foreign || !concealed.contains(name),
            "{their}: {concealed}\n{subject}"
        );
    }
    Ok(())
}

/// A Gateway and a Service in one namespace, a route between them in the other, grants for all references, and the
/// policy kinds: policies on these interact.
fn ground() -> Vec<Value> {
    let gateway_api = |kind: &str, namespace: &str, name: &str, spec: Value| {
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind,
            "metadata": {"namespace": namespace, "name": name}, "spec": spec})
    };
    let stanza = json!({"type": "object", "properties": {}});
    let reference =
        json!({"group": {}, "kind": {}, "name": {}, "namespace": {}, "sectionName": {}});
    let refs = json!({"type": "array", "items": {"properties": reference}});
    let mut direct = definition("Direct", &json!({"targetRefs": refs.clone()}));
    direct["metadata"]["labels"] = json!({"gateway.networking.k8s.io/policy": "Direct"});
    let legacy = json!({"targetRefs": refs, "defaults": stanza.clone(), "overrides": stanza});
    let from: Vec<Value> = ["HTTPRoute", "Deep"]
        .iter()
        .flat_map(|kind| ["a", "b"].map(|namespace| (kind, namespace)))
        .map(|(kind, namespace)| {
            let group = if *kind == "Deep" { GROUP } else { GATEWAY_API };
            json!({"group": group, "kind": kind, "namespace": namespace})
        })
        .collect();
    let to = json!([{"group": "", "kind": "Service"}, {"group": GATEWAY_API, "kind": "Gateway"},
        {"group": GATEWAY_API, "kind": "HTTPRoute"}]);
    vec![
        direct,
        definition("Legacy", &legacy),
        gateway_api(
            "Gateway",
            "b",
            "g0",
            json!({"gatewayClassName": "c0", "listeners": [{"name": "l0", "port": 80,
                "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}]}),
        ),
        gateway_api(
            "HTTPRoute",
            "a",
            "r0",
            json!({"parentRefs": [{"name": "g0", "namespace": "b"}], "rules": [{"name": "one",
                "backendRefs": [{"name": "v0", "namespace": "b", "port": 80}]}]}),
        ),
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
            "metadata": {"name": "c0"}, "spec": {"controllerName": "example.com/controller"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "b", "name": "v0"},
            "spec": {"ports": [{"name": "http", "port": 80}]}}),
        gateway_api("ReferenceGrant", "a", "x0", json!({"from": from, "to": to})),
        gateway_api("ReferenceGrant", "b", "x0", json!({"from": from, "to": to})),
    ]
}

/// A policy of one of few kinds, so that policies interact.
fn any_policy() -> impl Strategy<Value = Value> {
    let kind = select(vec!["Direct", "Legacy", "Deep", "Newest"]);
    (policy(), kind).prop_map(|(mut policy, kind)| {
        policy["kind"] = json!(kind);
        policy
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_user_without_rights_sees_no_name_and_no_setting(
        policies in vec(any_policy(), 2..12), more in vec(any_event(), 0..12),
        others in vec(prop_oneof![any_policy(), any_object()], 1..6),
    ) {
        let events = ground().into_iter().chain(policies).map(Event::Applied).chain(more);
        let events: Vec<Event> = events.map(marked_event).collect();
        let snapshot = fold(&events);
        let state = there(&events);
        let ask = |operation, sides| tells_nothing(&snapshot, &state, operation, sides);
        let others: Vec<Value> = others.into_iter().map(marked).collect();
        for value in &others {
            ask(Operation::Create, (Some(value), None))?;
            let key = object(value).key;
            for old in state.iter().filter(|old| object(old).key == key) {
                ask(Operation::Update, (Some(value), Some(old)))?;
            }
        }
        for value in &state {
            ask(Operation::Create, (Some(value), None))?;
            ask(Operation::Delete, (None, Some(value)))?;
        }
    }
}
