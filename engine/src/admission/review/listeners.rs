//! Findings on a Gateway or a `ListenerSet`: listeners that are not accepted, and a `GatewayClass` that does not exist.

use std::sync::Arc;

use super::fuel::too_much;
use crate::admission::finding::{Code, Finding};
use crate::effective::Resolver;
use crate::model::hint::{nearest, quoted};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{Node, Object};
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::{
    ListenerFault, listener_acceptance, listeners_of, missing_class, why_not_joined, why_unaccepted,
};

/// Findings on a Gateway or a `ListenerSet` as it is in the snapshot.
pub(super) fn findings(resolver: &Resolver<'_>, key: &ObjectKey) -> Vec<Finding> {
    let snapshot = resolver.snapshot();
    let Some(owner) = snapshot.get(key) else {
        return Vec::new();
    };
    if !matches!(owner.node, Node::Gateway { .. } | Node::ListenerSet { .. }) {
        return Vec::new();
    }
    resolver.charge(listeners_of(owner).len() / fuel::FOUND);
    if resolver.is_spent() {
        return vec![too_much(key, "the acceptance of its listeners")];
    }
    let class = class(snapshot, owner).into_iter();
    class.chain(unaccepted(snapshot, owner)).collect()
}

/// The finding on a class that does not exist.
fn class(snapshot: &Snapshot, gateway: &Object) -> Option<Finding> {
    let key = missing_class(snapshot, gateway)?;
    let others = snapshot.objects(&GroupKind::gateway_api("GatewayClass"));
    let mut names: Vec<&str> = others.map(|other| &*other.key.name).collect();
    names.sort_unstable();
    let hint = match nearest(&key.name, &names) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("there is {}", quoted(&names)),
    };
    let message = format!("{key} does not exist, so no controller serves the Gateway; {hint}");
    let finding = Finding::new(Code::ClassNotFound, &gateway.key, message);
    let finding = finding.at("spec.gatewayClassName".to_owned());
    Some(finding.about(key.to_string()).depending_on_absence_of(&key))
}

/// The findings on listeners that are not accepted; one on a `ListenerSet` that is not part of its Gateway.
fn unaccepted(snapshot: &Snapshot, owner: &Arc<Object>) -> Vec<Finding> {
    let Some(acceptance) = listener_acceptance(snapshot, owner) else {
        return Vec::new();
    };
    let finding = |message: String, subject: &str| {
        Finding::new(Code::ListenerNotAccepted, &owner.key, message).about(subject)
    };
    if acceptance.rejection().is_some() {
        let Node::ListenerSet { parent, .. } = &owner.node else {
            return Vec::new();
        };
        let gateway = &parent.object;
        // It may exist, and not be known.
        if snapshot.get(gateway).is_none() && !snapshot.lacks(gateway) {
            return Vec::new();
        }
        let why = why_not_joined(snapshot, owner);
        let finding = finding(format!("it is not part of a Gateway: {why}"), "");
        let finding = finding.at("spec.parentRef".to_owned());
        return vec![if snapshot.get(gateway).is_none() {
            finding.depending_on_absence_of(gateway)
        } else {
            finding
        }];
    }
    let all = listeners_of(owner).iter().enumerate();
    // The finding on the class of the Gateway already covers its listeners.
    let counts = |why: ListenerFault| why != ListenerFault::ClassNotFound;
    let conflicted = all.filter(|(i, _)| acceptance.fault(*i).is_some_and(counts));
    let findings = conflicted.filter_map(|(i, listener)| {
        let place = owner.key.section(listener.name.clone());
        let why = why_unaccepted(snapshot, &place)?;
        Some(finding(why, &listener.name).at(format!("spec.listeners[{i}]")))
    });
    findings.collect()
}
