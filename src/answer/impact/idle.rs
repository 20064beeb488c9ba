//! Objects of a change that change nothing, and why.

use std::collections::BTreeSet;

use super::{Doing, Idle, Named};
use crate::engine::affected::standing_over;
use crate::engine::conditions::{Accepted, PolicyStatus, State, status};
use crate::engine::effective::Survey;
use crate::engine::ids::ObjectKey;
use crate::engine::object::Node;
use crate::engine::snapshot::Snapshot;

/// Policies that are not among the `busy`, whose settings come or go; and an object that policies could act
/// on, where it is touched `alone` and nothing comes of it.
pub(super) fn idle(
    before: &Snapshot,
    after: &Snapshot,
    doing: &Doing,
    busy: &BTreeSet<ObjectKey>,
    alone: bool,
) -> Vec<Idle> {
    let (mut was, mut is) = (Survey::new(before), Survey::new(after));
    let mut found = Vec::new();
    let mut note = |object: &ObjectKey, reason: String| {
        found.push(Idle {
            object: Named::from(object),
            reason,
        });
    };
    for key in doing.applied.iter().filter(|key| !busy.contains(*key)) {
        if let Some(policy) = after.policy(key) {
            let known = before.policy(key).is_some();
            let status = status(&mut is, policy);
            note(key, of_policy(&status, "is", known));
        } else if alone && may_be_acted_on(after, key) {
            note(key, of_target(&mut is, key));
        }
    }
    for key in doing.deleted.iter().filter(|key| !busy.contains(*key)) {
        if let Some(policy) = before.policy(key) {
            let status = status(&mut was, policy);
            note(key, of_policy(&status, "was", false));
        } else if alone && may_be_acted_on(before, key) {
            note(key, of_target(&mut was, key));
        }
    }
    found
}

fn of_policy(status: &PolicyStatus, verb: &str, known: bool) -> String {
    let names = |keys: BTreeSet<ObjectKey>| {
        let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    match (&status.accepted, &status.state) {
        (Accepted::Invalid, _) => {
            format!("it {verb} invalid: its strategy or its target cannot be used")
        }
        (Accepted::TargetNotFound, _) => match status.targets.first() {
            Some(target) => format!(
                "it {verb} attached to nothing: there is no {}",
                target.target
            ),
            None => format!("it {verb} attached to nothing"),
        },
        (Accepted::Conflicted(with), _) => {
            format!("it {verb} in conflict: {with} has its target for itself")
        }
        (Accepted::Accepted, Some(State::Overridden)) => {
            format!("it {verb} overridden by {}", names(status.by()))
        }
        (Accepted::Accepted, Some(State::NoEffect(why))) => {
            format!("it {verb} without effect: {why}")
        }
        (Accepted::Accepted, None) => format!("it {verb} attached to nothing"),
        (Accepted::Accepted, Some(_)) if verb == "was" => "the same stays in force".to_owned(),
        (Accepted::Accepted, Some(_)) if known => "what it sets is in force already".to_owned(),
        (Accepted::Accepted, Some(_)) => "the same is in force already".to_owned(),
    }
}

fn of_target(survey: &mut Survey<'_>, key: &ObjectKey) -> String {
    if standing_over(survey, key).is_empty() {
        "no policy acts on it".to_owned()
    } else {
        "the same policies act on it in the same way".to_owned()
    }
}

fn may_be_acted_on(snapshot: &Snapshot, key: &ObjectKey) -> bool {
    let object = snapshot.get(key);
    object.is_some_and(|object| !matches!(object.node, Node::Crd(_) | Node::ReferenceGrant { .. }))
}
