//! Reports of the relevant controllers about classes, listeners and routes.
//!
//! The controller of a Gateway is that of its class.

use std::sync::Arc;

use super::gateway_of;
use crate::model::ids::ObjectKey;
use crate::model::object::status::{Condition, ReportedAcceptance, StatusEntry, Subject};
use crate::model::object::{Node, Object, ParentRef};
use crate::state::snapshot::{Snapshot, class_key};

/// The controller of a Gateway, or of the Gateway that a `ListenerSet` joins: that of its class.
pub fn controller<'a>(snapshot: &'a Snapshot, key: &ObjectKey) -> Option<&'a Arc<str>> {
    let Node::Gateway { class, .. } = &snapshot.get(gateway_of(snapshot, key))?.node else {
        return None;
    };
    snapshot.controller_of(&class_key(class))
}

/// The condition by which a listener of a Gateway or `ListenerSet` accepts no routes.
pub fn of_listener<'a>(
    snapshot: &Snapshot,
    owner: &'a Object,
    name: &str,
) -> Option<&'a Condition> {
    let reported = owner.reported.as_ref()?;
    let mut entries = reported.entries.iter();
    let report = entries.find_map(|entry| match &entry.subject {
        Subject::Whole => entry.rejection(),
        Subject::Listener(listener) if **listener == *name => {
            let mut conditions = entry.conditions.iter();
            let conflicted = || conditions.find(|c| c.is_current && &*c.name == "Conflicted");
            entry.rejection().or_else(conflicted)
        }
        _ => None,
    })?;
    counted(snapshot, &owner.key, report, |seen| {
        seen.expects_no_listener(&owner.key, name)
    })
}

/// A report, unless the controller of the parent serves what it reports so, or the model explains the report in the state that
/// the controller saw.
fn counted<'a>(
    snapshot: &Snapshot,
    parent: &ObjectKey,
    report: &'a Condition,
    explains: impl FnOnce(&Snapshot) -> bool,
) -> Option<&'a Condition> {
    let is_explained = || snapshot.observed_by_controllers().is_some_and(explains);
    let counts = !is_served_despite(snapshot, parent, report) && !is_explained();
    counts.then_some(report)
}

/// Whether the controller of a Gateway or `ListenerSet` serves what it reports with this reason all the same.
fn is_served_despite(snapshot: &Snapshot, parent: &ObjectKey, report: &Condition) -> bool {
    let name = controller(snapshot, parent);
    let facts = name.and_then(|name| snapshot.controller_facts(name));
    facts.is_some_and(|facts| {
        facts
            .served_despite
            .iter()
            .any(|reason| **reason == *report.reason)
    })
}

/// The condition by which its controller does not accept the `GatewayClass` of a Gateway, unless that controller runs the
/// Gateways of such a class nevertheless.
pub fn of_class<'a>(snapshot: &'a Snapshot, gateway: &Object) -> Option<&'a Condition> {
    let Node::Gateway { class, .. } = &gateway.node else {
        return None;
    };
    let class = snapshot.get(&class_key(class))?;
    if snapshot.is_hypothetical(&class.key) {
        return None;
    }
    let report = of_whole(class)?;
    let controller = class.node.controller();
    let facts = controller.and_then(|name| snapshot.controller_facts(name));
    let runs = facts.is_some_and(|facts| facts.runs_gateways_of_rejected_class);
    (!runs).then_some(report)
}

/// The condition by which its controller does not accept an object as a whole.
pub fn of_whole(object: &Object) -> Option<&Condition> {
    let mut entries = object.reported.as_ref()?.entries.iter();
    entries.find_map(|entry| match &entry.subject {
        Subject::Whole => entry.rejection(),
        _ => None,
    })
}

/// Whether its controller reports that it accepts an object as a whole.
pub fn is_accepted(object: &Object) -> bool {
    let mut entries = object.reported.iter().flat_map(|all| &all.entries);
    entries.any(|entry| {
        matches!(entry.subject, Subject::Whole) && entry.acceptance == ReportedAcceptance::Accepted
    })
}

/// The parents whose controllers serve a route and report a fault of it, with the report: a reference that does not lead to an
/// object, or a rule that does not work.
pub fn faults<'a>(
    snapshot: &'a Snapshot,
    route: &'a Object,
) -> impl Iterator<Item = (&'a ParentRef, &'a Condition)> {
    let entries = route.reported.iter().flat_map(|reported| &reported.entries);
    entries.filter_map(|entry| {
        let Subject::Parent(parent) = &entry.subject else {
            return None;
        };
        let of_class = controller(snapshot, &parent.object);
        let counts = of_class.is_none_or(|known| entry.controller.as_ref() == Some(known));
        let is_hypothetical = snapshot.is_hypothetical(&parent.object);
        let is_served = |report: &&Condition| is_served_despite(snapshot, &parent.object, report);
        let fault = || entry.rejection().filter(is_served);
        let report = entry.fault().or_else(fault)?;
        (counts && !is_hypothetical).then_some((parent, report))
    })
}

/// The condition by which a parent does not accept a route that names it.
pub fn of_route<'a>(
    snapshot: &Snapshot,
    route: &'a Object,
    parent: &ParentRef,
) -> Option<&'a Condition> {
    let reported = route.reported.as_ref()?;
    if snapshot.is_hypothetical(&parent.object) {
        return None;
    }
    let of_class = controller(snapshot, &parent.object);
    let entries = reported.entries.iter().filter(|entry| {
        let about = matches!(&entry.subject, Subject::Parent(named) if named == parent);
        about && of_class.is_none_or(|known| entry.controller.as_ref() == Some(known))
    });
    // A Service has no class: one controller that accepts the route is enough.
    let mut all = entries.clone();
    if all.any(|entry| entry.acceptance == ReportedAcceptance::Accepted) {
        return None;
    }
    let report = entries.into_iter().find_map(StatusEntry::rejection)?;
    counted(snapshot, &parent.object, report, |seen| {
        seen.expects_no_attachment(&route.key, parent)
    })
}
