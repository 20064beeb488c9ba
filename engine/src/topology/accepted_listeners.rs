//! The acceptance of the listeners of a Gateway and of the `ListenerSets` that name it. This is the only source for
//! whether a listener, a `ListenerSet` or a route is accepted.

use std::sync::Arc;

use super::conflicts::{conflicts, conflicts_with_first};
use super::isolation::{ListenersAndFaults, narrower};
use super::route_acceptance::{allows_listener_set, fits_protocol};
use super::{controller_facts, missing_class, sets_of};
use crate::kinds::profile::{ControllerFile, RejectedListeners};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::listener_acceptance::{
    GatewayListeners, ListenerAcceptance, ListenerFault, SetRejection,
};
use crate::model::object::{Listener, Node, Object};
use crate::policy::Precedence;
use crate::state::grants::granted;
use crate::state::snapshot::Snapshot;
use crate::topology::reports::{is_accepted, of_class, of_listener};

/// Why no request arrives through a Gateway, a `ListenerSet` or one of its listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotAccepted {
    /// The `ListenerSet` is not part of a Gateway.
    Set(SetRejection),
    /// The listener is not accepted.
    Listener(ListenerFault),
    /// No listener of the object is accepted; the fault of the first.
    AllListeners(ListenerFault),
}

/// The listeners of a Gateway or `ListenerSet`; `None` for other objects.
pub fn listener_acceptance(snapshot: &Snapshot, owner: &Object) -> Option<Arc<ListenerAcceptance>> {
    match &owner.node {
        Node::Gateway { .. } => of_gateway(snapshot, owner).listeners(&owner.key).cloned(),
        Node::ListenerSet { parent, .. } => {
            let refused = |why| {
                Some(Arc::new(ListenerAcceptance::rejected(
                    listeners_of(owner).len(),
                    why,
                )))
            };
            let Some(gateway) = snapshot.get(&parent.object) else {
                let is_missing = snapshot.lacks(&parent.object);
                return refused(if is_missing {
                    SetRejection::Missing
                } else {
                    SetRejection::Unknown
                });
            };
            if !matches!(gateway.node, Node::Gateway { .. }) {
                return refused(SetRejection::NoGateway);
            }
            let all = of_gateway(snapshot, gateway);
            let own = all.listeners(&owner.key).cloned();
            own.or_else(|| refused(SetRejection::NotAllowed))
        }
        _ => None,
    }
}

/// Why no request arrives at a Gateway, a `ListenerSet` or a listener; `None` if one may, and for other objects.
pub fn unaccepted(snapshot: &Snapshot, place: &Place) -> Option<NotAccepted> {
    let owner = snapshot.get(&place.object)?;
    let known = listener_acceptance(snapshot, owner)?;
    match known.rejection() {
        Some(SetRejection::Unknown) => return None,
        Some(why) => return Some(NotAccepted::Set(why)),
        None => {}
    }
    match &place.section {
        None if known.is_accepted() => None,
        None => {
            let mut each = known.faults().iter();
            each.find_map(|c| *c).map(NotAccepted::AllListeners)
        }
        Some(name) => {
            let named = listeners_of(owner).iter().zip(known.faults());
            let mut named = named.filter(|(listener, _)| listener.name == *name);
            let first = (*named.next()?.1)?;
            let all = named.all(|(_, conflict)| conflict.is_some());
            all.then_some(NotAccepted::Listener(first))
        }
    }
}

/// The listeners in the spec of a Gateway or `ListenerSet`.
pub fn listeners_of(owner: &Object) -> &[Listener] {
    owner.listeners()
}

/// The endpoint at which requests arrive: the owner of the listener, the port and the hostname. It stays the same if
/// the listener is renamed.
pub type ListenerEndpoint = (ObjectKey, u16, Option<Arc<str>>);

/// The first listener with the name of a section.
pub fn listener_at<'a>(snapshot: &'a Snapshot, place: &Place) -> Option<&'a Listener> {
    let mut listeners = listeners_of(snapshot.get(&place.object)?).iter();
    listeners.find(|listener| Some(&listener.name) == place.section.as_ref())
}

/// The endpoint of the listener at a place; `None` if the place is not a listener.
pub fn listener_endpoint(snapshot: &Snapshot, place: &Place) -> Option<ListenerEndpoint> {
    let listener = listener_at(snapshot, place)?;
    Some((
        place.object.clone(),
        listener.port,
        listener.hostname.clone(),
    ))
}

