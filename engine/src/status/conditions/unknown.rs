//! Why it is not known whether a policy has an effect: requests may reach its target along paths that attache does not follow.

use crate::model::ids::Place;
use crate::model::object::{Node, Rule};
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::{Unfollowed, unfollowed, unknown_parent};
use crate::topology::{attached_of_own_kind, controller_facts};

/// The reason, if there is one, for a policy without a known effective target.
pub(super) fn unknown(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let unfollowed = by_unknown_delegation(snapshot, target);
    if unfollowed.is_some() || !*policy.profile.needs_route {
        return unfollowed;
    }
    let attached = attached_of_own_kind(snapshot, target);
    let attached = attached.map(|object| {
        format!("{object} is attached under {target}, and attache does not follow requests to it")
    });
    attached.or_else(|| by_services(snapshot, target))
}

/// The reason if a route delegates, and its controller is not known.
fn by_unknown_delegation(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let route = snapshot.get(&target.object)?;
    let Node::Route { rules, .. } = &route.node else {
        return None;
    };
    let delegates = rules.iter().any(Rule::delegates);
    if delegates && unfollowed(snapshot, route) == Some(Unfollowed::UnknownController) {
        return Some(format!(
            "{target} delegates to other routes, and whether the controller of its Gateway follows that is not known"
        ));
    }
    let parent = unknown_parent(snapshot, route)?;
    Some(format!(
        "{} delegates to {}, and whether the controller of its Gateway follows that is not known",
        parent.key, route.key
    ))
}

/// The reason if the Gateway serves Services that have no route.
fn by_services(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let gateway = snapshot
        .get(&target.object)
        .filter(|_| target.section.is_none())?;
    let Node::Gateway { class, .. } = &gateway.node else {
        return None;
    };
    let facts = controller_facts(snapshot, &target.object)?;
    facts.serves_without_routes.contains(&**class).then(|| {
        format!(
            "{target} serves Services that name it by label, and attache does not look for them"
        )
    })
}
