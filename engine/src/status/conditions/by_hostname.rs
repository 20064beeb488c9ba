//! Policies on a listener whose requests get the policies of other listeners, because the
//! controller selects policies by hostname.

use std::collections::BTreeSet;

use crate::effective::PathGroup;
use crate::model::ids::Place;
use crate::model::wording::first;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ParentAttachment, PoliciesByHostname, RouteKindConflicts, parent_attachment,
};

/// The reason if routes are attached to a listener or a `ListenerSet`, and the policies of other listeners apply to their
/// requests.
pub(super) fn of_other_listeners(
    snapshot: &Snapshot,
    policy: &Policy,
    groups: &[&PathGroup],
    target: &Place,
) -> Option<String> {
    let owner = snapshot.get(&target.object)?;
    let is_reached = groups.iter().any(|group| !group.paths.routes.is_empty());
    if is_reached || !policy.profile.is_inherited() || owner.listeners().is_empty() {
        return None;
    }
    let by_hostname = PoliciesByHostname::around(snapshot, &owner.key)?;
    let mut route_kind_conflicts = RouteKindConflicts::new(snapshot);
    let mut others: BTreeSet<String> = BTreeSet::new();
    for route in snapshot.naming(&owner.key) {
        let parents = route.parents().iter();
        for parent in parents.filter(|parent| parent.object == owner.key) {
            let ParentAttachment::Attached(listeners) =
                parent_attachment(&mut route_kind_conflicts, route, parent)
            else {
                continue;
            };
            let is_meant = |at: &&Place| target.section.is_none() || *at == target;
            for listener in listeners.iter().filter(is_meant) {
                let acting = by_hostname.paths(listener, route.hostnames());
                let acting = acting.iter().filter_map(|path| path.last());
                others.extend(acting.map(ToString::to_string));
            }
        }
    }
    (!others.is_empty()).then(|| {
        format!(
            "the policies of {} apply to the requests that come there, because its hostname is more specific",
            first(&others)
        )
    })
}
