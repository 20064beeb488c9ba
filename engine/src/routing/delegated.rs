//! Routes that get requests of a listener because other routes delegate to them.

use std::sync::Arc;

use crate::kinds::profile::DelegationFile;
use crate::model::level::{Level, Step};
use crate::model::object::{Object, RouteMatch};
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::delegated_to;
use crate::topology::{DelegatedPaths, ListenerWithOwner, RouteKindConflicts, controller_facts};

/// A route on one way of requests through routes that delegate.
#[derive(Debug)]
pub(super) struct DelegatedRoute<'a> {
    /// The route that is attached to the listener: its hostnames and its age count.
    pub(super) root: &'a Arc<Object>,
    /// The route.
    pub(super) route: &'a Arc<Object>,
    /// The routes above it, and their rules that delegate, from the root down.
    pub(super) above: Vec<Step>,
    /// The requests that reach each of its rules.
    pub(super) matches: Vec<Vec<RouteMatch>>,
}

/// The facts of the controller of a listener about delegation, if it follows delegation.
pub(super) fn facts_at<'a>(
    snapshot: &'a Snapshot,
    own_listener: &ListenerWithOwner<'_>,
) -> Option<&'a DelegationFile> {
    snapshot.delegations().next()?;
    let facts = controller_facts(snapshot, &own_listener.owner.key)?;
    facts.delegation.as_ref()
}

/// The routes that those attached to a listener delegate to, once for each way; sorted.
pub(super) fn delegated_at<'a>(
    snapshot: &'a Snapshot,
    own_listener: &ListenerWithOwner<'_>,
    attached: &[&'a Arc<Object>],
) -> Vec<DelegatedRoute<'a>> {
    let listener = own_listener
        .owner
        .key
        .section(own_listener.listener.name.clone());
    let mut children = delegated_to(snapshot, attached.iter().copied(), usize::MAX);
    children.sort_by(|a, b| a.key.cmp(&b.key));
    let (mut own, mut search) = (RouteKindConflicts::new(snapshot), DelegatedPaths::default());
    let mut delegated = Vec::new();
    for child in &children {
        let Some(route) = snapshot.get(&child.key) else {
            continue;
        };
        for path in search.paths_to(&mut own, route) {
            let steps = path
                .steps
                .iter()
                .filter(|step| !step.level.is_above_routes());
            let above: Vec<Step> = steps.cloned().collect();
            let root = above.iter().find(|step| step.level == Level::Route);
            let root = root.and_then(|step| snapshot.get(&step.place.object));
            if let Some(root) = root.filter(|_| path.last() == Some(&listener)) {
                let matches = search.requests(snapshot, &path, route);
                delegated.push(DelegatedRoute {
                    root,
                    route,
                    above,
                    matches,
                });
            }
        }
    }
    delegated
}
