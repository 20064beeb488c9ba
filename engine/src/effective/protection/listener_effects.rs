//! The effective policies at listeners.

use std::collections::BTreeSet;

use super::{AtPath, CLIENT_CERTIFICATES};
use crate::effective::Resolver;
use crate::kinds::profile::Protection;
use crate::merge::EffectivePolicy;
use crate::model::ids::{GroupKind, Place};
use crate::model::maps::HashMap;
use crate::model::shared::Shared;
use crate::topology::gateway_client_certificates;

/// The effective policies at listeners, each resolved once: many routes share a listener.
pub(super) struct ListenerEffects<'r, 's> {
    pub(super) resolver: &'r mut Resolver<'s>,
    /// By kind and listener.
    known: HashMap<GroupKind, HashMap<Place, Option<Shared<EffectivePolicy>>>>,
}

// === impl ListenerEffects ===

impl<'r, 's> ListenerEffects<'r, 's> {
    pub(super) fn new(resolver: &'r mut Resolver<'s>) -> Self {
        Self {
            resolver,
            known: HashMap::default(),
        }
    }

    /// `None` if a place is no listener, of which nothing is known.
    pub(super) fn effective_at(
        &mut self,
        listener: &Place,
        kind: &GroupKind,
    ) -> Option<Shared<EffectivePolicy>> {
        let known = self.known.get(kind).and_then(|known| known.get(listener));
        if let Some(known) = known {
            return known.clone();
        }
        let groups = self.resolver.paths_through(&listener.object, kind);
        let mut there = groups.iter().filter(|group| {
            let mut targets = group.paths.targets();
            targets.any(|target| target == listener)
        });
        let effective = there.next().map(|group| group.effective.clone());
        let known = self.known.entry(kind.clone()).or_default();
        known.insert(listener.clone(), effective.clone());
        effective
    }

    /// The effective policy at a listener, and the client certificates that the Gateway itself asks
    /// for there.
    pub(super) fn with_gateway_certificates(
        &self,
        effective: Shared<EffectivePolicy>,
        protection: &Protection,
        listener: &Place,
    ) -> AtPath {
        let snapshot = self.resolver.snapshot();
        let concerned = *protection.name == *CLIENT_CERTIFICATES;
        let own = concerned.then(|| gateway_client_certificates(snapshot, listener));
        (effective, own.flatten())
    }

    /// The effective policies at some listeners; `None` if one of them is no listener.
    pub(super) fn effective_at_all(
        &mut self,
        listeners: &BTreeSet<Place>,
        kind: &GroupKind,
    ) -> Option<Vec<Shared<EffectivePolicy>>> {
        let each = listeners.iter();
        each.map(|listener| self.effective_at(listener, kind))
            .collect()
    }
}
