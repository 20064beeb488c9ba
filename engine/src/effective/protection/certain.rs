//! Protections that are certain on a path: those that hold whichever of several policies a controller takes if nothing orders them,
//! and that the requests on the path do not go without.

use std::sync::Arc;

use super::provided::{Coverage, Provided};
use crate::attachment::rejection::{Rejection, RejectionFinder};
use crate::attachment::reported_rejections::{Rejected, rejected};
use crate::attachment::requests_to_backend::RequestFilter;
use crate::attachment::{attached_to, is_of_another_target};
use crate::effective::PathGroup;
use crate::kinds::profile::{Class, Profile, Protection, SameTarget};
use crate::merge::act_together;
use crate::model::ids::Place;
use crate::policy::{Policy, StanzaRef};
use crate::state::snapshot::Snapshot;
use crate::topology::gateway_of;

/// The names of the protections that the effective policy of a group provides for all requests, whatever its controller takes.
pub fn certainly_provided<'p>(
    snapshot: &'p Snapshot,
    profile: &'p Profile,
    group: &'p PathGroup,
) -> impl Iterator<Item = &'p Arc<str>> {
    let is_provided = move |protection: &&Protection| {
        let provided = Provided::from_effective(snapshot, profile, protection, &group.effective);
        provided.coverage == Coverage::AllRequests
            && !may_lack(snapshot, protection, group)
            && !is_opened_by_other_kinds(snapshot, profile, protection, group)
    };
    let provided = profile.protects.iter().filter(is_provided);
    provided.map(|protection| &protection.name)
}

/// The requests to the target of direct policies that go without them, as their controllers report or as attache knows of them.
pub fn requests_without_policies(
    snapshot: &Snapshot,
    profile: &Profile,
    group: &PathGroup,
) -> Vec<RequestFilter> {
    let target = group
        .target()
        .filter(|_| *profile.class == Class::Direct && group.attached);
    let Some(target) = target else {
        return Vec::new();
    };
    let acting = group.effective.policies().into_iter();
    let policies = acting.filter_map(|key| snapshot.policy(&key));
    policies
        .flat_map(|policy| requests_without(snapshot, policy, target))
        .collect()
}

/// The requests to a target that go without a policy attached to it, as its controllers report or as attache knows of them.
fn requests_without(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Vec<RequestFilter> {
    let mut requests = match rejected(snapshot, policy) {
        Rejected::Through(places) if !is_of_another_target(snapshot, policy, &target.object) => {
            let requests_through = |place: Place| RequestFilter {
                route: None,
                parent: Some(gateway_of(snapshot, &place.object).clone()),
            };
            places.into_iter().map(requests_through).collect()
        }
        _ => Vec::new(),
    };
    let rejection = RejectionFinder::default().of_attached(snapshot, policy, target);
    let rejection = rejection.iter().flat_map(Rejection::requests);
    requests.extend(rejection.cloned());
    requests
}

/// Whether a controller may take a policy that does not provide a protection, because nothing orders it and others of its target.
fn may_lack(snapshot: &Snapshot, protection: &Protection, group: &PathGroup) -> bool {
    group.stack.iter().any(|level| {
        let policies = &level.policies;
        policies.iter().any(|policy| {
            let is_unordered = *policy.profile.same_target == SameTarget::MergeUnsettled;
            let mut others = policies.iter().filter(|other| other.key() != policy.key());
            is_unordered
                && others.any(|other| act_together(policy, other))
                && takes_away(snapshot, protection, policy)
        })
    })
}

/// Whether a policy of another kind, which is an alternative to this one, lets every request to the target pass.
fn is_opened_by_other_kinds(
    snapshot: &Snapshot,
    profile: &Profile,
    protection: &Protection,
    group: &PathGroup,
) -> bool {
    let alternatives = profile.alternatives.as_ref();
    let Some((alternatives, target)) = alternatives.zip(group.target()) else {
        return false;
    };
    let attached = attached_to(snapshot, &target.object, &RejectionFinder::default());
    attached.iter().any(|one| {
        let policy = &one.policy;
        let protection = policy.profile.protection(&protection.name);
        let is_alternative = alternatives.other_kinds.contains(&policy.key().gk);
        protection
            .filter(|_| is_alternative)
            .is_some_and(|same| Provided::from_policy(snapshot, same, policy).lets_all_pass)
    })
}

/// Whether a policy provides less of a protection than others may, if it is taken in their place.
fn takes_away(snapshot: &Snapshot, protection: &Protection, policy: &Policy) -> bool {
    let own = Provided::from_policy(snapshot, protection, policy);
    let is_whole = policy.stanzas().all(StanzaRef::is_whole);
    own.coverage < Coverage::AllRequests && (is_whole || own.is_decided_by_policies())
}
