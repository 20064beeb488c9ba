//! Shows the numbers of a pass as metrics, and drops the series of kinds and namespaces that no
//! longer exist.

use std::collections::BTreeSet;

use super::counts::Counts;
use crate::answer::state::PolicyState;
use crate::engine::model::ids::GroupKind;
use crate::engine::status::conditions::Disagreement;
use crate::metrics::{Metrics, watched_kind};

/// The series that exist.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    findings: BTreeSet<[String; 3]>,
    kinds: BTreeSet<GroupKind>,
}

// === impl Gauges ===

impl Gauges {
    /// Shows these numbers in place of those before.
    pub(super) fn show(&mut self, metrics: &Metrics, counts: &Counts) {
        self.show_findings(metrics, counts);
        self.show_policies(metrics, counts);
        metrics.judging_pass.set(counts.worked.as_secs_f64());
    }

    fn show_findings(&mut self, metrics: &Metrics, counts: &Counts) {
        let gauge = &metrics.current_findings;
        let mut shown = BTreeSet::new();
        for ((code, severity, scope), count) in &counts.findings {
            let labels = [code.as_str(), severity.as_str(), scope.as_str()];
            gauge.with_label_values(&labels).set(number(*count));
            shown.insert(labels.map(str::to_owned));
        }
        for gone in self.findings.difference(&shown) {
            // An error only means that the series is already gone.
            let _ = gauge.remove_label_values(&gone.each_ref().map(String::as_str));
        }
        self.findings = shown;
    }

    fn show_policies(&mut self, metrics: &Metrics, counts: &Counts) {
        let kinds: BTreeSet<GroupKind> = counts.policies.keys().cloned().collect();
        for (kind, states) in &counts.policies {
            let label = watched_kind(kind);
            for state in PolicyState::ALL {
                let count = states.get(&state).copied().unwrap_or_default();
                let gauge = &metrics.policies;
                let gauge = gauge.with_label_values(&[&*label, state.as_str()]);
                gauge.set(number(count));
            }
            for sort in Disagreement::ALL {
                let count = counts.disagreements.get(&(kind.clone(), sort)).copied();
                let gauge = &metrics.status_disagreements;
                let gauge = gauge.with_label_values(&[&*label, sort.as_str()]);
                gauge.set(number(count.unwrap_or_default()));
            }
        }
        for gone in self.kinds.difference(&kinds) {
            let label = watched_kind(gone);
            for state in PolicyState::ALL {
                let _ = metrics
                    .policies
                    .remove_label_values(&[&*label, state.as_str()]);
            }
            for sort in Disagreement::ALL {
                let gauge = &metrics.status_disagreements;
                let _ = gauge.remove_label_values(&[&*label, sort.as_str()]);
            }
        }
        self.kinds = kinds;
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Gauges;
    use crate::answer::state::PolicyState;
    use crate::background::counts::{Counts, Scope};
    use crate::engine::admission::finding::{Code, Severity};
    use crate::engine::model::ids::GroupKind;
    use crate::metrics::Metrics;

    #[test]
    fn every_state_is_documented() {
        let metrics = Metrics::new().unwrap();
        let mut all = metrics.described().iter();
        let policies = all.find(|one| one.name == "attache_policies").unwrap();
        let states = policies.labels.iter().find(|label| label.name == "state");
        let known = PolicyState::ALL.map(PolicyState::as_str);
        assert_eq!(states.unwrap().values, known);
    }

    #[test]
    fn what_is_gone_leaves_no_series() {
        let metrics = Metrics::new().unwrap();
        let mut gauges = Gauges::default();
        let kind = GroupKind::new("p.example.com", "Color");
        let mut counts = Counts::default();
        let shop = Scope::Namespace(Arc::from("shop"));
        let findings = &mut counts.findings;
        findings.insert((Code::TargetNotFound, Severity::Deny, shop), 2);
        findings.insert((Code::CrdLabel, Severity::Warn, Scope::Cluster), 1);
        let states = [(PolicyState::TargetNotFound, 2)].into();
        counts.policies.insert(kind, states);
        gauges.show(&metrics, &counts);
        let text = metrics.text().unwrap();
        for line in [
            r#"attache_standing_findings{code="target-not-found",namespace="shop",severity="deny"} 2"#,
            r#"attache_standing_findings{code="crd-label",namespace="(cluster)",severity="warn"} 1"#,
            r#"attache_policies{kind="Color.p.example.com",state="TargetNotFound"} 2"#,
            r#"attache_policies{kind="Color.p.example.com",state="Enforced"} 0"#,
            r#"attache_status_disagreements{kind="Color.p.example.com",sort="rejected"} 0"#,
        ] {
            assert!(text.lines().any(|series| series == line), "{line}\n{text}");
        }
        gauges.show(&metrics, &Counts::default());
        let text = metrics.text().unwrap();
        for name in ["standing_findings", "policies", "status_disagreements"] {
            assert!(!text.contains(&format!("attache_{name}{{")), "{text}");
        }
    }
}
