//! Fields of policies on backends that controllers understand differently: port numbers, the group `core`, settings that some
//! reject. The controllers whose routes send requests to the backend decide.

use std::sync::Arc;

use super::open_targets::holds_for_target;
use crate::kinds::profile::{Profile, RejectedIf};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Node, Object};
use crate::model::section::{PortsBy, SectionNames};
use crate::policy::{Policy, TargetRef};
use crate::state::snapshot::Snapshot;
use crate::topology::reports::controller;

/// How references of a kind name the sections of an object.
pub(crate) fn section_names(
    snapshot: &Snapshot,
    profile: &Profile,
    object: &Object,
) -> SectionNames {
    let names = profile.section_names();
    let with = &profile.port_numbers_with;
    if with.is_empty() || !matches!(object.node, Node::Service { .. }) {
        return names;
    }
    let controllers = controllers_before(snapshot, &object.key);
    let by_number = controllers.into_iter().any(|name| with.contains(name));
    SectionNames {
        ports_by: if by_number {
            PortsBy::Both
        } else {
            names.ports_by
        },
        ..names
    }
}

/// Whether all controllers that send requests to a backend take `core` for the empty group. `false` if none is known.
pub(crate) fn takes_core_group(snapshot: &Snapshot, policy: &Policy, target: &TargetRef) -> bool {
    let backend = target.object(&policy.key().namespace);
    backend
        .is_some_and(|backend| all_before_are(snapshot, &backend, &policy.profile.core_group_with))
}

/// Whether no controller that sends requests to a backend takes `core` for the empty group. `false` if one of them is not known
/// for that.
pub(super) fn is_not_taken_as_core(
    snapshot: &Snapshot,
    profile: &Profile,
    backend: &ObjectKey,
) -> bool {
    all_before_are(snapshot, backend, &profile.no_core_group_with)
}

/// The condition for which the controllers of a target reject a policy, whatever other policies there are.
pub(super) fn rejected_at<'p>(
    snapshot: &Snapshot,
    policy: &'p Policy,
    target: &ObjectKey,
) -> Option<&'p RejectedIf> {
    let mut all = policy.rejected_on(&target.gk);
    all.find(|rejected| {
        let (only, of_target) = (&rejected.controllers, rejected.of_target.as_ref());
        (only.is_empty() || all_before_are(snapshot, target, only))
            && of_target.is_none_or(|(_, fields)| holds_for_target(snapshot, target, fields))
            && is_only_behind(snapshot, rejected, target)
    })
}

/// Whether the routes that lead to a target of a kind decide whether controllers reject a policy there.
pub(super) fn depends_on_routes_to(policy: &Policy, target: &GroupKind) -> bool {
    let mut rejected = policy.rejected_on(target);
    rejected.any(|one| !(one.only_behind.is_empty() && one.controllers.is_empty()))
}

/// Whether routes send requests to the target, and all that do are of the kinds for which the policy is rejected.
fn is_only_behind(snapshot: &Snapshot, rejected: &RejectedIf, target: &ObjectKey) -> bool {
    let kinds = &rejected.only_behind;
    let is_one = |route: &Arc<Object>| kinds.iter().any(|kind| **kind == *route.key.gk.kind);
    let mut routes = snapshot.using(target).peekable();
    kinds.is_empty() || routes.peek().is_some() && routes.all(is_one)
}

/// Whether some controller sends requests to a backend, and all that do are among these.
fn all_before_are(snapshot: &Snapshot, backend: &ObjectKey, these: &[Arc<str>]) -> bool {
    if these.is_empty() {
        return false;
    }
    let controllers = controllers_before(snapshot, backend);
    !controllers.is_empty() && controllers.into_iter().all(|name| these.contains(name))
}

/// The controllers of the Gateways whose routes send requests to a backend; those of all classes if there is no route, which may
/// come later.
fn controllers_before<'a>(snapshot: &'a Snapshot, backend: &ObjectKey) -> Vec<&'a Arc<str>> {
    let routes = snapshot.using(backend);
    let parents = routes.flat_map(|route| route.parents());
    let controllers = parents.filter_map(|parent| controller(snapshot, &parent.object));
    let controllers: Vec<&Arc<str>> = controllers.collect();
    if !controllers.is_empty() {
        return controllers;
    }
    let class = GroupKind::gateway_api("GatewayClass");
    let classes = snapshot.objects(&class);
    let controllers = classes.filter_map(|class| class.node.controller());
    controllers.collect()
}
