//! The conditions, besides its places, that the policies on a path depend on: where requests come from, and which
//! policies are rejected there.

use std::rc::Rc;
use std::sync::Arc;

use crate::attachment::Attachment;
use crate::kinds::profile::{CrossNamespace, Profile};
use crate::model::ids::{GroupKind, ObjectKey, Place};
use crate::model::maps::HashMap;
use crate::model::object::Node;
use crate::state::snapshot::Snapshot;
use crate::status::reports::{Rejected, rejected};
use crate::topology::AncestorPath;

/// The conditions of an ancestor path. Most paths have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PathContext {
    /// The only namespace that requests come from, for kinds that depend on it.
    consumer: Option<Arc<str>>,
    /// Policies that the controller of this path rejects and the controller of another accepts; sorted.
    without: Option<Rc<[ObjectKey]>>,
    /// The port of the listener, for kinds with settings for single ports.
    pub(super) port: Option<u16>,
}

/// Policies of a kind that are rejected on some paths, and the ancestors for which they are rejected.
type OfKind = Rc<[(ObjectKey, Vec<Place>)]>;

/// Finds which policies are rejected where, and the ports of listeners.
#[derive(Debug, Default)]
pub(super) struct RejectionsByAncestor {
    kinds: HashMap<GroupKind, OfKind>,
    /// The ports of listeners by their names, of Gateways and `ListenerSets` that were asked for.
    ports: HashMap<ObjectKey, Ports>,
}

/// The ports of the listeners of an object, by name.
type Ports = HashMap<Arc<str>, u16>;

// === impl PathContext ===

impl PathContext {
    /// Whether a policy acts on the requests of this path.
    pub(super) fn allows(&self, stand: &Attachment) -> bool {
        let key = stand.policy.key();
        let is_asked = !stand.consumer || self.consumer.as_ref() == Some(&key.namespace);
        let without = self.without.as_deref().unwrap_or_default();
        // A policy that is rejected for another of its targets is not disputed at this one.
        is_asked && !(stand.disputed && without.binary_search(key).is_ok())
    }
}

// === impl RejectionsByAncestor ===

impl RejectionsByAncestor {
    /// The conditions of an ancestor path for policies of a kind.
    pub(super) fn context_of(
        &mut self,
        snapshot: &Snapshot,
        profile: &Profile,
        ancestor_path: &AncestorPath,
    ) -> PathContext {
        // Other kinds do not depend on where requests come from.
        let asks = profile.cross_namespace.value == CrossNamespace::Consumer;
        PathContext {
            consumer: ancestor_path.consumer.clone().filter(|_| asks),
            without: self.without(snapshot, profile, ancestor_path),
            port: ancestor_path
                .last()
                .and_then(|place| self.port(snapshot, profile, place)),
        }
    }

    /// The port of a listener, for kinds with settings for single ports.
    pub(super) fn port(
        &mut self,
        snapshot: &Snapshot,
        profile: &Profile,
        place: &Place,
    ) -> Option<u16> {
        profile.merging.ports.as_ref()?;
        let name = place.section.as_ref()?;
        let known = self.ports.entry(place.object.clone());
        let ports = known.or_insert_with(|| ports(snapshot, &place.object));
        ports.get(name).copied()
    }

    fn without(
        &mut self,
        snapshot: &Snapshot,
        profile: &Profile,
        ancestor_path: &AncestorPath,
    ) -> Option<Rc<[ObjectKey]>> {
        snapshot.disputed().next()?;
        let known = self.kinds.entry(profile.gk.clone());
        let of_kind = known.or_insert_with(|| of_kind(snapshot, &profile.gk));
        let is_on = |place: &Place| {
            let mut steps = ancestor_path.steps.iter();
            steps.any(|step| step.place == *place)
        };
        let rejected = of_kind
            .iter()
            .filter(|(_, places)| places.iter().any(is_on));
        let keys: Rc<[ObjectKey]> = rejected.map(|(key, _)| key.clone()).collect();
        (!keys.is_empty()).then_some(keys)
    }
}

fn ports(snapshot: &Snapshot, owner: &ObjectKey) -> Ports {
    let node = snapshot.get(owner).map(|owner| &owner.node);
    let listeners = match node {
        Some(Node::Gateway { listeners, .. } | Node::ListenerSet { listeners, .. }) => &**listeners,
        _ => &[],
    };
    let mut ports = Ports::default();
    for listener in listeners {
        ports.entry(listener.name.clone()).or_insert(listener.port);
    }
    ports
}

fn of_kind(snapshot: &Snapshot, kind: &GroupKind) -> OfKind {
    let policies = snapshot
        .disputed()
        .filter(|policy| policy.key().gk == *kind);
    let found = policies.filter_map(|policy| match rejected(snapshot, policy) {
        Rejected::Through(places) => Some((policy.key().clone(), places)),
        Rejected::Nowhere | Rejected::Everywhere => None,
    });
    found.collect()
}
