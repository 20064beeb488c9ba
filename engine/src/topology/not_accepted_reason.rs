//! Why no request arrives at a Gateway, a `ListenerSet` or a listener, in words.

use super::accepted_listeners::{
    NotAccepted, PROTOCOLS, listener_acceptance, listeners_of, unaccepted,
};
use super::gateway_of;
use super::reports::{controller, of_class, of_listener};
use crate::model::hint::{nearest, quoted};
use crate::model::ids::{ObjectKey, Place};
use crate::model::listener_acceptance::{ListenerFault, SetRejection};
use crate::model::object::{Node, Object};
use crate::state::snapshot::Snapshot;

/// The most reasons that one message gives.
const MAX_REASONS: usize = 3;

/// A message that an object does not exist, or that this cannot be known.
pub fn not_there(snapshot: &Snapshot, key: &ObjectKey) -> String {
    if snapshot.lacks(key) || snapshot.knows(&key.gk) {
        format!("{key} does not exist")
    } else {
        format!("nothing is known of kind {}", key.gk)
    }
}

/// A message that an object of this kind cannot be a parent.
pub(super) fn no_parent(key: &ObjectKey) -> String {
    format!("{} cannot be a parent", key.gk)
}

/// A message that a `ListenerSet` is not part of a Gateway.
pub(super) fn not_joined(snapshot: &Snapshot, set: &Object) -> String {
    let why = why_not_joined(snapshot, set);
    format!("{} is not part of a Gateway: {why}", set.key)
}

/// Why a `ListenerSet` is not part of a Gateway.
pub fn why_not_joined(snapshot: &Snapshot, set: &Object) -> String {
    let Node::ListenerSet { parent, .. } = &set.node else {
        return no_parent(&set.key);
    };
    let gateway = &parent.object;
    match listener_acceptance(snapshot, set).and_then(|listeners| listeners.rejection()) {
        Some(SetRejection::Missing | SetRejection::Unknown) => not_there(snapshot, gateway),
        Some(SetRejection::NoGateway) => no_parent(gateway),
        Some(SetRejection::NotAllowed) => format!(
            "{gateway} does not allow ListenerSets of namespace {} (spec.allowedListeners)",
            set.key.namespace
        ),
        Some(SetRejection::KindNotServed) => {
            let controller = controller(snapshot, gateway);
            let name = controller.map_or("its controller", |name| &**name);
            format!("{name} does not serve the kind {}", set.key.gk)
        }
        None => {
            let why = why_unaccepted(snapshot, &set.key.whole());
            why.unwrap_or_else(|| no_parent(&set.key))
        }
    }
}

/// Why no request arrives at a Gateway, a `ListenerSet` or a listener; `None` if one may.
pub fn why_unaccepted(snapshot: &Snapshot, place: &Place) -> Option<String> {
    Some(match unaccepted(snapshot, place)? {
        NotAccepted::Set(_) => not_joined(snapshot, snapshot.get(&place.object)?),
        NotAccepted::Listener(why) => {
            let name = place.section.as_deref().unwrap_or_default();
            let owner = snapshot.get(&place.object)?;
            let why = conflict(snapshot, why, owner, name);
            format!("{place} is not accepted: {why}")
        }
        NotAccepted::AllListeners(_) => {
            let owner = snapshot.get(&place.object)?;
            let whys = joined(&rejections(snapshot, owner));
            format!("no listener of {} is accepted: {whys}", place.object)
        }
    })
}

/// Why no request arrives at a Gateway or a `ListenerSet` as a whole. `None` if one may, and if its listeners are not accepted
/// for different reasons.
pub fn reason_for_all_listeners(snapshot: &Snapshot, owner: &Object) -> Option<String> {
    let place = owner.key.whole();
    let is_of_listeners = matches!(unaccepted(snapshot, &place)?, NotAccepted::AllListeners(_));
    if is_of_listeners && rejections(snapshot, owner).len() > 1 {
        return None;
    }
    why_unaccepted(snapshot, &place)
}

