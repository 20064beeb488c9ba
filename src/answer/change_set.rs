//! The guardrails that the change of several objects breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use attache_guardrails::{GuardedChange, Guardrails};
use jiff::civil::Date;

use crate::engine::admission::finding::Finding;
use crate::engine::model::ids::ObjectKey;
use crate::engine::routing::RouteVersions;
use crate::engine::state::snapshot::{Change, Snapshot};

/// A change of several objects, to be judged by guardrails.
pub struct GuardedChanges<'a> {
    /// The guardrails.
    pub guardrails: &'a Guardrails,
    /// The states before and after it.
    pub states: [&'a Snapshot; 2],
    /// The objects that it may create, update or delete.
    pub objects: BTreeSet<&'a ObjectKey>,
    /// Both versions of the routes that it updates.
    pub route_versions: &'a RouteVersions,
    /// Targets whose faults from before are reported elsewhere.
    pub reported_before: Option<&'a BTreeSet<ObjectKey>>,
    /// Whether all faults from before are left out.
    pub only_new: bool,
    /// The current date, for exceptions with an end.
    pub today: Date,
}

// === impl GuardedChanges ===

impl<'a> GuardedChanges<'a> {
    /// The guardrails that the change breaks, each reported on the objects without whose change it holds; on all that touch it if
    /// there is none.
    pub fn broken(&self) -> Vec<Finding> {
        let [before, _] = self.states;
        let mut by_subject: BTreeMap<_, Vec<Finding>> = BTreeMap::new();
        for key in self.changed() {
            for finding in self.broken_by(before, key) {
                let together = by_subject.entry(finding.subject.clone()).or_default();
                together.push(finding);
            }
        }
        let mut broken = Vec::new();
        let mut by_object: BTreeMap<ObjectKey, Vec<Finding>> = BTreeMap::new();
        for (subject, findings) in by_subject {
            let mut deciding = findings.clone();
            if findings.len() > 1 {
                deciding.retain(|finding| {
                    let key = &finding.object;
                    let alone = by_object.entry(key.clone());
                    let alone = alone.or_insert_with(|| self.broken_by(&self.without(key), key));
                    let mut alone = alone.iter();
                    alone
                        .any(|alone| alone.subject == subject && alone.severity == finding.severity)
                });
            }
            broken.extend(if deciding.is_empty() {
                findings
            } else {
                deciding
            });
        }
        broken
    }

    /// The findings on the guardrails themselves: objects that the change moves out of one, and exceptions that it makes.
    pub fn around_guardrails(&self) -> Vec<Finding> {
        let each = self.changed().flat_map(|key| {
            let mut findings = self.guardrails.no_longer_applied(self.states, key);
            findings.extend(self.guardrails.added_exceptions(self.states, key));
            findings
        });
        each.collect()
    }

    fn changed(&self) -> impl Iterator<Item = &'a ObjectKey> {
        let [before, after] = self.states;
        let objects = self.objects.iter().copied();
        objects.filter(move |key| match (before.get(key), after.get(key)) {
            (Some(old), Some(new)) => !old.is_same(new),
            (old, new) => old.is_some() || new.is_some(),
        })
    }

    /// The state after the change without that of one object.
    fn without(&self, key: &ObjectKey) -> Snapshot {
        let [before, after] = self.states;
        after.apply(match before.get(key) {
            Some(old) => Change::Applied(Arc::clone(old)),
            None => Change::Deleted(key.clone()),
        })
    }

    /// The guardrails that the change of one object from a state breaks.
    fn broken_by(&self, from: &Snapshot, key: &ObjectKey) -> Vec<Finding> {
        let [_, after] = self.states;
        self.guardrails.changed(&GuardedChange {
            reported_before: self.reported_before,
            only_new: self.only_new,
            ..GuardedChange::offline([from, after], key, self.route_versions, self.today)
        })
    }
}
