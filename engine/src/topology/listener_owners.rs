//! Gateways and `ListenerSets` whose listeners depend on another object.

use std::collections::BTreeSet;

use super::{gateway_of, sets_of};
use crate::model::ids::ObjectKey;
use crate::model::object::Node;
use crate::state::grants::certificates_into;
use crate::state::snapshot::Snapshot;

/// The Gateways and `ListenerSets` whose listeners a change of an object may let in, keep out, or bring into conflict with each
/// other: all of one Gateway compete for ports and hostnames. Labels of a Namespace let its `ListenerSets` in, and a `ReferenceGrant`
/// lets listeners use certificates.
pub fn listener_owners_around(snapshot: &Snapshot, key: &ObjectKey) -> BTreeSet<ObjectKey> {
    let mut owners = BTreeSet::new();
    for gateway in gateways_around(snapshot, key) {
        owners.extend(owners_of(snapshot, &gateway));
    }
    if key.gk.has_listeners() {
        owners.insert(key.clone());
    }
    owners
}

/// A Gateway and the `ListenerSets` that name it, whether it exists or not.
pub fn owners_of(snapshot: &Snapshot, gateway: &ObjectKey) -> BTreeSet<ObjectKey> {
    let sets = sets_of(snapshot, gateway).map(|set| set.key.clone());
    sets.chain([gateway.clone()]).collect()
}

/// The Gateways of these listeners.
pub fn gateways_around(snapshot: &Snapshot, key: &ObjectKey) -> BTreeSet<ObjectKey> {
    let gateway = |owner: &ObjectKey| gateway_of(snapshot, owner).clone();
    if key.gk.has_listeners() {
        return BTreeSet::from([gateway(key)]);
    }
    if key.gk.is_core("Namespace") {
        return sets_of(snapshot, key)
            .map(|set| gateway(&set.key))
            .collect();
    }
    let Some(Node::ReferenceGrant { from, .. }) = snapshot.get(key).map(|one| &one.node) else {
        return BTreeSet::new();
    };
    let entries = from.iter();
    let uses = entries.flat_map(|entry| certificates_into(snapshot, entry, &key.namespace));
    uses.map(|(owner, _)| gateway(&owner)).collect()
}
