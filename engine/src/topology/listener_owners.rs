//! Gateways and `ListenerSets` whose listeners depend on another object.

use std::collections::BTreeSet;

use super::{gateway_of, sets_of};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::Node;
use crate::state::grants::certificates_into;
use crate::state::snapshot::Snapshot;

/// The Gateways and `ListenerSets` whose listeners a change of an object may let in, keep out, or bring into conflict with each
/// other: all of one Gateway compete for ports and hostnames. Labels of a Namespace let its `ListenerSets` in, and a `ReferenceGrant`
/// lets listeners use certificates.
pub fn listener_owners_around(snapshot: &Snapshot, key: &ObjectKey) -> BTreeSet<ObjectKey> {
    let mut owners = BTreeSet::new();
    let mut add = |owner: &ObjectKey| {
        let top = gateway_of(snapshot, owner);
        owners.extend(sets_of(snapshot, top).map(|set| set.key.clone()));
        owners.extend([top.clone(), owner.clone()]);
    };
    if key.gk.has_listeners() {
        add(key);
    } else if key.gk.is_core("Namespace") {
        for kind in &GroupKind::LISTENER_SETS {
            for set in snapshot.naming_of(key, kind) {
                add(&set.key);
            }
        }
    } else if let Some(Node::ReferenceGrant { from, .. }) = snapshot.get(key).map(|one| &one.node) {
        for entry in from {
            for (owner, _) in certificates_into(snapshot, entry, &key.namespace) {
                add(&owner);
            }
        }
    }
    owners
}