/// The acceptance of the listeners of a Gateway and of its `ListenerSets`.
pub fn of_gateway(snapshot: &Snapshot, gateway: &Object) -> Arc<GatewayListeners> {
    snapshot.acceptance(gateway, || find(snapshot, gateway))
}

/// The protocols of listeners (Gateway API, `ProtocolType`).
pub(super) const PROTOCOLS: [&str; 5] = ["HTTP", "HTTPS", "TLS", "TCP", "UDP"];

/// Whether no controller serves a protocol. Names of a controller's own have a prefix with a domain; others are reserved
/// (Gateway API, `ProtocolType`), and few controllers have some.
fn is_unknown_protocol(snapshot: &Snapshot, protocol: &str) -> bool {
    !protocol.is_empty()
        && !PROTOCOLS.contains(&protocol)
        && !protocol.contains('/')
        && !snapshot.is_protocol_of_controllers(protocol)
}

/// Whether all certificates of a listener are in other namespaces, without a grant (Gateway API, `certificateRefs`).
fn lacks_grants(snapshot: &Snapshot, owner: &Object, listener: &Listener) -> bool {
    let (kind, namespace) = (&owner.key.gk, &owner.key.namespace);
    let mut certificates = listener.foreign_certificates.iter();
    !listener.foreign_certificates.is_empty()
        && certificates.all(|certificate| !granted(snapshot, kind, namespace, certificate))
}

/// Why a controller of which this is known does not serve a listener, whatever else there is.
fn not_served(facts: &ControllerFile, listener: &Listener) -> Option<ListenerFault> {
    let protocol = &*listener.protocol;
    let served = &facts.only_protocols;
    let is_standard = PROTOCOLS.contains(&protocol);
    if is_standard && !served.is_empty() && !served.iter().any(|served| *served == *protocol) {
        return Some(ListenerFault::ProtocolNotServed);
    }
    let rejects = |what| facts.rejected_listeners.contains(&what);
    let needs_tls = ["HTTPS", "TLS"].contains(&protocol);
    if rejects(RejectedListeners::WithoutTls) && needs_tls && listener.is_without_tls {
        return Some(ListenerFault::WithoutTls);
    }
    if rejects(RejectedListeners::WithoutCertificates) && needs_tls && listener.lacks_certificates {
        return Some(ListenerFault::WithoutCertificates);
    }
    if rejects(RejectedListeners::WithoutSelector) && listener.lacks_selector {
        return Some(ListenerFault::WithoutSelector);
    }
    let mut kinds = listener.routes_of.iter();
    let listed = facts.listed_kinds.get(protocol);
    let is_other = |kind: &GroupKind| {
        !kind.is_gateway_api(&kind.kind)
            || !fits_protocol(Some(facts), listener, kind)
            || listed.is_some_and(|listed| !listed.iter().any(|name| **name == *kind.kind))
    };
    (rejects(RejectedListeners::OtherKinds) && kinds.any(is_other))
        .then_some(ListenerFault::OtherKinds)
}

/// Whether a controller is known not to serve `ListenerSets` of a kind, and did not report that it accepts this one: a later
/// release may serve them.
fn is_kind_not_served(facts: Option<&ControllerFile>, set: &Object) -> bool {
    let served = facts.and_then(|facts| facts.listener_sets.as_ref());
    served.is_some_and(|served| {
        let kind = &*set.key.gk.kind;
        !served.iter().any(|served| served == kind) && !is_accepted(set)
    })
}

/// The conflicts of listeners, owner by owner, the Gateway first; `first_wins` is a fact about its controller.
fn all_conflicts<'a>(
    owners: impl Iterator<Item = &'a [Listener]> + Clone,
    first_wins: bool,
) -> Vec<Box<[Option<ListenerFault>]>> {
    if first_wins {
        conflicts_with_first(owners)
    } else {
        conflicts(owners)
    }
}

