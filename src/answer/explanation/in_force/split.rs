//! Direct policies that act on some of the requests to their targets: those to one of several backends, or those through
//! Gateways whose controllers accept them.

use crate::engine::attachment::reports::{Rejected, rejected};
use crate::engine::effective::{PathGroup, Resolver};
use crate::engine::kinds::profile::{Profile, ServiceAs};
use crate::engine::model::ids::GroupKind;
use crate::engine::routing::{Backend, Served};
use crate::engine::state::snapshot::Snapshot;
use crate::engine::topology::AncestorPath;

/// Whether direct policies of a kind act on some of the backends that may get a request, and not on others of the same kind.
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

/// Whether policies of a kind act on requests to a backend: those of its port, otherwise those of the whole object.
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

/// Whether the policies of a group are rejected for requests through an ancestor path, as their controllers report.
pub(super) fn is_rejected_on(snapshot: &Snapshot, group: &PathGroup, above: &AncestorPath) -> bool {
    let acting = group.effective.policies();
    let mut policies = acting.iter().filter_map(|key| snapshot.policy(key));
    policies.any(|policy| match rejected(snapshot, policy) {
        Rejected::Through(places) => {
            let mut steps = above.steps.iter();
            steps.any(|step| places.contains(&step.place))
        }
        Rejected::Nowhere | Rejected::Everywhere => false,
    })
}
