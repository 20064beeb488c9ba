//! Objects of a change that change nothing, and why.

use std::collections::BTreeSet;
use std::sync::Arc;

use attache_guardrails::is_guardrail;

use super::{ChangedObjects, Named, ObjectWithoutEffect};
use crate::answer::policies::reason::{of_strategy, reason as why_idle, unusable};
use crate::answer::state::PolicyState;
use crate::engine::effective::Resolver;
use crate::engine::effective::applying::attached_at_or_above;
use crate::engine::effective::impact::impact as differences;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::Node;
use crate::engine::model::wording::plural;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::{Change, Snapshot};
use crate::engine::status::conditions::{Accepted, PolicyStatus, State, statuses};

/// Policies of the change that are not in `busy`, the policies whose settings come or go; and the changed object
/// itself, if it is `alone`, policies could apply to it, and nothing else changes.
pub(super) fn without_effect(
    before: &Snapshot,
    after: &Snapshot,
    changed: &ChangedObjects,
    busy: &BTreeSet<ObjectKey>,
    alone: bool,
) -> Vec<ObjectWithoutEffect> {
    let idle = |snapshot: &Snapshot, keys: &BTreeSet<ObjectKey>, done: ChangeOfObject| {
        let policies = keys.iter().filter(|key| !busy.contains(*key));
        let policies = policies.filter(|key| !matters(before, after, key));
        let policies = policies.filter_map(|key| snapshot.policy(key));
        // Its requests get an error, and no longer when it is gone.
        let policies: Vec<&Arc<Policy>> = policies
            .filter(|policy| done == ChangeOfObject::Applied || !policy.requests_fail(before))
            .collect();
        let mut resolver = Resolver::new(snapshot);
        statuses(&mut resolver, &policies, |policy, status| {
            let known = done == ChangeOfObject::Applied && before.policy(policy.key()).is_some();
            let state = PolicyState::over_targets(snapshot, policy, &status);
            // It selects objects of a kind of which none is known, such as Pods.
            let unread = (state == PolicyState::Unknown && status.state.is_none())
                .then(|| why_idle(snapshot, policy, &status))
                .flatten();
            let of_unread = unread
                .map(|why| format!("whether it {} in force is not known: {why}", done.verb()));
            let reason = of_unread.unwrap_or_else(|| of_policy(policy, &status, done, known));
            ObjectWithoutEffect {
                is_known: state != PolicyState::Unknown,
                ..note(policy.key(), reason)
            }
        })
    };
    let mut idle_policies = idle(after, &changed.applied, ChangeOfObject::Applied);
    idle_policies.extend(idle(before, &changed.deleted, ChangeOfObject::Deleted));
    for (snapshot, keys) in [(after, &changed.applied), (before, &changed.deleted)] {
        let others = keys.iter().filter(|_| alone && idle_policies.is_empty());
        let others = others.filter(|key| may_be_acted_on(snapshot, key));
        let notes = others.map(|key| {
            let reason = of_target(&mut Resolver::new(snapshot), key);
            ObjectWithoutEffect {
                is_known: is_followed(snapshot, key),
                ..note(key, reason)
            }
        });
        let notes: Vec<ObjectWithoutEffect> = notes.collect();
        idle_policies.extend(notes);
    }
    idle_policies
}

/// Whether an applied or deleted policy changes anything, given the rest of the change: it may replace others and set the same
/// values, and controllers may reject others because of it.
fn matters(before: &Snapshot, after: &Snapshot, key: &ObjectKey) -> bool {
    let without = match (before.get(key), after.get(key)) {
        (Some(old), Some(new)) if old.is_same(new) => return false,
        (Some(old), _) => Change::Applied(old.clone()),
        (None, _) => Change::Deleted(key.clone()),
    };
    let without = after.with_change(without);
    !differences(&without, after, std::slice::from_ref(key)).is_empty()
}

fn note(object: &ObjectKey, reason: String) -> ObjectWithoutEffect {
    ObjectWithoutEffect {
        object: Named::from(object),
        is_known: true,
        reason,
    }
}

