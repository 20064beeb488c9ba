//! Replicas that reached a state in different ways answer a request with equal bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::mutate::Mutations;
use attache::engine::admission::mutation::Mutation;
use attache::engine::admission::settings::ReviewSettings;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::events::{Event, change, empty, fold, gk, object, shuffled, survivors};
use super::random::{any_event, any_object};

/// All mutations are enabled.
fn review_settings() -> ReviewSettings {
    let all = [
        Mutation::NormalizeTargets,
        Mutation::DefaultStrategy,
        Mutation::AffectedAnnotation,
        Mutation::MigrateTargetRef,
        Mutation::ProjectFields,
    ];
    ReviewSettings {
        mutations: Mutations::new(&all.into_iter().map(|mutation| (mutation, true)).collect()),
        ..ReviewSettings::default()
    }
}

/// Reorders the events of different objects: the API server preserves only the order per object.
fn interleaved(events: &[Event], seed: u64) -> Vec<Event> {
    let mut queues: BTreeMap<_, Vec<Event>> = BTreeMap::new();
    for event in events.iter().rev() {
        let (Event::Applied(value) | Event::Deleted(value)) = event;
        queues
            .entry(object(value).key)
            .or_default()
            .push(event.clone());
    }
    // The order of objects; each appears once per event.
    let turns: Vec<Event> = events.to_vec();
    let turns = shuffled(turns, seed);
    let next = |turn: &Event| {
        let (Event::Applied(value) | Event::Deleted(value)) = turn;
        queues.get_mut(&object(value).key).and_then(Vec::pop)
    };
    turns.iter().filter_map(next).collect()
}

/// The state from lists of each kind, in an order given by the seed, on top of a wrong state.
fn listed(rest: &[Event], seed: u64) -> Snapshot {
    let mut kinds: BTreeMap<String, (GroupKind, Vec<Object>)> = BTreeMap::new();
    for event in rest {
        if let Event::Applied(value) = event {
            let of_kind = kinds.entry(gk(value).to_string());
            let (_, objects) = of_kind.or_insert_with(|| (gk(value), Vec::new()));
            objects.push(object(value));
        }
    }
    let mut lists: Vec<(GroupKind, Vec<Object>)> = kinds.into_values().collect();
    if !lists.is_empty() {
        let by = usize::try_from(seed).unwrap_or(0) % lists.len();
        lists.rotate_left(by);
    }
    let stale = shuffled(rest.to_vec(), seed);
    let before = fold(stale.iter().take(3)).apply(Change::Gone(GroupKind::core("Service")));
    let before = before.apply(Change::Listed(GroupKind::core("Service"), Vec::new()));
    lists.into_iter().fold(before, |snapshot, (gk, objects)| {
        if empty().knows(&gk) {
            return snapshot.apply(Change::Listed(
                gk,
                objects.into_iter().map(Arc::new).collect(),
            ));
        }
        let applied = objects
            .into_iter()
            .map(|object| Change::Applied(Arc::new(object)));
        applied.fold(snapshot, |s, change| s.apply(change))
    })
}

fn body(operation: &str, new: Option<&Value>, old: Option<&Value>) -> Vec<u8> {
    let subject = new.or(old).unwrap();
    let gk = gk(subject);
    let meta = &subject["metadata"];
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "operation": operation, "namespace": meta["namespace"], "name": meta["name"],
        "kind": {"group": &*gk.group, "version": "v1", "kind": &*gk.kind},
        "object": new, "oldObject": old}});
    review.to_string().into_bytes()
}

/// Requests about an object: CREATE, UPDATE to another of its kind, DELETE.
fn bodies(one: &Value, other: &Value) -> Vec<Vec<u8>> {
    let mut changed = other.clone();
    changed["metadata"]["name"] = one["metadata"]["name"].clone();
    changed["metadata"]["namespace"] = one["metadata"]["namespace"].clone();
    let mut found = vec![
        body("CREATE", Some(one), None),
        body("DELETE", None, Some(one)),
    ];
    if gk(one) == gk(other) {
        found.push(body("UPDATE", Some(&changed), Some(one)));
    }
    found
}

/// The answers of a replica, from both endpoints.
fn answers(snapshot: &Snapshot, bodies: &[Vec<u8>]) -> Vec<String> {
    let review_settings = review_settings();
    let ask = |body: &Vec<u8>, endpoint, evidence| {
        let answer = respond(snapshot, &review_settings, &evidence, endpoint, body).unwrap();
        String::from_utf8(answer).unwrap()
    };
    let mut all_answers = Vec::new();
    for body in bodies {
        all_answers.push(ask(body, Endpoint::Validate, Evidence::Authoritative));
        all_answers.push(ask(body, Endpoint::Validate, Evidence::Cached));
        all_answers.push(ask(body, Endpoint::Mutate, Evidence::Authoritative));
    }
    all_answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_events_does_not_show(
        events in vec(any_event(), 0..48),
        asked in vec((any_object(), any_object()), 1..8),
        seed in any::<u64>(),
        noise in select(vec![0_usize, 3, 9]),
    ) {
        let rest = survivors(&events);
        let there = rest.iter().map(|(Event::Applied(value) | Event::Deleted(value))| value);
        let mut bodies: Vec<Vec<u8>> = there.take(6).flat_map(|value| bodies(value, value)).collect();
        bodies.extend(asked.iter().flat_map(|(one, other)| self::bodies(one, other)));
        let expected = answers(&fold(&events), &bodies);
        prop_assert_eq!(&expected, &answers(&fold(&interleaved(&events, seed)), &bodies));
        prop_assert_eq!(&expected, &answers(&listed(&rest, seed), &bodies));
        // Some objects existed before, were deleted, and are created again at the end.
        let last = shuffled(rest, seed);
        let back = last.iter().take(noise).flat_map(|event| {
            let (Event::Applied(value) | Event::Deleted(value)) = event;
            [Event::Deleted(value.clone()), Event::Applied(value.clone())]
        });
        let again: Vec<Event> = last.iter().cloned().chain(back).collect();
        let snapshot = again.iter().fold(empty(), |s, event| s.apply(change(event)));
        prop_assert_eq!(&expected, &answers(&snapshot, &bodies));
    }
}