/// The reasons for which listeners of an owner are not accepted, each with the names of its listeners, in the order of the spec.
fn rejections<'a>(snapshot: &Snapshot, owner: &'a Object) -> Vec<(Vec<&'a str>, String)> {
    let mut refusals: Vec<(Vec<&str>, String)> = Vec::new();
    let known = listener_acceptance(snapshot, owner);
    let conflicts = known.iter().flat_map(|known| known.faults());
    for (listener, refusal) in listeners_of(owner).iter().zip(conflicts) {
        let Some(why) = *refusal else { continue };
        let name = &*listener.name;
        let why = conflict(snapshot, why, owner, name);
        match refusals.iter_mut().find(|(_, known)| *known == why) {
            Some((names, _)) => names.push(name),
            None => refusals.push((vec![name], why)),
        }
    }
    refusals
}

/// `its protocol needs tls`; several with their listeners: `http, web: its protocol needs tls; tcp: …`.
fn joined(refusals: &[(Vec<&str>, String)]) -> String {
    if let [(_, why)] = refusals {
        return why.clone();
    }
    let shown = refusals.iter().take(MAX_REASONS);
    let shown = shown.map(|(names, why)| format!("{}: {why}", names.join(", ")));
    let mut parts: Vec<String> = shown.collect();
    if let Some(more @ 1..) = refusals.len().checked_sub(MAX_REASONS) {
        let noun = if more == 1 { "reason" } else { "reasons" };
        parts.push(format!("and {more} more {noun}"));
    }
    parts.join("; ")
}

/// Why a listener conflicts with another, in the words of its controller if they are known.
pub(super) fn conflict(
    snapshot: &Snapshot,
    why: ListenerFault,
    owner: &Object,
    listener: &str,
) -> String {
    let reason = match why {
        ListenerFault::Reported => of_listener(snapshot, owner, listener)
            .map(|report| format!("its controller reports {report}")),
        ListenerFault::ClassNotAccepted => of_rejected_class(snapshot, owner),
        ListenerFault::ClassNotFound => of_missing_class(snapshot, owner),
        ListenerFault::UnknownProtocol => of_unknown_protocol(owner, listener),
        ListenerFault::SameHostname
        | ListenerFault::IncompatibleProtocol
        | ListenerFault::ProtocolNotServed
        | ListenerFault::WithoutTls
        | ListenerFault::WithoutCertificates
        | ListenerFault::WithoutSelector
        | ListenerFault::OtherKinds
        | ListenerFault::CertificatesNotGranted => None,
    };
    reason.unwrap_or_else(|| why.to_string())
}

/// A message that no controller serves the protocol of a listener, with the protocol that was
/// probably meant.
fn of_unknown_protocol(owner: &Object, listener: &str) -> Option<String> {
    let mut listeners = listeners_of(owner).iter();
    let protocol = &listeners.find(|own| *own.name == *listener)?.protocol;
    let upper = protocol.to_ascii_uppercase();
    let hint = match nearest(&upper, &PROTOCOLS) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("write {}", PROTOCOLS.join(", ")),
    };
    Some(format!(
        "no controller serves protocol {}; {hint}",
        quoted(&[&**protocol])
    ))
}

/// A message that no controller runs a Gateway, or the Gateway of a `ListenerSet`, because its
/// class does not exist.
fn of_missing_class(snapshot: &Snapshot, owner: &Object) -> Option<String> {
    let key = gateway_of(snapshot, &owner.key);
    let Node::Gateway { class, .. } = &snapshot.get(key)?.node else {
        return None;
    };
    Some(format!(
        "GatewayClass {class} does not exist, so no controller runs {key}"
    ))
}

/// The condition by which the controller of a Gateway or `ListenerSet` does not accept its class,
/// as text.
fn of_rejected_class(snapshot: &Snapshot, owner: &Object) -> Option<String> {
    let gateway = snapshot.get(gateway_of(snapshot, &owner.key))?;
    let Node::Gateway { class, .. } = &gateway.node else {
        return None;
    };
    let report = of_class(snapshot, gateway)?;
    Some(format!(
        "the controller of GatewayClass {class} reports {report}"
    ))
}
