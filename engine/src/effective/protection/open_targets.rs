//! Targets that themselves let every request pass, whatever policies say: a Server of Linkerd with `accessPolicy`.

use std::sync::Arc;

use super::provided::Provided;
use super::{LostSources, ProtectionLoss};
use crate::attachment::opened_by_target;
use crate::effective::Resolver;
use crate::effective::impact::EffectiveChange;
use crate::kinds::profile::{OpenTarget, Profile};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Object;
use crate::state::snapshot::{Snapshot, namespace_key};

/// The protections that are lost because the targets of policies themselves let every request pass
/// after a change of these objects.
pub(super) fn lost_by_targets(
    [resolver_before, resolver_after]: [&mut Resolver<'_>; 2],
    objects: &[ObjectKey],
) -> Vec<(GroupKind, ProtectionLoss)> {
    let (before, after) = (resolver_before.snapshot(), resolver_after.snapshot());
    let mut losses = Vec::new();
    for kind in before.used_kinds() {
        let Some(profile) = before.profile(kind) else {
            continue;
        };
        for object in objects {
            let opened = opened_by_target(after, profile, object);
            let Some(why) = opened.or_else(|| open_when_deleted(after, profile, object)) else {
                continue;
            };
            let is_new = before.get(object).is_none();
            if is_new || opened_by_target(before, profile, object).is_some() {
                continue;
            }
            // What a target lets pass reaches the routes below it, too.
            let routes = resolver_before.routes_of(object).into_iter();
            let routes = routes.filter(|route| names_as_parent(before, route, object));
            for target in std::iter::once(object.clone()).chain(routes) {
                let groups = resolver_before.paths_through(&target, kind).into_iter();
                let attached = groups.filter(|group| group.attached);
                let results: Vec<_> = attached.map(|group| group.effective).collect();
                for protection in profile.protects.iter() {
                    let provided_by =
                        |one| Provided::from_effective(before, profile, protection, one);
                    let provided = results.iter().map(|one| provided_by(one));
                    let Some(provided) =
                        LostSources::all_of(provided.filter(|provided| !provided.lets_all_pass))
                    else {
                        continue;
                    };
                    let taken = LostSources {
                        reasons: [why.clone()].into(),
                        ..provided
                    };
                    let loss = ProtectionLoss::of_object(&protection.name, &target, taken);
                    losses.push((kind.clone(), loss));
                }
            }
        }
    }
    losses
}

/// Whether a route names an object as its parent.
fn names_as_parent(snapshot: &Snapshot, route: &ObjectKey, parent: &ObjectKey) -> bool {
    let route = snapshot.get(route);
    route.is_some_and(|route| route.parents_to(parent).next().is_some())
}

/// Why requests pass that a target took before it was deleted. With its Namespace everything is gone that would get them.
fn open_when_deleted<'p>(
    after: &Snapshot,
    profile: &'p Profile,
    target: &ObjectKey,
) -> Option<&'p Arc<str>> {
    let why = open_target(profile, target)?.open_when_deleted.as_ref()?;
    let namespace = namespace_key(&target.namespace);
    let is_deleted = after.get(target).is_none() && !after.is_hypothetical(&namespace);
    is_deleted.then_some(why)
}

/// Whether an object lets no request pass after a change, because no policy lets any pass.
pub(super) fn is_closed_without_policy(
    after: &Snapshot,
    profile: &Profile,
    change: &EffectiveChange,
    object: &ObjectKey,
) -> bool {
    let is_closed = open_target(profile, object).is_some_and(|target| target.otherwise_closed);
    let is_known = |object: &Object| object.spec.is_some();
    is_closed
        && after.get(object).is_some_and(|object| is_known(object))
        && change.after.policies().is_empty()
        && opened_by_target(after, profile, object).is_none()
}

fn open_target<'p>(profile: &'p Profile, target: &ObjectKey) -> Option<&'p OpenTarget> {
    let alternatives = profile.alternatives.as_ref()?;
    let mut targets = alternatives.open_targets.iter();
    targets.find(|open| open.kind == target.gk)
}