/// The conflicts of the listeners of owners, the Gateway first. Those that are apart conflict with none.
fn conflicts_among(
    owners: &[&Object],
    first_wins: bool,
    is_apart: impl Fn(&Object, &Listener) -> bool,
) -> Vec<Box<[Option<ListenerFault>]>> {
    let apart = owners.iter().map(|owner| {
        let own = listeners_of(owner).iter();
        own.map(|listener| is_apart(owner, listener)).collect()
    });
    let apart: Vec<Vec<bool>> = apart.collect();
    if !apart.iter().flatten().any(|is_apart| *is_apart) {
        return all_conflicts(owners.iter().map(|owner| listeners_of(owner)), first_wins);
    }
    let others = owners.iter().zip(&apart).map(|(owner, apart)| {
        let own = listeners_of(owner).iter().zip(apart);
        own.filter(|(_, is_apart)| !**is_apart)
            .map(|(listener, _)| listener.clone())
            .collect()
    });
    let others: Vec<Vec<Listener>> = others.collect();
    let found = all_conflicts(others.iter().map(|own| &**own), first_wins);
    let each = apart.iter().zip(found).map(|(apart, found)| {
        let mut found = found.into_iter();
        let conflict = |is_apart: &bool| {
            let next = (!is_apart).then(|| found.next());
            next.flatten().flatten()
        };
        apart.iter().map(conflict).collect()
    });
    each.collect()
}

fn find(snapshot: &Snapshot, gateway: &Object) -> GatewayListeners {
    let mut sets: Vec<&Arc<Object>> = sets_of(snapshot, &gateway.key).collect();
    let facts = controller_facts(snapshot, &gateway.key);
    sets.sort_by_cached_key(|set| Precedence::for_controller(set, facts));
    let mut joined: Vec<&Object> = vec![gateway];
    let mut outside: Vec<(&Object, SetRejection)> = Vec::new();
    for set in sets {
        if !allows_listener_set(snapshot, gateway, set) {
            outside.push((set, SetRejection::NotAllowed));
        } else if is_kind_not_served(facts, set) {
            outside.push((set, SetRejection::KindNotServed));
        } else {
            joined.push(set);
        }
    }
    let invalid = |listener: &Listener| {
        let unknown = is_unknown_protocol(snapshot, &listener.protocol);
        let not_served = || not_served(facts?, listener);
        let unknown = unknown.then_some(ListenerFault::UnknownProtocol);
        unknown.or_else(not_served)
    };
    let lacks_grants = |owner: &Object, listener: &Listener| {
        lacks_grants(snapshot, owner, listener).then_some(ListenerFault::CertificatesNotGranted)
    };
    let first_wins = facts.is_some_and(|facts| facts.first_listener_wins);
    let among_valid = facts.is_some_and(|facts| facts.invalid_listeners_do_not_conflict);
    let is_apart = |owner: &Object, listener: &Listener| {
        among_valid
            && invalid(listener)
                .or_else(|| lacks_grants(owner, listener))
                .is_some()
    };
    let conflicts = conflicts_among(&joined, first_wins, is_apart);
    let missing = missing_class(snapshot, gateway).map(|_| ListenerFault::ClassNotFound);
    let of_class = of_class(snapshot, gateway).map(|_| ListenerFault::ClassNotAccepted);
    let with_reported = |(owner, mut conflicts): (&Object, Box<[Option<ListenerFault>]>)| {
        for (listener, conflict) in listeners_of(owner).iter().zip(&mut conflicts) {
            let reported =
                || of_listener(snapshot, owner, &listener.name).map(|_| ListenerFault::Reported);
            let certificates = || lacks_grants(owner, listener);
            let invalid = of_class.or_else(|| invalid(listener));
            *conflict = invalid
                .or(*conflict)
                .or(missing)
                .or_else(certificates)
                .or_else(reported);
        }
        conflicts
    };
    let conflicts = joined.iter().copied().zip(conflicts).map(with_reported);
    let conflicts: Vec<Box<[Option<ListenerFault>]>> = conflicts.collect();
    let each = joined.iter().zip(&conflicts);
    let each: Vec<ListenersAndFaults<'_>> =
        each.map(|(owner, c)| (listeners_of(owner), &**c)).collect();
    let narrower = narrower(&each, among_valid);
    let mut acceptance = GatewayListeners::default();
    for ((owner, conflicts), narrower) in joined.into_iter().zip(conflicts).zip(narrower) {
        acceptance.add(&owner.key, ListenerAcceptance::new(conflicts, narrower));
    }
    for (set, why) in outside {
        let refused = ListenerAcceptance::rejected(listeners_of(set).len(), why);
        acceptance.add(&set.key, refused);
    }
    acceptance
}
