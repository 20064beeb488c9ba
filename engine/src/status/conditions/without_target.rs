//! Policies without a target that exists.

use super::{Accepted, NoEffect, State, TargetStatus};
use crate::policy::{Policy, Select};
use crate::state::snapshot::Snapshot;

/// Whether a policy without an existing target is wrong. It is not if the labels select a kind that is not watched,
/// if objects that name the policy may come later, or if the kind needs no target.
pub(super) fn unattached(snapshot: &Snapshot, policy: &Policy) -> Accepted {
    let mut targets = policy.targets.iter();
    let may_be_named = targets.any(|target| matches!(target.select, Select::Annotated(..)));
    if policy.strategies.is_none() {
        Accepted::Invalid
    } else if may_be_named || selects_unwatched(snapshot, policy) || policy.is_without_target() {
        Accepted::Accepted
    } else {
        Accepted::TargetNotFound
    }
}

/// Whether a policy selects objects of a kind that is not watched, so that the selected objects are
/// unknown.
pub fn selects_unwatched(snapshot: &Snapshot, policy: &Policy) -> bool {
    let mut targets = policy.targets.iter();
    targets.any(|target| matches!(target.select, Select::Labels(_)) && !snapshot.knows(&target.gk))
}

/// The state of a policy that no object names, for kinds that are attached by annotation, and of one that may have an effect without a
/// target.
pub(super) fn unnamed(
    snapshot: &Snapshot,
    policy: &Policy,
    targets: &[TargetStatus],
) -> Option<State> {
    if !targets.is_empty() {
        return None;
    }
    if let Some(why) = policy.may_act_without_target(snapshot) {
        return Some(State::Unknown(why.to_owned()));
    }
    let annotation = policy.profile.annotation.as_ref()?;
    let (gk, key) = (&annotation.target, &annotation.key);
    policy.strategies.as_ref()?;
    let why = format!("no {gk} names it in {key}");
    Some(State::NoEffect(NoEffect::lasting(why)))
}
