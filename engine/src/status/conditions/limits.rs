//! What keeps a policy that is in force from being in force for all requests to its targets, apart from other policies.

use std::collections::BTreeSet;

use super::{PolicyStatus, State, TargetStatus};
use crate::model::ids::{ObjectKey, Place};
use crate::model::wording::first;

// === impl TargetStatus ===

impl TargetStatus {
    /// `does not apply to requests through Gateway web/edge`.
    pub fn limits(&self) -> Vec<String> {
        in_words(&self.passed_by, &self.narrower_listeners)
    }
}

// === impl PolicyStatus ===

impl PolicyStatus {
    /// [`TargetStatus::limits`] of all targets, and the targets for which it is not known whether it is in force.
    pub fn limits(&self) -> Vec<String> {
        let targets = || self.targets.iter();
        let passed_by: BTreeSet<ObjectKey> = targets()
            .flat_map(|target| target.passed_by.clone())
            .collect();
        let narrower_listeners: BTreeSet<Place> = targets()
            .flat_map(|target| target.narrower_listeners.clone())
            .collect();
        let unknown: Vec<(&Place, &String)> = targets()
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
        let limits = in_words(&passed_by, &narrower_listeners).into_iter();
        limits.chain(unknown).collect()
    }
}

fn in_words(passed_by: &BTreeSet<ObjectKey>, narrower_listeners: &BTreeSet<Place>) -> Vec<String> {
    let mut limits = Vec::new();
    if !passed_by.is_empty() {
        let gateways = passed_by.iter().map(ToString::to_string).collect();
        limits.push(format!(
            "does not apply to requests through {}",
            first(&gateways)
        ));
    }
    if !narrower_listeners.is_empty() {
        let listeners = narrower_listeners.iter().map(ToString::to_string).collect();
        let whose = match narrower_listeners.len() {
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
