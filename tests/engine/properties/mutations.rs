//! Patches apply, their result needs no further patch, and there are none without enabled mutations.

use std::sync::Arc;

use attache::engine::admission::mutate::{Mutations, mutate};
use attache::engine::admission::mutation::Mutation;
use attache::engine::admission::request::Operation;
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use super::events::{Event, GROUP, asked, change, definition, fold, gk};
use super::random::{any_event, any_object};

const ALL: [Mutation; 5] = [
    Mutation::NormalizeTargets,
    Mutation::DefaultStrategy,
    Mutation::AffectedAnnotation,
    Mutation::MigrateTargetRef,
    Mutation::ProjectFields,
];

fn mutations(on: &[Mutation]) -> Mutations {
    Mutations::new(&on.iter().map(|mutation| (*mutation, true)).collect())
}

/// The CRD of a kind with both target fields and a strategy.
fn both() -> Event {
    let item = json!({"properties": {"group": {}, "kind": {}, "name": {}, "namespace": {},
        "sectionName": {}, "selector": {}}});
    let fields = json!({"targetRef": item, "targetRefs": {"type": "array", "items": item},
        "mergeStrategy": {"type": "string", "enum": ["AtomicDefaults", "PatchDefaults"]}});
    Event::Applied(definition("Inherited", &fields))
}

/// The state after these events, with the policies of every kind listed.
fn state(events: &[Event], both_forms: bool) -> Snapshot {
    let mut snapshot = fold(events);
    if both_forms {
        snapshot = snapshot.apply(change(&both()));
    }
    let kinds: Vec<GroupKind> = snapshot.policy_kinds().cloned().collect();
    kinds.into_iter().fold(snapshot, |snapshot, kind| {
        let objects: Vec<Arc<Object>> = snapshot.objects(&kind).cloned().collect();
        snapshot.apply(Change::Listed(kind, objects))
    })
}

fn wrong(group: &str, kind: &str, how: u8) -> (Value, Value) {
    let mixed = |kind: &str| json!(kind.to_lowercase());
    match how {
        0 => (json!(format!("{group}/v1")), json!(kind)),
        1 if group.is_empty() => (json!("core"), mixed(kind)),
        1 => (json!(group), mixed(kind)),
        2 => (json!(format!("{group}/v1beta1")), mixed(kind)),
        3 => (Value::Null, json!(kind)),
        4 => (json!(7), json!(["x"])),
        _ => (json!(group), json!(kind)),
    }
}

/// Adds faults to the target references of an object; moves some to the singular field.
fn mistaken(mut object: Value, how: &[u8], single: u8) -> Value {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return object;
    };
    if let Some(Value::Array(items)) = spec.get_mut("targetRefs") {
        for (item, how) in items.iter_mut().zip(how) {
            let text = |part: &str| item[part].as_str().unwrap_or_default().to_owned();
            let (group, kind) = wrong(&text("group"), &text("kind"), *how);
            item["group"] = group;
            item["kind"] = kind;
        }
        let first = items.first().cloned().unwrap_or_default();
        match single {
            0 => {
                spec.remove("targetRefs");
                spec.insert("targetRef".to_owned(), first);
            }
            1 => {
                spec.insert("targetRef".to_owned(), first);
            }
            _ => {}
        }
    }
    object
}

/// A route whose field `x` is controlled by policies.
fn route() -> impl Strategy<Value = Value> {
    let x = select(vec![Value::Null, json!([]), json!("own"), json!({"k": 3})]);
    (select(vec!["a", "b"]), select(vec!["r0", "r1"]), x).prop_map(|(namespace, name, x)| {
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"parentRefs": [{"name": "g0"}], "rules": [{}], "x": x}})
    })
}

/// A policy of the kind with both target fields.
fn policy() -> impl Strategy<Value = Value> {
    let strategy = select(vec![Value::Null, json!("PatchDefaults")]);
    let kinds = select(vec!["Gateway", "HTTPRoute"]);
    (kinds, strategy).prop_map(|(kind, strategy)| {
        let target = json!({"group": "gateway.networking.k8s.io", "kind": kind, "name": "g0"});
        json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Inherited",
            "metadata": {"namespace": "a", "name": "p0"},
            "spec": {"targetRefs": [target], "mergeStrategy": strategy, "x": 1}})
    })
}

/// Turns all policies in the events into the kind that controls a field.
fn controlling(mut events: Vec<Event>) -> Vec<Event> {
    for (i, event) in events.iter_mut().enumerate() {
        let (Event::Applied(value) | Event::Deleted(value)) = event;
        if value["spec"]["targetRefs"].is_array() {
            value["kind"] = json!("Deep");
            let (kind, name) = [("HTTPRoute", "r0"), ("HTTPRoute", "r1"), ("Gateway", "g0")][i % 3];
            let target = json!({"group": "gateway.networking.k8s.io", "kind": kind, "name": name});
            value["spec"]["targetRefs"] = json!([target]);
            if value["spec"]["x"].is_null() {
                value["spec"]["x"] = json!({"k": i, "l": [1]});
            }
        }
    }
    events
}

fn some_events() -> impl Strategy<Value = Vec<Event>> {
    let controlled = vec(any_event(), 0..40).prop_map(controlling);
    prop_oneof![vec(any_event(), 0..40), controlled]
}

