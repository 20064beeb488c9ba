//! The numbers of findings and of policies at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::Moment;
use super::pace::Pace;
use crate::answer::report::{self, namespace_of};
use crate::answer::state::PolicyState;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Disagreement, statuses};

/// The most namespaces that are counted on their own.
const NAMESPACES: usize = 100;
/// Policies whose status is computed with one resolver; more would take more memory.
const POLICIES: usize = 1_000;

/// The place of a finding. None of the names of the others can be the name of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// On an object without a namespace.
    Cluster,
    /// In one of the namespaces with the fewest findings.
    Others,
    /// In this namespace.
    Namespace(Arc<str>),
}

/// The numbers of one pass.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Findings that are neither notices nor suppressed.
    pub(super) findings: BTreeMap<(Code, Severity, Scope), usize>,
    /// Policies by state, for each kind that has policies.
    pub(super) policies: BTreeMap<GroupKind, BTreeMap<PolicyState, usize>>,
    /// Policies about which controllers and attache disagree.
    pub(super) disagreements: BTreeMap<(GroupKind, Disagreement), usize>,
    /// The time that it took, without pauses.
    pub(super) worked: Duration,
}

// === impl Scope ===

impl Scope {
    /// Its name in metrics.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Cluster => "(cluster)",
            Self::Others => "(others)",
            Self::Namespace(name) => name,
        }
    }

    fn from_object(object: &ObjectKey) -> Self {
        namespace_of(object).map_or(Self::Cluster, |name| Self::Namespace(name.clone()))
    }
}

// === impl Counts ===

impl Counts {
    /// Judges a state. Each finding is also passed to `report`.
    pub(super) fn judge(moment: &Moment, pace: &mut Pace, report: impl FnMut(Finding)) -> Self {
        let mut counts = Self::default();
        counts.count_findings(moment, pace, report);
        counts.count_policies(&moment.snapshot, pace);
        counts.worked = pace.worked();
        counts
    }

    fn count_findings(
        &mut self,
        moment: &Moment,
        pace: &mut Pace,
        mut report: impl FnMut(Finding),
    ) {
        let current_findings = report::CurrentFindings {
            snapshot: &moment.snapshot,
            severities: &moment.settings.severities,
            guardrails: &moment.guardrails,
            unvalidated: false,
            refusals: moment.settings.suppressors.is_anybody(),
            today: moment.today,
        };
        current_findings.each(
            || pace.pause(),
            |finding| {
                self.add(&finding);
                report(finding);
            },
        );
        self.bound();
    }

    fn add(&mut self, finding: &Finding) {
        if !finding.notice || finding.severity == Severity::Deny {
            let scope = Scope::from_object(&finding.object);
            let key = (finding.code, finding.severity, scope);
            *self.findings.entry(key).or_default() += 1;
        }
    }

    /// Counts the namespaces with the fewest findings together.
    fn bound(&mut self) {
        let mut sums: BTreeMap<Scope, usize> = BTreeMap::new();
        for ((.., scope), count) in &self.findings {
            if matches!(scope, Scope::Namespace(_)) {
                *sums.entry(scope.clone()).or_default() += count;
            }
        }
        let mut sums: Vec<(Scope, usize)> = sums.into_iter().collect();
        sums.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let few = sums.into_iter().skip(NAMESPACES);
        let few: BTreeSet<Scope> = few.map(|(scope, _)| scope).collect();
        if few.is_empty() {
            return;
        }
        for ((code, severity, scope), count) in std::mem::take(&mut self.findings) {
            let scope = if few.contains(&scope) {
                Scope::Others
            } else {
                scope
            };
            *self.findings.entry((code, severity, scope)).or_default() += count;
        }
    }

    fn count_policies(&mut self, snapshot: &Snapshot, pace: &mut Pace) {
        for kind in snapshot.used_kinds() {
            let all: Vec<&Arc<Policy>> = snapshot.policies(kind).collect();
            for some in all.chunks(POLICIES) {
                let mut resolver = Resolver::new(snapshot);
                statuses(&mut resolver, some, |policy, status| {
                    let kind = &policy.key().gk;
                    let state = PolicyState::over_targets(snapshot, policy, &status);
                    let states = self.policies.entry(kind.clone()).or_default();
                    *states.entry(state).or_default() += 1;
                    if let Some(differs) = status.disagreement() {
                        let key = (kind.clone(), differs);
                        *self.disagreements.entry(key).or_default() += 1;
                    }
                    pace.pause();
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, NAMESPACES, Scope};
    use crate::engine::admission::finding::{Code, Severity};

    #[test]
    fn namespaces_with_few_findings_are_counted_together() {
        let mut counts = Counts::default();
        let scope = |i: usize| Scope::Namespace(format!("team-{i:03}").into());
        for i in 0..NAMESPACES + 3 {
            let key = (Code::TargetNotFound, Severity::Deny, scope(i));
            counts.findings.insert(key, i + 1);
        }
        let cluster = (Code::CrdLabel, Severity::Warn, Scope::Cluster);
        counts.findings.insert(cluster.clone(), 1);
        let sum = counts.findings.values().sum::<usize>();
        counts.bound();
        assert_eq!(counts.findings.values().sum::<usize>(), sum);
        let counted = |scope| (Code::TargetNotFound, Severity::Deny, scope);
        assert_eq!(
            counts.findings.get(&counted(Scope::Others)),
            Some(&(1 + 2 + 3))
        );
        assert_eq!(counts.findings.get(&counted(scope(2))), None);
        assert_eq!(counts.findings.get(&counted(scope(3))), Some(&4));
        assert_eq!(counts.findings.get(&cluster), Some(&1));
        assert_eq!(counts.findings.len(), NAMESPACES + 2);
    }
}
