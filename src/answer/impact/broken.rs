//! The guardrails that a change breaks.

use std::collections::BTreeMap;

use attache_guardrails::Guardrails;
use jiff::civil::Date;

use super::Impact;
use crate::answer::change_set::GuardedChanges;
use crate::engine::admission::finding::Finding;
use crate::engine::routing::RouteVersions;
use crate::engine::state::snapshot::Snapshot;

/// The findings on guardrails that a change breaks, after which they cannot be judged, or from which it takes objects out; each once,
/// on an object whose change decides.
pub fn broken(
    guardrails: &Guardrails,
    states: [&Snapshot; 2],
    impact: &Impact,
    route_versions: &RouteVersions,
    today: Date,
) -> Vec<Finding> {
    let objects = impact.applied.iter().chain(&impact.deleted);
    let change = GuardedChanges {
        guardrails,
        states,
        objects: objects.map(|named| &named.0.object).collect(),
        route_versions,
        reported_before: None,
        only_new: true,
        today,
    };
    let mut by_subject: BTreeMap<String, Finding> = BTreeMap::new();
    for finding in change
        .broken()
        .into_iter()
        .chain(change.around_guardrails())
    {
        by_subject.entry(finding.subject.clone()).or_insert(finding);
    }
    by_subject.into_values().collect()
}
