//! Whether controllers reject a policy only because of some of its targets.

use super::rejection::RejectionFinder;
use super::reports::entries;
use super::{AttachmentPermission, permission, sections};
use crate::kinds::profile::SameTarget;
use crate::model::ids::{ObjectKey, Place};
use crate::model::object::status::Subject;
use crate::policy::{Policy, TargetRef, condition_against};
use crate::state::snapshot::Snapshot;

/// Whether a policy is rejected only because of other targets than this one.
///
/// Controllers write one entry per ancestor, which does not name the target. Envoy Gateway 1.9.1
/// (`internal/gatewayapi`: `processSecurityPolicyForRoute` and its counterparts for other kinds) processes target by
/// target. It skips a target that already has another policy (`Conflicted`) or lacks the section (`TargetNotFound`),
/// and records that for the ancestors of that target; the policy is in force on the other targets even if they share
/// these ancestors. It records nothing for an object that does not exist. Listeners that share a port (`Invalid`)
/// concern their target alone. Any other fault (`Invalid`) applies to the policy at all its targets.
pub fn is_of_another_target(snapshot: &Snapshot, policy: &Policy, object: &ObjectKey) -> bool {
    if policy.targets.len() < 2 {
        return false;
    }
    let entries = entries(snapshot, policy);
    let rejections = entries
        .filter_map(|entry| Some((&entry.subject, condition_against(&policy.profile, entry)?)));
    let mut rejections = rejections.peekable();
    rejections.peek().is_some()
        && rejections.all(|(subject, rejection)| {
            explains(snapshot, policy, object, (subject, &rejection.reason))
        })
}

/// Whether the reason applies to a target of the policy other than this object.
fn explains(
    snapshot: &Snapshot,
    policy: &Policy,
    target_object: &ObjectKey,
    (subject, reason): (&Subject, &str),
) -> bool {
    let is_about = |key: &ObjectKey| match subject {
        Subject::Ancestor(place) => place.object == *key,
        Subject::Whole | Subject::Parent(_) | Subject::Listener(_) => false,
    };
    let own = &policy.key().namespace;
    let others = policy.targets.iter();
    let mut others = others.filter_map(|target| Some((target, target.object(own)?)));
    others.any(|(target, key)| {
        if key == *target_object {
            return false;
        }
        let is_granted =
            || permission(snapshot, policy, target, &key) != AttachmentPermission::NotGranted;
        let has_section = || {
            let object = snapshot.get(&key).map(|object| &**object);
            target.is_whole() || !sections(snapshot, &policy.profile, target, object).is_empty()
        };
        let taken = || {
            let mut others = snapshot.policies_naming(&key);
            *policy.profile.same_target == SameTarget::OldestWins
                && others.any(|winner| {
                    let mut theirs = winner.targets.iter();
                    winner.key().gk == policy.key().gk
                        && winner.precedence() < policy.precedence()
                        && theirs.any(|theirs| {
                            theirs.section == target.section
                                && theirs.object(&winner.key().namespace).as_ref() == Some(&key)
                        })
                })
        };
        match reason {
            "Conflicted" => taken(),
            "TargetNotFound" => snapshot.lacks(&key) || !has_section() || !is_granted(),
            "RefNotPermitted" => !is_granted(),
            _ => is_about(&key) && conflicts(snapshot, policy, target, &key, reason),
        }
    })
}

/// Whether a target conflicts with other objects in a way that controllers report with this reason.
fn conflicts(
    snapshot: &Snapshot,
    policy: &Policy,
    target: &TargetRef,
    key: &ObjectKey,
    reason: &str,
) -> bool {
    let object = snapshot.get(key).map(|object| &**object);
    let places = if target.is_whole() {
        vec![key.whole()]
    } else {
        let sections = sections(snapshot, &policy.profile, target, object).into_iter();
        sections.map(|section| key.section(section)).collect()
    };
    let rejections = RejectionFinder::default();
    let rejection_of = |place: &Place| rejections.of_attached(snapshot, policy, place);
    let mut rejections_at = places.iter().filter_map(rejection_of);
    rejections_at.any(|rejection| rejection.reason == reason)
}
