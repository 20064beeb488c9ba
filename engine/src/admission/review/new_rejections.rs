//! Policies that controllers reject because of a change of another object.

use std::collections::{BTreeMap, BTreeSet};

use crate::admission::finding::{Code, Finding};
use crate::attachment::rejection::RejectionFinder;
use crate::effective::impact::EffectiveChange;
use crate::model::ids::{ObjectKey, Place};
use crate::model::wording;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// Findings, reported on `key`, about policies that controllers reject after the change of these objects and did not before. Those
/// that change themselves have findings of their own.
pub(super) fn by_change(
    [before, after]: [&Snapshot; 2],
    key: &ObjectKey,
    objects: &[ObjectKey],
    all: &[EffectiveChange],
) -> Vec<Finding> {
    let finders = [RejectionFinder::new(true), RejectionFinder::new(true)];
    let mut known: BTreeSet<(ObjectKey, Place)> = BTreeSet::new();
    let mut rejected: BTreeMap<(ObjectKey, bool, String), BTreeSet<Place>> = BTreeMap::new();
    for change in all {
        for policy in change.before.policies() {
            let other = after.policy(&policy).filter(|_| !objects.contains(&policy));
            let Some((old, new)) = before.policy(&policy).zip(other) else {
                continue;
            };
            for target in targets_on(after, new, change) {
                if !known.insert((policy.clone(), target.clone())) {
                    continue;
                }
                let [before_finder, after_finder] = &finders;
                let Some(rejection) = after_finder.rejection_of(after, new, &target) else {
                    continue;
                };
                if before_finder.rejection_of(before, old, &target).is_none() {
                    let is_accepted = rejection.is_accepted();
                    let why = if is_accepted {
                        rejection.sentence()
                    } else {
                        rejection.to_string()
                    };
                    let id = (policy.clone(), is_accepted, why);
                    rejected.entry(id).or_default().insert(target);
                }
            }
        }
    }
    let findings = rejected.into_iter();
    let findings = findings.map(|((policy, is_accepted, why), targets)| {
        let on = match targets.first() {
            Some(target) if targets.len() == 1 => target.to_string(),
            _ => wording::counted(&targets.into_iter().map(|target| target.object).collect()),
        };
        let message = if is_accepted {
            format!("{policy} will have no effect on {on}: {why}")
        } else {
            format!("{policy} will be rejected on {on} ({why})")
        };
        let finding = Finding::new(Code::Rejected, key, message);
        let mut finding = finding.about(format!("{policy} {on}"));
        finding.mentions.insert(policy);
        finding
    });
    findings.collect()
}

/// The targets of a policy on the paths of a change.
fn targets_on(snapshot: &Snapshot, policy: &Policy, change: &EffectiveChange) -> BTreeSet<Place> {
    let own = &policy.key().namespace;
    let mut targets = BTreeSet::new();
    for step in change.paths.steps() {
        let key = &step.place.object;
        let object = snapshot.get(key).map(|object| &**object);
        let named = policy.targets.iter();
        let named = named.filter(|target| target.matches(own, key, object));
        targets.extend(named.map(|target| Place {
            object: key.clone(),
            section: target.section.clone(),
        }));
    }
    targets
}
