//! What keeps a policy that is in force from being in force for all requests to its targets, apart from other policies.

use std::collections::BTreeSet;

use super::{PolicyStatus, State, TargetStatus};
use crate::model::ids::{ObjectKey, Place};
use crate::model::wording::first;
use crate::state::snapshot::Snapshot;
use crate::topology::gateway_of;

// === impl TargetStatus ===

impl TargetStatus {
    /// `does not apply to requests through Gateway web/edge`.
    pub fn limits(&self) -> Vec<String> {
        in_words(std::slice::from_ref(self))
    }

    /// Notes the Gateways through which requests reach the target without the policy.
    pub(super) fn note_gateways_not_applying(
        &mut self,
        gateways: impl IntoIterator<Item = ObjectKey>,
    ) {
        self.gateways_not_applying.extend(gateways);
        self.enforce_partly();
    }

    /// Notes the listeners whose hostnames are narrower than those of their routes.
    pub(super) fn note_narrower_listeners(
        &mut self,
        snapshot: &Snapshot,
        listeners: impl IntoIterator<Item = Place>,
    ) {
        self.narrower_listeners.extend(listeners);
        self.enforce_partly();
        let owners = self.narrower_listeners.iter().map(|place| &place.object);
        for owner in owners {
            let state = self.state_by_gateway.get_mut(gateway_of(snapshot, owner));
            if let Some(state) = state.filter(|state| **state == State::Enforced) {
                *state = State::PartiallyEnforced;
            }
        }
    }

    /// A policy with limits that is in force on other paths is partly enforced.
    fn enforce_partly(&mut self) {
        let is_limited =
            !(self.gateways_not_applying.is_empty() && self.narrower_listeners.is_empty());
        if is_limited && self.state == Some(State::Enforced) {
            self.state = Some(State::PartiallyEnforced);
        }
    }
}

// === impl PolicyStatus ===

impl PolicyStatus {
    /// [`TargetStatus::limits`] of all targets, and the targets for which it is not known whether it is in force.
    pub fn limits(&self) -> Vec<String> {
        let targets = self.targets.iter();
        let unknown: Vec<(&Place, &String)> = targets
            .filter_map(|target| match &target.state {
                Some(State::Unknown(why)) => Some((&target.target, why)),
                _ => None,
            })
            .collect();
        let unknown = unknown.split_first().map(|((target, why), others)| {
            let more = match others.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("is not known to be in force on {target}{more}: {why}")
        });
        in_words(&self.targets).into_iter().chain(unknown).collect()
    }
}

fn in_words(targets: &[TargetStatus]) -> Vec<String> {
    let mut limits = Vec::new();
    let passed_by = targets
        .iter()
        .flat_map(|target| &target.gateways_not_applying);
    let passed_by: BTreeSet<String> = passed_by.map(ToString::to_string).collect();
    if !passed_by.is_empty() {
        limits.push(format!(
            "does not apply to requests through {}",
            first(&passed_by)
        ));
    }
    let listeners = targets.iter().flat_map(|target| &target.narrower_listeners);
    let listeners: BTreeSet<String> = listeners.map(ToString::to_string).collect();
    if !listeners.is_empty() {
        let whose = match listeners.len() {
            1 => "whose hostname is",
            _ => "whose hostnames are",
        };
        limits.push(format!(
            "does not apply to requests through {}, {whose} narrower than those of a route",
            first(&listeners)
        ));
    }
    limits
}
