//! The policy kinds of random states, and the events that change a state.

use std::collections::BTreeMap;
use std::sync::Arc;

use attache::engine::admission::request::{Operation, Request};
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::kinds::profile::file::ProfileFile;
use attache::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use attache::engine::model::object::{Object, ROUTES};
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

pub(crate) const GROUP: &str = "policies.example.com";
/// Policy kinds: the first four have a CRD, the others a configured profile.
pub(crate) const KINDS: [&str; 10] = [
    "Direct",
    "Inherited",
    "Legacy",
    "Unlabelled",
    "Deep",
    "Nearest",
    "Mesh",
    "Opaque",
    "Upper",
    "Newest",
];

/// An event that changes the state.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Applied(Value),
    Deleted(Value),
}

pub(crate) fn gk(value: &Value) -> GroupKind {
    let version = value["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    GroupKind::new(group, value["kind"].as_str().unwrap())
}

pub(crate) fn object(value: &Value) -> Object {
    Object::from_json(&gk(value), &to_raw_value(value).unwrap()).unwrap()
}

/// The CRD of a kind whose spec has these fields.
pub(crate) fn definition(kind: &str, fields: &Value) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{kind}.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced",
            "names": {"kind": kind, "plural": kind.to_lowercase()},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"properties": {"spec": {
                    "x-kubernetes-preserve-unknown-fields": true, "properties": fields}}}}}]}})
}

/// The profiles of the kinds without a CRD.
fn profiles() -> Vec<ProfileFile> {
    let strategy = json!({"path": "spec.mergeStrategy", "values": {
        "AtomicDefaults": {"direction": "defaults", "op": "atomic"},
        "AtomicOverrides": {"direction": "overrides", "op": "atomic"},
        "PatchDefaults": {"direction": "defaults", "op": "patch"},
        "PatchOverrides": {"direction": "overrides", "op": "patch"},
        "ByKey": {"direction": "overrides", "op": "by-key"},
    }});
    let service = json!([{"group": "", "kind": "Service"}]);
    let profiles = [
        (
            "Deep",
            json!({"class": "inherited", "effective": service,
            "targets": {"crossNamespace": "grant", "sectionNaming": "explicit-or-index"},
            "merge": {"strategy": strategy},
            "controls": [{"setting": "x", "target": {"group": GATEWAY_API, "kind": "HTTPRoute"},
                          "field": "spec.x"}]}),
        ),
        (
            "Nearest",
            json!({"class": "inherited", "merge": {"strategy": strategy,
            "dictatedBy": "challenger", "mergeWith": "nearest-parent"}}),
        ),
        (
            "Mesh",
            json!({"class": "inherited",
            "targets": {"crossNamespace": "consumer", "serviceAs": "frontend"},
            "merge": {"strategy": strategy}}),
        ),
        (
            "Opaque",
            json!({"class": "inherited",
            "merge": {"default": {"direction": "defaults", "op": "custom"}}}),
        ),
        (
            "Upper",
            json!({"class": "inherited",
            "effective": [{"group": GATEWAY_API, "kind": "Gateway"}],
            "hierarchy": ["Gateway", "ListenerSet", "GatewayNamespace", "Listener"]}),
        ),
        (
            "Newest",
            json!({"class": "inherited", "conflict": {"sameTarget": "newest-wins"},
            "targets": {"crossNamespace": "any"}, "merge": {"strategy": strategy}}),
        ),
    ];
    let read = |(kind, mut profile): (&str, Value)| {
        profile["match"] = json!({"group": GROUP, "kind": kind});
        serde_json::from_value(profile).unwrap()
    };
    profiles.into_iter().map(read).collect()
}

/// An empty state in which the topology kinds have been listed.
pub(crate) fn empty() -> Snapshot {
    let rules = Arc::new(ProfileRules::new(profiles(), Arc::default()));
    let gateway_api = ["GatewayClass", "Gateway", "ListenerSet", "ReferenceGrant"]
        .iter()
        .chain(&ROUTES)
        .map(|kind| GroupKind::gateway_api(kind));
    let kinds = gateway_api.chain(["Namespace", "Service"].map(GroupKind::core));
    kinds.fold(Snapshot::new(rules), |s, gk| {
        s.apply(Change::Listed(gk, Vec::new()))
    })
}

pub(crate) fn change(event: &Event) -> Change {
    match event {
        Event::Applied(value) => Change::Applied(Arc::new(object(value))),
        Event::Deleted(value) => Change::Deleted(object(value).key),
    }
}

pub(crate) fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Snapshot {
    let events = events.into_iter();
    events.fold(empty(), |s, event| s.apply(change(event)))
}

/// The objects that exist after the events, in the order of keys.
pub(crate) fn survivors(events: &[Event]) -> Vec<Event> {
    let mut left: BTreeMap<ObjectKey, Value> = BTreeMap::new();
    for event in events {
        match event {
            Event::Applied(value) => left.insert(object(value).key, value.clone()),
            Event::Deleted(value) => left.remove(&object(value).key),
        };
    }
    left.into_values().map(Event::Applied).collect()
}

/// The objects that exist after the events.
pub(crate) fn there(events: &[Event]) -> Vec<Value> {
    let left = survivors(events).into_iter().map(|event| match event {
        Event::Applied(value) | Event::Deleted(value) => value,
    });
    left.collect()
}

/// The events in another order.
pub(crate) fn shuffled(mut events: Vec<Event>, seed: u64) -> Vec<Event> {
    let mut state = seed;
    for i in (1..events.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        events.swap(i, usize::try_from(state >> 33).unwrap() % (i + 1));
    }
    events
}

/// Passes a request about an object to `judge`.
pub(crate) fn asked<T>(
    operation: Operation,
    new: Option<&Value>,
    old: Option<&Value>,
    judge: impl FnOnce(&Request<'_>) -> T,
) -> T {
    let subject = new.or(old).expect("an object");
    let raw = |value: Option<&Value>| value.map(|value| to_raw_value(value).unwrap());
    let (new, old) = (raw(new), raw(old));
    let key = object(subject).key;
    judge(&Request {
        operation,
        gk: gk(subject),
        namespace: &key.namespace,
        name: &key.name,
        subresource: "",
        object: new.as_deref(),
        old: old.as_deref(),
    })
}