/// The action of the change on an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeOfObject {
    Applied,
    Deleted,
}

// === impl ChangeOfObject ===

impl ChangeOfObject {
    fn verb(self) -> &'static str {
        match self {
            Self::Applied => "is",
            Self::Deleted => "was",
        }
    }
}

fn of_policy(policy: &Policy, status: &PolicyStatus, done: ChangeOfObject, known: bool) -> String {
    let verb = done.verb();
    // The winner is a policy of the same kind, or the target itself.
    let name = |key: &ObjectKey| {
        if key.gk == policy.key().gk {
            key.path()
        } else {
            key.to_string()
        }
    };
    match (&status.accepted, &status.state) {
        (Accepted::Invalid, _) => {
            let why = unusable(policy).or_else(|| of_strategy(policy));
            let why = why.unwrap_or_else(|| "its strategy or its target cannot be used".to_owned());
            format!("it {verb} invalid: {why}")
        }
        (Accepted::Rejected(report), _) => {
            format!("it {verb} not in force: its controller reports {report}")
        }
        (Accepted::ExpectedRejection(why), _) => {
            format!("it {verb} not in force: {}", why.sentence())
        }
        (Accepted::TargetNotFound, _) => match status.targets.first() {
            Some(target) => format!("it {verb} not attached: {} does not exist", target.target),
            None => format!("it {verb} not attached"),
        },
        (Accepted::Conflicted(with), _) => {
            format!(
                "it {verb} not attached: {} is already attached to its target and takes precedence",
                name(with)
            )
        }
        (Accepted::Accepted, Some(State::Overridden)) => {
            let by: Vec<String> = status.by().iter().map(name).collect();
            format!("it {verb} overridden by {}", by.join(", "))
        }
        (Accepted::Accepted, Some(State::NoEffect(none))) => {
            format!("it {verb} without effect: {}", none.why)
        }
        (Accepted::Accepted, Some(State::Unknown(why))) => {
            format!("whether it {verb} in force is not known: {why}")
        }
        (Accepted::Accepted, None) => format!("it {verb} not attached"),
        (Accepted::Accepted, Some(_)) if done == ChangeOfObject::Deleted => {
            "the same stays in force".to_owned()
        }
        (Accepted::Accepted, Some(_)) if known => "its settings are already in force".to_owned(),
        (Accepted::Accepted, Some(_)) => "the same is in force already".to_owned(),
    }
}

fn of_target(resolver: &mut Resolver<'_>, key: &ObjectKey) -> String {
    if is_guardrail(&key.gk) {
        "a guardrail judges what is in force".to_owned()
    } else if !is_followed(resolver.snapshot(), key) {
        let kinds = plural(&key.gk.kind);
        format!("attache does not know what depends on {kinds}")
    } else if attached_at_or_above(resolver, key).is_empty() {
        "no policy applies to it".to_owned()
    } else {
        "the same policies apply to it in the same way".to_owned()
    }
}

/// Whether attache follows what depends on objects of this kind: they carry requests, or policies may be on them.
fn is_followed(snapshot: &Snapshot, key: &ObjectKey) -> bool {
    let object = snapshot.get(key);
    let is_other = object.is_some_and(|object| matches!(object.node, Node::Other));
    let may_be_target = || {
        let mut kinds = snapshot.policy_kinds();
        kinds.any(|kind| {
            let profile = snapshot.profile(kind);
            let allowed = profile.and_then(|profile| profile.allow.as_ref());
            let mut allowed = allowed.into_iter().flat_map(|allow| allow.iter());
            let mut policies = snapshot.policies(kind).flat_map(|policy| &policy.targets);
            allowed.any(|allowed| allowed.gk == key.gk)
                || policies.any(|target| target.gk == key.gk)
        })
    };
    !is_other || is_guardrail(&key.gk) || key.gk.is_core("Namespace") || may_be_target()
}

fn may_be_acted_on(snapshot: &Snapshot, key: &ObjectKey) -> bool {
    let object = snapshot.get(key);
    object.is_some_and(|object| !matches!(object.node, Node::Crd(_) | Node::ReferenceGrant { .. }))
}
