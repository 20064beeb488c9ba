//! What holds for every state and every order of events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::sync::Arc;

use attache::engine::ids::GroupKind;
use attache::engine::object::Object;
use attache::engine::profile::ProfileRules;
use attache::engine::review::{Evidence, Operation, Request, review};
use attache::engine::snapshot::{Change, Snapshot};
use attache::engine::verdict::escape;
use proptest::prelude::*;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

const GROUP: &str = "policies.example.com";

fn crd(kind: &str) -> Value {
    let reference = json!({"properties": {"group": {}, "kind": {}, "name": {}, "sectionName": {}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{GROUP}", kind.to_lowercase())},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"kind": kind, "plural": format!("{}s", kind.to_lowercase())},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"properties": {"spec": {"properties": {"targetRef": reference}}}}}}],
        },
    })
}

fn object(value: &Value) -> Object {
    let version = value["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let gk = GroupKind::new(group, value["kind"].as_str().unwrap());
    Object::from_json(&gk, &to_raw_value(value).unwrap()).unwrap()
}

fn route(name: &str, gateway: &str) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": "ns", "name": name},
        "spec": {"parentRefs": [{"name": gateway}], "rules": [{"name": "r"}, {}]},
    })
}

fn gateway(name: &str, listeners: u8) -> Value {
    let listeners: Vec<Value> = (0..listeners)
        .map(|i| json!({"name": format!("l{i}"), "port": 80}))
        .collect();
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "ns", "name": name},
        "spec": {"gatewayClassName": "c", "listeners": listeners},
    })
}

fn policy(kind: &str, name: &str, target: &str, section: Option<String>, value: u8) -> Value {
    let (kind_of_target, name_of_target) = target.split_once('/').unwrap();
    let mut reference = json!({
        "group": "gateway.networking.k8s.io", "kind": kind_of_target, "name": name_of_target,
    });
    if let Some(section) = section {
        reference["sectionName"] = json!(section);
    }
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind,
        "metadata": {"namespace": "ns", "name": name,
                     "creationTimestamp": format!("2026-01-01T00:00:{:02}Z", value % 60)},
        "spec": {"targetRef": reference, "value": value},
    })
}

fn name(prefix: &'static str) -> impl Strategy<Value = String> {
    (0..3u8).prop_map(move |i| format!("{prefix}{i}"))
}

fn any_object() -> impl Strategy<Value = Value> {
    let target = prop_oneof![name("Gateway/g"), name("HTTPRoute/r")];
    let section = proptest::option::of(prop_oneof![name("l"), Just("r".to_owned())]);
    let kind = prop_oneof![Just("Red"), Just("Blue")];
    prop_oneof![
        (name("r"), name("g")).prop_map(|(r, g)| route(&r, &g)),
        (name("g"), 0..4u8).prop_map(|(g, n)| gateway(&g, n)),
        prop_oneof![Just("Red"), Just("Blue")].prop_map(crd),
        (kind, name("p"), target, section, any::<u8>()).prop_map(
            |(kind, name, target, section, value)| policy(kind, &name, &target, section, value)
        ),
    ]
}

#[derive(Clone, Debug)]
enum Event {
    Applied(Value),
    Deleted(Value),
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any_object().prop_map(Event::Applied),
        1 => any_object().prop_map(Event::Deleted),
    ]
}

fn fold(events: &[Event]) -> Snapshot {
    events
        .iter()
        .fold(Snapshot::new(Arc::default()), |snapshot, event| {
            snapshot.apply(match event {
                Event::Applied(value) => Change::Applied(Box::new(object(value))),
                Event::Deleted(value) => Change::Deleted(object(value).key),
            })
        })
}

/// What is left in the end, in the order of keys.
fn survivors(events: &[Event]) -> Vec<Event> {
    let mut left = std::collections::BTreeMap::new();
    for event in events {
        match event {
            Event::Applied(value) => left.insert(object(value).key, value.clone()),
            Event::Deleted(value) => left.remove(&object(value).key),
        };
    }
    left.into_values().map(Event::Applied).collect()
}

/// Everything that can be asked of a snapshot, as text.
fn answers(snapshot: &Snapshot) -> Vec<String> {
    let ask = |value: &Value| {
        let raw: Box<RawValue> = to_raw_value(value).unwrap();
        let object = object(value);
        let request = Request {
            operation: Operation::Create,
            gk: object.key.gk.clone(),
            namespace: &object.key.namespace.clone(),
            name: &object.key.name.clone(),
            subresource: "",
            object: Some(&raw),
            old: None,
        };
        let verdict = review(snapshot, &request, &Evidence::Authoritative);
        format!("{:?} {:?}", verdict.warnings(), verdict.causes())
    };
    let mut asked = Vec::new();
    for i in 0..3 {
        for j in 0..3 {
            asked.push(ask(&route(&format!("r{i}"), &format!("g{j}"))));
        }
        asked.push(ask(&gateway(&format!("g{i}"), 2)));
        let target = format!("Gateway/g{i}");
        asked.push(ask(&policy(
            "Red",
            "new",
            &target,
            Some("l1".to_owned()),
            1,
        )));
    }
    asked
}

proptest! {
    #[test]
    fn a_snapshot_depends_on_what_is_there_and_not_on_how_it_came(
        events in proptest::collection::vec(any_event(), 0..24),
        seed in any::<u64>(),
    ) {
        let incremental = fold(&events);
        let mut rest = survivors(&events);
        let rebuilt = fold(&rest);
        prop_assert_eq!(answers(&incremental), answers(&rebuilt));
        // Any other order of the same objects.
        let mut state = seed;
        for i in (1..rest.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            rest.swap(i, usize::try_from(state >> 33).unwrap() % (i + 1));
        }
        prop_assert_eq!(answers(&fold(&rest)), answers(&rebuilt));
    }

    #[test]
    fn no_warning_holds_a_control_character_or_breaks_the_budget(
        names in proptest::collection::vec(".{0,260}", 1..30),
    ) {
        let mut snapshot = fold(&[Event::Applied(crd("Red")), Event::Applied(gateway("g0", 1))]);
        for (i, text) in names.iter().enumerate() {
            let mut policy = policy("Red", &format!("{text}{i}"), "Gateway/g0", None, 1);
            policy["spec"][text] = json!(text);
            snapshot = snapshot.apply(Change::Applied(Box::new(object(&policy))));
        }
        let value = route("r", "g0");
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
        let snapshot = fold(&[Event::Applied(crd("Red")), Event::Applied(gateway("g0", 1))]);
        for (group, kind) in [(GROUP, "Red"), ("gateway.networking.k8s.io", "HTTPRoute"), ("", "Service")] {
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
        attache::engine::profile::builtin().unwrap(),
    ));
    let snapshot = Snapshot::new(rules);
    assert!(
        snapshot
            .profile(&GroupKind::gateway_api("BackendTLSPolicy"))
            .is_some()
    );
}
