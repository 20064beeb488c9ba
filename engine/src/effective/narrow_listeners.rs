//! Listeners whose hostname is narrower than those of a route. The Gateway API takes the hosts that both have in common; some
//! controllers of policies ask that a hostname of the route lies within that of the listener, and skip the route there otherwise.

use std::rc::Rc;
use std::sync::Arc;

use super::Resolver;
use super::ancestor_group::AncestorGroup;
use crate::kinds::profile::Profile;
use crate::model::ids::Place;
use crate::model::level::Level;
use crate::model::object::{Node, Object};
use crate::state::snapshot::Snapshot;
use crate::topology::{AncestorPath, in_common, listener_endpoint};

/// The listener of an ancestor path through which policies of a kind do not reach a route, because no hostname of the route lies
/// within that of the listener.
pub fn narrower_listener<'a>(
    snapshot: &Snapshot,
    profile: &Profile,
    route: &Object,
    path: &'a AncestorPath,
) -> Option<&'a Place> {
    if !*profile.hostnames_within_listeners {
        return None;
    }
    let Node::Route { hostnames, .. } = &route.node else {
        return None;
    };
    let mut steps = path.steps.iter();
    let listener = steps.find(|step| step.level == Level::Listener)?;
    let (_, _, theirs) = listener_endpoint(snapshot, &listener.place)?;
    let theirs = theirs?;
    let is_within = |ours: &Arc<str>| in_common(&theirs, ours) == Some(ours);
    let is_narrower = !hostnames.is_empty() && !hostnames.iter().any(is_within);
    is_narrower.then_some(&listener.place)
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
            |path: &AncestorPath| narrower_listener(self.snapshot, profile, route, path).is_some();
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
