//! An object that is only looked at as if it were there counts as one that is applied.

use std::sync::Arc;

use attache::engine::model::object::{Node, Object};
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::engine::topology::{
    ListenerAcceptance, ParentAttachment, RouteKindConflicts, listener_acceptance,
    parent_attachment, sets_of,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::answers::keys;
use super::events::{fold, object};
use super::random::{any_event, any_object};

/// The accepted listeners of a Gateway or `ListenerSet`, the sets that join it, and the results of
/// the parentRefs of a route.
#[derive(Debug, PartialEq)]
struct Accepted {
    listeners: Option<ListenerAcceptance>,
    sets: Vec<String>,
    attachments: Vec<ParentAttachment>,
}

fn accepted(snapshot: &Snapshot, object: &Arc<Object>) -> Accepted {
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    let parents = object.parents().iter();
    let mut sets: Vec<String> = sets_of(snapshot, &object.key)
        .map(|set| set.key.to_string())
        .collect();
    sets.sort();
    Accepted {
        listeners: listener_acceptance(snapshot, object).map(|listeners| (*listeners).clone()),
        sets,
        attachments: parents
            .map(|parent| parent_attachment(&mut route_kind_conflicts, object, parent))
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A target that comes, changes or moves to another parent is accepted, and keeps others out, in the same way.
    #[test]
    fn a_supposed_target_counts_as_one_that_is_applied(events in vec(any_event(), 0..40), new in any_object()) {
        let snapshot = fold(&events);
        let new = Arc::new(object(&new));
        let is_target = snapshot.profile(&new.key.gk).is_none() && !matches!(new.node, Node::ReferenceGrant { .. } | Node::Crd(_));
        prop_assume!(is_target);
        let supposed = snapshot.with_object(new.clone());
        let applied = snapshot.apply(Change::Applied(new));
        for key in keys(&applied) {
            let (one, other) = (supposed.get(&key), applied.get(&key));
            let accepted_targets = [one.map(|o| accepted(&supposed, o)), other.map(|o| accepted(&applied, o))];
            prop_assert_eq!(&accepted_targets[0], &accepted_targets[1], "{}", key);
        }
    }
}
