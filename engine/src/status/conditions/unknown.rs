//! Why it is not known whether a policy has an effect: requests may reach its target along paths that attache does not follow.

use crate::model::ids::Place;
use crate::model::level::Level;
use crate::model::object::{BackendRef, Node, Rule};
use crate::model::section::rule_label;
use crate::model::wording::plural;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;
use crate::topology::delegation::{Unfollowed, may_stand_for_routes, unfollowed, unknown_parent};
use crate::topology::{
    RouteKindConflicts, attached_of_own_kind, controller_facts, perhaps_rejected_for,
    too_many_delegations,
};

/// The reason, if there is one, for a policy without a known effective target.
pub(super) fn unknown(snapshot: &Snapshot, policy: &Policy, target: &Place) -> Option<String> {
    let unfollowed =
        by_unknown_delegation(snapshot, target).or_else(|| by_unknown_sections(snapshot, target));
    if unfollowed.is_some() || !*policy.profile.needs_route {
        return unfollowed;
    }
    let attached = attached_of_own_kind(snapshot, target);
    let attached = attached.map(|object| {
        format!("{object} is attached under {target}, and attache does not follow requests to it")
    });
    attached.or_else(|| by_services(snapshot, target))
}

/// The reason if all rules of a target may delegate, and its controller, which is not known, decides whether they do.
pub(super) fn if_it_delegates(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let route = snapshot.get(&target.object)?;
    let Node::Route { rules, .. } = &route.node else {
        return None;
    };
    let is_meant = |i: usize| {
        let section = target.section.as_ref();
        section.is_none_or(|section| rule_label(route, i) == *section)
    };
    let may_delegate = |rule: &Rule| {
        let mut backends = rule.backends.iter();
        !rule.backends.is_empty()
            && backends.all(|backend| may_stand_for_routes(snapshot, route, backend))
    };
    let mut meant = rules.iter().enumerate().filter(|(i, _)| is_meant(*i));
    let any = meant.clone().next().is_some();
    (any && meant.all(|(_, rule)| may_delegate(rule)))
        .then(|| by_unknown_delegation(snapshot, target))
        .flatten()
}

/// The reason if the controller of a route, which is not known, may reject it for an older route of another kind.
pub(super) fn if_it_is_rejected(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let route = snapshot.get(&target.object)?;
    let older = perhaps_rejected_for(snapshot, route)?;
    Some(format!(
        "a controller may accept only one kind of routes for a hostname, and {} is older: whether it accepts {} is not known",
        older.key, target.object
    ))
}

/// The reason if a route delegates, and its controller is not known.
fn by_unknown_delegation(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let route = snapshot.get(&target.object)?;
    let Node::Route { rules, .. } = &route.node else {
        return None;
    };
    let may_stand = |backend: &BackendRef| may_stand_for_routes(snapshot, route, backend);
    let delegates = rules.iter().any(Rule::delegates)
        || rules.iter().flat_map(|rule| &rule.backends).any(may_stand);
    if delegates && unfollowed(snapshot, route) == Some(Unfollowed::UnknownController) {
        return Some(format!(
            "{target} delegates to other routes, and whether the controller of its Gateway follows that is not known"
        ));
    }
    if let Some(parent) = unknown_parent(snapshot, route) {
        return Some(format!(
            "{} delegates to {}, and whether the controller of its Gateway follows that is not known",
            parent.key, route.key
        ));
    }
    too_many_delegations(&mut RouteKindConflicts::new(snapshot), route)
}

/// The reason if the target is a section of a backend of a kind whose sections attache does not know.
fn by_unknown_sections(snapshot: &Snapshot, target: &Place) -> Option<String> {
    let section = unknown_section(snapshot, target)?;
    Some(format!(
        "attache does not know the sections of {}, so it does not see which requests go to {section}",
        plural(&target.object.gk.kind)
    ))
}

/// The section of a target, if it is one of a backend whose sections attache does not know.
pub(super) fn unknown_section<'a>(snapshot: &Snapshot, target: &'a Place) -> Option<&'a str> {
    let section = target.section.as_deref()?;
    let backend = snapshot.get(&target.object)?;
    let is_unknown = matches!(backend.node, Node::Other) && Level::is_of_backend(&backend.key.gk);
    is_unknown.then_some(section)
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
    facts.waypoint_classes.contains(&**class).then(|| {
        format!(
            "{target} serves Services that name it by label, and attache does not look for them"
        )
    })
}
