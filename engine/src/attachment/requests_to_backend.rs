//! The requests that reach a backend: the routes that lead there, and the Gateways that the requests come through.

use std::fmt;
use std::sync::Arc;

use crate::model::ids::{ObjectKey, Place};
use crate::model::object::Object;
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ParentAttachment, RouteKindConflicts, delegated, gateway_of, parent_attachment, unreached,
};

/// A route that sends requests to a backend, and a Gateway or mesh Service that the requests come through.
pub(crate) struct LeadingRoute<'a> {
    pub(crate) route: &'a Arc<Object>,
    pub(crate) parent: ObjectKey,
}

/// The routes that send requests to a backend, with each Gateway or mesh Service above them. A route that nothing accepts, or
/// that names the backend with the weight 0 alone, sends none; one whose parents are not known may.
pub(crate) fn leading_routes<'a>(
    snapshot: &'a Snapshot,
    backend: &'a ObjectKey,
) -> impl Iterator<Item = LeadingRoute<'a>> {
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    let routes = snapshot.using(backend);
    let routes = routes.filter(|route| {
        let mut references = route.backends().filter(|named| named.object == *backend);
        references.any(|named| !named.has_no_share && unreached(snapshot, route, named).is_none())
    });
    routes.flat_map(move |route| {
        let parents = parents(&mut route_kind_conflicts, route).into_iter();
        parents.map(move |parent| LeadingRoute { route, parent })
    })
}

/// The Gateways and mesh Services that may accept a route.
fn parents(
    route_kind_conflicts: &mut RouteKindConflicts<'_>,
    route: &Arc<Object>,
) -> Vec<ObjectKey> {
    let mut owners = Vec::new();
    for parent in route.parents() {
        match parent_attachment(route_kind_conflicts, route, parent) {
            ParentAttachment::Attached(places) => {
                owners.extend(places.into_iter().map(|place| place.object));
            }
            ParentAttachment::Unknown(_) => owners.push(parent.object.clone()),
            ParentAttachment::Delegated(_) | ParentAttachment::NotAttached { .. } => {}
        }
    }
    let entries = delegated(route_kind_conflicts, route).into_iter();
    owners.extend(entries.map(|entry| entry.listener.object));
    let snapshot = route_kind_conflicts.snapshot();
    let parents = owners.iter().map(|owner| gateway_of(snapshot, owner));
    let mut parents: Vec<ObjectKey> = parents.cloned().collect();
    parents.sort();
    parents.dedup();
    parents
}

/// Requests to a backend. Where a member is not set, it does not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestFilter {
    /// The route that sends them, or one of its rules.
    pub route: Option<Place>,
    /// The Gateway or mesh Service that they come through.
    pub parent: Option<ObjectKey>,
}

// === impl RequestFilter ===

impl RequestFilter {
    /// Whether requests that a rule of a route gets through a Gateway or mesh Service are among these. A place without section is
    /// any rule of the route.
    pub fn are_of(&self, rule: &Place, parent: &ObjectKey) -> bool {
        let is_own = |own: &Place| {
            let is_alike = own.section.is_none() || rule.section.is_none();
            own.object == rule.object && (is_alike || own.section == rule.section)
        };
        self.route.as_ref().is_none_or(is_own)
            && self.parent.as_ref().is_none_or(|own| own == parent)
    }
}

impl fmt::Display for RequestFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("requests")?;
        if let Some(route) = &self.route {
            write!(f, " of {route}")?;
        }
        if let Some(parent) = &self.parent {
            write!(f, " through {parent}")?;
        }
        Ok(())
    }
}
