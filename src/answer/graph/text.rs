//! Texts that say why a policy is not attached.

pub(super) use crate::answer::policies::reason::not_attached;
use crate::answer::policies::reason::{selecting_nothing, unusable};
use crate::engine::policy::{Policy, entries};
use crate::engine::state::snapshot::Snapshot;

/// Why a policy has no target at all.
pub(super) fn idle(snapshot: &Snapshot, policy: &Policy) -> String {
    let annotation = policy.profile.annotation.as_ref();
    if let Some(why) = unusable(policy) {
        why
    } else if policy.strategies.is_none() {
        "its merge strategy cannot be used".to_owned()
    } else if let Some(annotation) = annotation {
        format!("no {} names it in {}", annotation.target, annotation.key)
    } else if let Some(nothing) = selecting_nothing(snapshot, policy) {
        nothing
    } else if policy.is_without_target() {
        "it names no target and needs none".to_owned()
    } else {
        let spec = policy.spec();
        match entries(&spec, &policy.profile).first() {
            Some(entry) => format!("{} names no object", entry.path),
            None => "it names no target".to_owned(),
        }
    }
}
