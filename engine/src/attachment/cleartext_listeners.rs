//! Plain HTTP listeners that share a port. A proxy sees them as one, so a policy that covers only some of them cannot
//! hold for these alone.

use std::sync::Arc;

use crate::attachment::rejection::{Rejection, RejectionEffect};
use crate::attachment::{permission, sections};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::maps::HashSet;
use crate::model::object::{Listener, Object};
use crate::state::snapshot::Snapshot;
use crate::topology::{acceptance_of, gateway_of, listener_acceptance, listeners_of};

/// The number of listeners that a message names.
const MAX_NAMED_LISTENERS: usize = 3;

/// The accepted plain HTTP listeners of a Gateway and its `ListenerSets`, each with its owner.
pub(super) struct PlainListeners<'a>(Vec<(&'a ObjectKey, &'a Listener)>);

// === impl PlainListeners ===

impl<'a> PlainListeners<'a> {
    /// The listeners of the Gateway of an object; `None` if it has none.
    pub(super) fn around(snapshot: &'a Snapshot, object: &ObjectKey) -> Option<Self> {
        let gateway = snapshot.get(gateway_of(snapshot, object))?;
        let acceptance = acceptance_of(snapshot, gateway);
        let mut plain_listeners = Vec::new();
        for (key, accepted) in acceptance.owners() {
            let Some(owner) = snapshot.get(key).filter(|_| accepted.rejection().is_none()) else {
                continue;
            };
            let own = listeners_of(owner).iter().enumerate();
            let plain = own.filter(|(index, listener)| {
                accepted.fault(*index).is_none() && &*listener.protocol == "HTTP"
            });
            plain_listeners.extend(plain.map(|(_, listener)| (&owner.key, listener)));
        }
        Some(Self(plain_listeners))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Why a policy on one listener is rejected: another has the same port.
    pub(super) fn on_listener(&self, target: &Place) -> Option<Rejection> {
        let is_own = |owner: &ObjectKey, listener: &Listener| {
            *owner == target.object && target.section.as_ref() == Some(&listener.name)
        };
        let mut own = self.0.iter().filter(|(owner, own)| is_own(owner, own));
        own.find_map(|(_, own)| {
            let mut others = self.0.iter();
            let (owner, other) = others
                .find(|(owner, other)| other.port == own.port && !is_own(owner, other))
                .copied()?;
            Some(Rejection::of_port(
                &shared(own, owner, other),
                RejectionEffect::WithoutSettings,
            ))
        })
    }

    /// Why policies of a kind on a whole `ListenerSet` are rejected: listeners of the set have the port of a listener
    /// of another owner. Listeners with policies of their own do not count.
    pub(super) fn on_set(
        &self,
        snapshot: &Snapshot,
        kind: &GroupKind,
        set: &Object,
    ) -> Option<Rejection> {
        let (own, others): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|(owner, _)| **owner == set.key);
        let shares = |own: &Listener| {
            let mut others = others.iter();
            others.find(|(_, other)| other.port == own.port).copied()
        };
        let shared_ports = own.into_iter();
        let mut shared_ports = shared_ports
            .filter_map(|(_, own)| Some((own, shares(own)?)))
            .peekable();
        shared_ports.peek()?;
        let taken = listeners_with_policies(snapshot, kind, set);
        let mut messages = Vec::new();
        let mut left_out: Vec<Arc<str>> = Vec::new();
        for (own, (owner, other)) in shared_ports {
            if taken.contains(&own.name) || left_out.contains(&own.name) {
                continue;
            }
            if messages.len() < MAX_NAMED_LISTENERS {
                messages.push(shared(own, owner, other));
            }
            left_out.push(own.name.clone());
        }
        let more = left_out.len() - messages.len();
        if more > 0 {
            messages.push(format!("{more} more listeners share theirs"));
        }
        let effect = RejectionEffect::WithoutSections {
            all: left_out.len() == accepted(snapshot, set),
            sections: left_out.into(),
        };
        (!messages.is_empty()).then(|| Rejection::of_port(&messages.join(", "), effect))
    }
}

/// The number of accepted listeners of a `ListenerSet`.
fn accepted(snapshot: &Snapshot, set: &Object) -> usize {
    let known = listener_acceptance(snapshot, set);
    let is_accepted = |index: &usize| {
        known
            .as_ref()
            .is_some_and(|known| known.fault(*index).is_none())
    };
    (0..listeners_of(set).len()).filter(is_accepted).count()
}

/// The listeners of a `ListenerSet` that policies of a kind name, even policies that their controllers reject.
fn listeners_with_policies(
    snapshot: &Snapshot,
    kind: &GroupKind,
    set: &Object,
) -> HashSet<Arc<str>> {
    let policies = snapshot.policies_naming(&set.key);
    let policies =
        policies.filter(|policy| policy.key().gk == *kind && policy.strategies.is_some());
    let mut names = HashSet::default();
    for policy in policies {
        let own = &policy.key().namespace;
        for target in policy.targets.iter().filter(|target| !target.is_whole()) {
            if target.matches(own, &set.key, Some(set))
                && permission(snapshot, policy, target, &set.key).is_attached()
            {
                names.extend(sections(snapshot, &policy.profile, target, Some(set)));
            }
        }
    }
    names
}

fn shared(own: &Listener, owner: &ObjectKey, other: &Listener) -> String {
    format!(
        "listener {} shares port {} with listener {} of {owner}",
        own.name, own.port, other.name
    )
}

// === impl Rejection ===

impl Rejection {
    fn of_port(shared: &str, effect: RejectionEffect) -> Self {
        Self {
            reason: "Invalid",
            effect,
            requests_fail: false,
            reported: None,
            message: format!(
                "{shared}, and settings of plain HTTP listeners hold for a whole port"
            ),
        }
    }
}
