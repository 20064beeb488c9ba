//! The guardrails that a change breaks.

use std::collections::{BTreeMap, BTreeSet};

use attache_guardrails::{GuardedChange, Guardrails};
use jiff::civil::Date;

use super::Impact;
use crate::engine::admission::finding::Finding;
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

/// The findings on guardrails that a change breaks, after which they cannot be judged, or from which it takes objects out; each once,
/// on one of the objects that the change touches.
pub fn broken(
    guardrails: &Guardrails,
    states: [&Snapshot; 2],
    impact: &Impact,
    today: Date,
) -> Vec<Finding> {
    let objects = impact.applied.iter().chain(&impact.deleted);
    let objects: BTreeSet<&ObjectKey> = objects.map(|named| &named.0.object).collect();
    let mut by_subject: BTreeMap<String, Finding> = BTreeMap::new();
    for object in objects {
        let mut findings = guardrails.changed(&GuardedChange {
            only_new: true,
            ..GuardedChange::offline(states, object, today)
        });
        findings.extend(guardrails.no_longer_applied(states, object));
        findings.extend(guardrails.added_exceptions(states, object));
        for finding in findings {
            by_subject.entry(finding.subject.clone()).or_insert(finding);
        }
    }
    by_subject.into_values().collect()
}