/// Any object, and Secrets with annotations that may be stale, broken or foreign.
fn applied() -> impl Strategy<Value = Value> {
    let key = select(vec![
        "policies.example.com/DirectAffected",
        "policies.example.com/DeepAffected",
        "example.com/MeshAffected",
        "gateway.networking.k8s.io/PolicyAffected",
        "attache.dev/projected",
    ]);
    let written =
        json!({"/spec/x": {"policy": "p", "value": "own"}, "/spec": {"policy": "p", "value": {}}});
    let value = select(vec![
        json!("true"),
        json!("false"),
        json!(written.to_string()),
        json!("{"),
    ]);
    let annotations = vec((key, value), 0..3);
    let secret = select(vec!["a", "b"]).prop_map(|namespace| {
        json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"namespace": namespace, "name": "s"}, "data": {}})
    });
    let some = prop_oneof![3 => any_object(), 1 => secret, 4 => route(), 2 => policy()];
    let how = (vec(0..6_u8, 3), 0..4_u8);
    (some, annotations, how).prop_map(|(object, annotations, (how, single))| {
        let mut object = mistaken(object, &how, single);
        if !annotations.is_empty() {
            let map = annotations.into_iter().map(|(k, v)| (k.to_owned(), v));
            object["metadata"]["annotations"] = map.collect::<serde_json::Map<_, _>>().into();
        }
        object
    })
}

fn mutated(snapshot: &Snapshot, on: &Mutations, value: &Value) -> Verdict {
    asked(Operation::Create, Some(value), None, |request| {
        mutate(snapshot, on, request)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn mutations_are_idempotent(
        events in some_events(),
        value in applied(),
        on in subsequence(&ALL[..], 1..=5),
        both_forms in any::<bool>(),
    ) {
        let snapshot = state(&events, both_forms);
        prop_assert_eq!(mutated(&snapshot, &Mutations::default(), &value), Verdict::default());
        let on = mutations(&on);
        let verdict = mutated(&snapshot, &on, &value);
        let mut patched = value.clone();
        json_patch::patch(&mut patched, &verdict.patch).unwrap();
        let again = mutated(&snapshot, &on, &patched);
        prop_assert!(again.patch.is_empty(), "{:?} after {:?}", again.patch, verdict.patch);
        prop_assert_eq!(&again.findings, &verdict.findings);
        // The patched object is stored and then applied again by another client.
        let stored = snapshot.apply(change(&Event::Applied(patched.clone())));
        let again = mutated(&stored, &on, &patched);
        let is_target = snapshot.profile(&gk(&value)).is_none();
        prop_assert!(!is_target || again.patch.is_empty(), "{:?} once stored", again.patch);
        let same = |part: &str| value[part] == patched[part];
        prop_assert!(same("apiVersion") && same("kind"));
        prop_assert_eq!(&value["metadata"]["name"], &patched["metadata"]["name"]);
        prop_assert_eq!(&value["metadata"]["labels"], &patched["metadata"]["labels"]);
    }

    /// During a rollout, replicas with different mutations answer in turn.
    #[test]
    fn replicas_with_different_mutations_do_not_fight(
        events in some_events(),
        value in applied(),
        one in subsequence(&ALL[..], 0..=5),
        two in subsequence(&ALL[..], 0..=5),
        both_forms in any::<bool>(),
    ) {
        let snapshot = state(&events, both_forms);
        let replicas = [mutations(&one), mutations(&two)];
        let mut object = value;
        // One patch can enable another, at most once.
        for _ in 0..2 {
            for on in &replicas {
                let patch = mutated(&snapshot, on, &object).patch;
                json_patch::patch(&mut object, &patch).unwrap();
            }
        }
        for on in &replicas {
            let verdict = mutated(&snapshot, on, &object);
            prop_assert!(verdict.patch.is_empty(), "{:?} of {object}", verdict.patch);
        }
    }

    /// Fields written into a target are removed with the policies, and its own fields stay.
    #[test]
    fn projected_values_can_be_removed(events in some_events(), value in applied()) {
        let snapshot = state(&events, false);
        prop_assume!(snapshot.profile(&gk(&value)).is_none());
        prop_assume!(value["metadata"]["annotations"]["attache.dev/projected"].is_null());
        let on = mutations(&[Mutation::ProjectFields]);
        let mut written = value.clone();
        json_patch::patch(&mut written, &mutated(&snapshot, &on, &value).patch).unwrap();
        let nothing = state(&[], false);
        let verdict = mutated(&nothing, &on, &written);
        json_patch::patch(&mut written, &verdict.patch).unwrap();
        let without_projection = |mut value: Value| {
            let unset = [json!(null), json!([]), json!({})];
            if unset.contains(value.pointer("/spec/x").unwrap_or(&Value::Null)) {
                value.get_mut("spec").and_then(Value::as_object_mut).map(|spec| spec.remove("x"));
            }
            if value["metadata"]["annotations"] == json!({}) {
                value["metadata"].as_object_mut().unwrap().remove("annotations");
            }
            value
        };
        prop_assert_eq!(without_projection(written), without_projection(value));
    }
}
