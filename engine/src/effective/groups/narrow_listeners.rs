//! Listeners whose hostname is narrower than those of a route. The Gateway API takes the hosts that both have in common; some
//! controllers of policies ask that a hostname of the route lies within that of the listener, and skip the route there otherwise.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ancestor_group::AncestorGroup;
use crate::attachment::rejection::routes_of;
use crate::effective::Resolver;
use crate::kinds::profile::Profile;
use crate::model::ids::{ObjectKey, Place};
use crate::model::level::Level;
use crate::model::object::{Node, Object, is_route};
use crate::state::snapshot::Snapshot;
use crate::topology::{
    AncestorPath, ParentAttachment, RouteKindConflicts, gateway_of, in_common, listener_endpoint,
    parent_attachment,
};

/// Whether policies of a kind do not reach a route through the listener of an ancestor path, or not for all requests, because a
/// hostname of the route is wider than that of the listener.
pub fn has_narrower_listener(
    snapshot: &Snapshot,
    profile: &Profile,
    route: &Object,
    path: &AncestorPath,
) -> bool {
    let mut steps = path.steps.iter();
    *profile.hostnames_within_listeners
        && steps
            .any(|step| step.level == Level::Listener && is_narrower(snapshot, route, &step.place))
}

/// The listeners at or below a target through which policies of a kind do not reach routes, each with the first such route.
pub fn narrower_listeners(
    snapshot: &Snapshot,
    profile: &Profile,
    target: &Place,
) -> BTreeMap<Place, ObjectKey> {
    if !*profile.hostnames_within_listeners {
        return BTreeMap::new();
    }
    let object = &target.object;
    let own = snapshot.get(object).filter(|_| is_route(&object.gk));
    let of_gateway = object
        .gk
        .has_listeners()
        .then(|| gateway_of(snapshot, object));
    let of_gateway = of_gateway
        .into_iter()
        .flat_map(|gateway| routes_of(snapshot, gateway));
    let is_below = |listener: &Place| {
        is_route(&object.gk)
            || object.gk.is_gateway_api("Gateway") && target.section.is_none()
            || listener.object == *object
                && (target.section.is_none() || listener.section == target.section)
    };
    let mut conflicts = RouteKindConflicts::new(snapshot);
    let mut narrower = BTreeMap::new();
    for route in own.into_iter().chain(of_gateway) {
        for parent in route.parents() {
            let ParentAttachment::Attached(places) =
                parent_attachment(&mut conflicts, route, parent)
            else {
                continue;
            };
            for listener in places.into_iter().filter(is_below) {
                if is_narrower(snapshot, route, &listener) {
                    narrower
                        .entry(listener)
                        .or_insert_with(|| route.key.clone());
                }
            }
        }
    }
    narrower
}

/// Whether a listener takes requests for a hostname of a route that is wider than its own, and for no hostname of the route that
/// equals it.
fn is_narrower(snapshot: &Snapshot, route: &Object, listener: &Place) -> bool {
    let Node::Route { hostnames, .. } = &route.node else {
        return false;
    };
    let endpoint = listener_endpoint(snapshot, listener);
    let Some(theirs) = endpoint.and_then(|(_, _, theirs)| theirs) else {
        return false;
    };
    let is_wider = |ours: &Arc<str>| in_common(&theirs, ours).is_some_and(|both| both != ours);
    hostnames.iter().any(is_wider) && !hostnames.contains(&theirs)
}

// === impl Resolver ===

impl Resolver<'_> {
    /// The groups of ancestor paths of a route, without policies on those through which policies of the kind do not reach it.
    pub(super) fn without_narrow_listeners(
        &self,
        profile: &Profile,
        route: &Object,
        groups: Rc<Vec<AncestorGroup>>,
    ) -> Rc<Vec<AncestorGroup>> {
        let is_narrower =
            |path: &AncestorPath| has_narrower_listener(self.snapshot, profile, route, path);
        let mut paths = groups.iter().flat_map(|group| group.ancestor_paths.iter());
        if !paths.any(|path| is_narrower(path)) {
            return groups;
        }
        let parts = groups.iter().flat_map(|group| {
            let paths = group.ancestor_paths.iter().cloned();
            let (narrower, others): (Vec<_>, Vec<_>) = paths.partition(|path| is_narrower(path));
            [(narrower, true), (others, false)].map(|(paths, is_narrower)| AncestorGroup {
                ancestor_paths: paths.into(),
                attached: group.attached && !is_narrower,
                stack: if is_narrower {
                    self.stacks.nothing()
                } else {
                    group.stack.clone()
                },
                ..group.clone()
            })
        });
        Rc::new(
            parts
                .filter(|group| !group.ancestor_paths.is_empty())
                .collect(),
        )
    }
}
