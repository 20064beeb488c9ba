//! The findings on all objects of a state: those of `attache check --cluster`, one object after the other, so that the
//! caller can pause in between.

use std::collections::BTreeSet;
use std::sync::Arc;

use attache_guardrails::Guardrails;
use jiff::civil::Date;

use super::{Case, Suppressing, annotation_faults};
use crate::engine::admission::finding::Finding;
use crate::engine::admission::severities::Severities;
use crate::engine::model::ids::ObjectKey;
use crate::engine::routing::RouteVersions;
use crate::engine::state::snapshot::Snapshot;

/// After this many objects, the results that were cached for them are dropped: they would take more
/// memory than they save time.
const RUN: usize = 1_000;

/// A state, and the settings to judge it by.
#[derive(Clone, Copy, Debug)]
pub struct CurrentFindings<'a> {
    /// The state.
    pub snapshot: &'a Snapshot,
    /// The configured severities of the codes.
    pub severities: &'a Severities,
    /// The guardrails.
    pub guardrails: &'a Guardrails,
    /// Whether an API server has not validated the objects; if so, its own validation errors are added.
    pub unvalidated: bool,
    /// Whether any user may suppress refusals.
    pub refusals: bool,
    /// The current date.
    pub today: Date,
}

// === impl CurrentFindings ===

impl CurrentFindings<'_> {
    /// Passes each finding that is not suppressed to `report`, and calls `pause` after each object.
    pub fn each(&self, mut pause: impl FnMut(), mut report: impl FnMut(Finding)) {
        let objects = self.snapshot.all().map(|object| object.key.clone());
        let objects: BTreeSet<ObjectKey> = objects.collect();
        let undated = BTreeSet::new();
        let case = Case {
            before: None,
            after: self.snapshot,
            objects: &objects,
            route_versions: &RouteVersions::default(),
            undated: &undated,
            unvalidated: self.unvalidated,
            severities: self.severities,
            guardrails: self.guardrails,
            today: self.today,
        };
        let mut suppressing = Suppressing::new(self.snapshot, self.today, self.refusals);
        let mut tell = |suppressing: &mut Suppressing<'_>, mut finding: Finding| {
            if suppressing.judge(&mut finding).is_none() {
                report(finding);
            }
        };
        let mut judge = case.judge();
        for (number, key) in objects.iter().enumerate() {
            if number % RUN == RUN - 1 {
                judge = case.judge();
                suppressing.forget();
            }
            let faults = annotation_faults(self.snapshot, key).into_iter();
            let faults = faults.filter_map(|finding| case.weighed(finding));
            for finding in judge.object(key).into_iter().chain(faults) {
                tell(&mut suppressing, finding);
            }
            pause();
        }
        for finding in case.together() {
            tell(&mut suppressing, finding);
        }
    }
}

/// The namespace that a finding belongs to: that of its object, or the one that its object is. `None` for other
/// cluster-scoped objects.
pub fn namespace_of(object: &ObjectKey) -> Option<&Arc<str>> {
    let namespace = if object.gk.is_core("Namespace") {
        &object.name
    } else {
        &object.namespace
    };
    (!namespace.is_empty()).then_some(namespace)
}
