//! Policies that controllers reject because of a change of another object.

use std::collections::BTreeSet;

use crate::admission::finding::{Code, Finding};
use crate::attachment::rejection::RejectionFinder;
use crate::effective::impact::EffectiveChange;
use crate::model::ids::{ObjectKey, Place};
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
    let mut findings = Vec::new();
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
                    let message = if rejection.is_accepted() {
                        let why = rejection.sentence();
                        format!("{policy} will have no effect on {target}: {why}")
                    } else {
                        format!("{policy} will be rejected on {target} ({rejection})")
                    };
                    let finding = Finding::new(Code::Rejected, key, message);
                    let mut finding = finding.about(format!("{policy} {target}"));
                    finding.mentions.insert(policy.clone());
                    findings.push(finding);
                }
            }
        }
    }
    findings
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
