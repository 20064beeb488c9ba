//! The acceptance of the listeners of each Gateway, found when it is first needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Snapshot;
use crate::model::ids::{GroupKind, ObjectKey, PrehashedBuildHasher};
use crate::model::listener_acceptance::GatewayListeners;

/// The acceptance by Gateway. Snapshots share it as long as no object changes that it depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct Acceptances(
    Arc<Mutex<HashMap<ObjectKey, Arc<GatewayListeners>, PrehashedBuildHasher>>>,
);

// === impl Snapshot ===

impl Snapshot {
    /// Whether a controller has a protocol of listeners of its own with this name, without a domain.
    pub(crate) fn is_protocol_of_controllers(&self, protocol: &str) -> bool {
        self.rules.is_protocol_of_controllers(protocol)
    }
}

// === impl Acceptances ===

impl Acceptances {
    /// The known acceptance of a Gateway, or what `find` finds.
    pub(super) fn get_or_find(
        &self,
        gateway: &ObjectKey,
        find: impl FnOnce() -> GatewayListeners,
    ) -> Arc<GatewayListeners> {
        // Entries are complete when they are inserted, so a poisoned lock does no harm.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(gateway) {
            return known.clone();
        }
        let acceptance = Arc::new(find());
        lock().entry(gateway.clone()).or_insert(acceptance).clone()
    }

    /// Forgets everything if acceptance depends on objects of a kind: Gateways, their classes, `ListenerSets`,
    /// Namespaces, whose labels listeners select, and grants for their certificates.
    pub(super) fn change(&mut self, gk: &GroupKind) {
        let is_gateway = gk.is_gateway_api("Gateway") || gk.is_gateway_api("GatewayClass");
        let is_named = gk.is_core("Namespace") || gk.is_gateway_api("ReferenceGrant");
        if is_gateway || gk.is_listener_set() || is_named {
            self.0 = Arc::default();
        }
    }
}
