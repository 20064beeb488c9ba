//! Reviews: what may never be refused, and what every refusal contains.

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::finding::Severity;
use attache::engine::admission::request::Operation;
use attache::engine::admission::review::review;
use attache::engine::admission::verdict::Verdict;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::policy::Policy;
use attache::engine::state::snapshot::Snapshot;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::answers::answers;
use super::events::{Event, asked, change, empty, fold, object, there};
use super::random::{any_event, any_object};

fn reviewed(
    snapshot: &Snapshot,
    operation: Operation,
    new: Option<&Value>,
    old: Option<&Value>,
) -> Verdict {
    asked(operation, new, old, |request| {
        review(snapshot, request, &Evidence::Authoritative)
    })
}

/// Whether an object can cause a refusal of a policy: its targets and its CRD.
fn concerns(policy: &Policy, other: &ObjectKey) -> bool {
    let own = &policy.key().namespace;
    let named = policy
        .targets
        .iter()
        .filter_map(|target| target.object(own));
    other.gk == GroupKind::CRD
        || other == policy.key()
        || named.into_iter().any(|key| key == *other)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn an_update_that_changes_nothing_is_never_refused(events in vec(any_event(), 1..30)) {
        let snapshot = fold(&events);
        for value in there(&events) {
            let mut again = value.clone();
            again["metadata"]["resourceVersion"] = json!("2");
            again["metadata"]["managedFields"] = json!([{"manager": "somebody"}]);
            let verdict = reviewed(&snapshot, Operation::Update, Some(&again), Some(&value));
            prop_assert!(verdict.allowed() && verdict.findings.is_empty(), "{value} {verdict:?}");
        }
    }

    #[test]
    fn an_unrelated_edit_of_any_object_passes(events in vec(any_event(), 1..30)) {
        let snapshot = fold(&events);
        for value in there(&events) {
            let mut labelled = value.clone();
            labelled["metadata"]["labels"]["touched"] = json!("yes");
            let verdict = reviewed(&snapshot, Operation::Update, Some(&labelled), Some(&value));
            prop_assert!(verdict.allowed(), "{value} {verdict:?}");
        }
    }

    #[test]
    fn a_deletion_is_never_refused(events in vec(any_event(), 1..30)) {
        let snapshot = fold(&events);
        for value in there(&events) {
            let verdict = reviewed(&snapshot, Operation::Delete, None, Some(&value));
            prop_assert!(verdict.allowed(), "{value} {verdict:?}");
        }
    }

    #[test]
    fn a_finding_names_its_object_and_a_refusal_its_field(
        events in vec(any_event(), 0..30), value in any_object(),
    ) {
        let snapshot = fold(&events);
        let verdict = reviewed(&snapshot, Operation::Create, Some(&value), None);
        let key = object(&value).key;
        for finding in &verdict.findings {
            prop_assert_eq!(&finding.object, &key);
            prop_assert!(!finding.message.is_empty());
            if finding.severity == Severity::Deny {
                let field = finding.field.as_ref().map(|field| field.0.clone()).unwrap_or_default();
                prop_assert!(field.starts_with("spec"), "{finding:?}");
            }
        }
    }

    #[test]
    fn an_allowed_request_stays_allowed_when_other_objects_change(
        events in vec(any_event(), 0..30), value in any_object(), other in any_event(),
    ) {
        let snapshot = fold(&events);
        let before = reviewed(&snapshot, Operation::Create, Some(&value), None);
        let stored = snapshot.apply(change(&Event::Applied(value.clone())));
        let key = object(&value).key;
        let changed = match &other {
            Event::Applied(value) | Event::Deleted(value) => object(value).key,
        };
        if stored.policy(&key).is_none_or(|policy| concerns(policy, &changed)) {
            return Ok(());
        }
        let after = reviewed(&snapshot.apply(change(&other)), Operation::Create, Some(&value), None);
        prop_assert_eq!(before.allowed(), after.allowed(), "{:?}\n{:?}", before, after);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn cached_results_of_other_states_change_nothing(events in vec(any_event(), 1..30)) {
        let mut snapshot = empty();
        let mut seen: Vec<Value> = Vec::new();
        for event in &events {
            let (Event::Applied(value) | Event::Deleted(value)) = event;
            seen.push(value.clone());
            let before = snapshot.clone();
            snapshot = snapshot.apply(change(event));
            // Asks the state before again, as a request that arrived earlier would.
            for state in [&snapshot, &before, &snapshot] {
                let remembered = answers(state, &seen);
                let anew = std::thread::scope(|scope| {
                    scope.spawn(|| answers(state, &seen)).join().unwrap()
                });
                prop_assert_eq!(remembered, anew, "after {:?}", event);
            }
        }
    }
}
