//! Direct policies that apply to some of the requests to their targets: those to one of several backends, or those through
//! Gateways whose controllers accept them.

use crate::engine::attachment::rejection::Rejection;
use crate::engine::attachment::reported_rejections::{Rejected, rejected};
use crate::engine::effective::{PathGroup, Resolver};
use crate::engine::kinds::profile::{Profile, ServiceAs};
use crate::engine::model::ids::{GroupKind, Place};
use crate::engine::model::level::Level;
use crate::engine::routing::{Backend, Served};
use crate::engine::topology::AncestorPath;

/// Whether direct policies of a kind apply to some of the backends that may get a request, and not to others of the same kind.
pub(super) fn leaves_backends_out(
    resolver: &mut Resolver<'_>,
    profile: &Profile,
    served: &Served,
) -> bool {
    if *profile.service_as != ServiceAs::Backend || served.backends.len() < 2 {
        return false;
    }
    let backends = served.backends.iter().filter(|to| to.weight > 0);
    let (with, without): (Vec<&Backend>, Vec<_>) =
        backends.partition(|to| has_policies(resolver, &profile.gk, to));
    let is_alike = |to: &&Backend| with.iter().any(|other| other.object.gk == to.object.gk);
    without.iter().any(is_alike)
}

/// Whether policies of a kind apply to requests to a backend: those of its port, otherwise those of the whole object.
fn has_policies(resolver: &mut Resolver<'_>, kind: &GroupKind, to: &Backend) -> bool {
    let groups = resolver.paths_through(&to.object, kind);
    groups.iter().any(|group| {
        let is_its = group.target().is_some_and(|place| {
            let section = place.section.as_ref();
            section.is_none_or(|port| Some(port) == to.label.as_ref())
        });
        is_its && !group.stack.is_empty()
    })
}

/// Whether the policies of a group are rejected for requests to a rule through an ancestor path, as their controllers report or as
/// attache knows of them.
pub(super) fn is_rejected_on(
    resolver: &Resolver<'_>,
    group: &PathGroup,
    rule: Option<&Place>,
    above: &AncestorPath,
) -> bool {
    let snapshot = resolver.snapshot();
    let acting = group.effective.policies();
    let mut policies = acting.iter().filter_map(|key| snapshot.policy(key));
    policies.any(|policy| {
        let is_reported = match rejected(snapshot, policy) {
            Rejected::Through(places) => {
                let mut steps = above.steps.iter();
                steps.any(|step| places.contains(&step.place))
            }
            Rejected::Nowhere | Rejected::Everywhere => false,
        };
        let is_left_out = |target: &Place| {
            let rejection = resolver.rejection_at(policy, target);
            rejection.is_some_and(|rejection| leaves_out_request(&rejection, rule, above))
        };
        is_reported || group.target().is_some_and(is_left_out)
    })
}

/// Whether requests to a rule through an ancestor path are among those that go without a policy.
pub(super) fn leaves_out_request(
    rejection: &Rejection,
    rule: Option<&Place>,
    above: &AncestorPath,
) -> bool {
    let mut steps = above.steps.iter();
    let parent = steps.find(|step| matches!(step.level, Level::Gateway | Level::Frontend));
    let Some((rule, parent)) = rule.zip(parent) else {
        return false;
    };
    let mut requests = rejection.requests().iter();
    requests.any(|one| one.are_of(rule, &parent.place.object))
}
