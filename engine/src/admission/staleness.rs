//! Warns when a review depends on knowledge that may be stale.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::admission::finding::{Code, Finding};
use crate::admission::verdict::Verdict;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::state::snapshot::Snapshot;

/// Kinds without an update for too long, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaleKinds(BTreeMap<GroupKind, Duration>);

/// The subject of the finding.
const SUBJECT: &str = "age";
/// The number of kinds that are named; the others are counted.
const MAX_NAMED_KINDS: usize = 2;
/// The maximum number of characters for their names, which their CRDs choose.
const MAX_NAME_CHARACTERS: usize = 120;

// === impl StaleKinds ===

impl StaleKinds {
    /// Adds a warning if a kind that the verdict depends on is stale. Such a verdict does not
    /// refuse a request for a fault that only other objects show. If the CRDs are stale, it refuses
    /// nothing, because CRDs decide about all faults.
    #[must_use]
    pub fn annotate(
        &self,
        mut verdict: Verdict,
        snapshot: &Snapshot,
        object: &ObjectKey,
    ) -> Verdict {
        if self.0.is_empty() || !verdict.depends_on_state() || object.gk == GroupKind::CRD {
            return verdict;
        }
        let is_policy = snapshot.profile(&object.gk).is_some();
        // Policies of different kinds do not affect each other.
        let matters =
            |gk: &GroupKind| *gk == object.gk || !(is_policy && snapshot.profile(gk).is_some());
        let old: Vec<_> = self.0.iter().filter(|(gk, _)| matters(gk)).collect();
        let Some(age) = old.iter().map(|(_, age)| **age).max() else {
            return verdict;
        };
        let definitions = self.0.contains_key(&GroupKind::CRD);
        for finding in &mut verdict.findings {
            if definitions
                || (finding.code.is_of_others()
                    && finding.depends_on_absence_of.is_none()
                    && finding.refuted_by_kinds.is_empty())
            {
                finding.warn();
            }
        }
        let kinds: Vec<&GroupKind> = old.into_iter().map(|(gk, _)| gk).collect();
        let message = format!(
            "no update for {} in {}; this may be out of date",
            names(&kinds),
            minutes(age),
        );
        let mut finding = Finding::new(Code::Unverified, object, message).about(SUBJECT);
        finding.warn();
        verdict.findings.push(finding);
        verdict.findings.sort();
        verdict
    }
}

impl FromIterator<(GroupKind, Duration)> for StaleKinds {
    fn from_iter<I: IntoIterator<Item = (GroupKind, Duration)>>(kinds: I) -> Self {
        Self(kinds.into_iter().collect())
    }
}

/// Whether a finding is about staleness.
pub fn is_staleness_finding(finding: &Finding) -> bool {
    finding.code == Code::Unverified && finding.subject == SUBJECT
}

fn names(kinds: &[&GroupKind]) -> String {
    let first: Vec<String> = kinds
        .iter()
        .take(MAX_NAMED_KINDS)
        .map(ToString::to_string)
        .collect();
    let names = first.join(", ");
    match kinds.len().saturating_sub(MAX_NAMED_KINDS) {
        _ if names.chars().count() > MAX_NAME_CHARACTERS => match kinds.len() {
            1 => "a kind".to_owned(),
            all => format!("{all} kinds"),
        },
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

fn minutes(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::admission::evidence::Evidence;
    use crate::kinds::profile::ProfileRules;

    fn old(kinds: &[GroupKind]) -> StaleKinds {
        let age = Duration::from_secs(432);
        kinds.iter().map(|gk| (gk.clone(), age)).collect()
    }

    fn annotated(old: &StaleKinds, findings: Vec<Finding>) -> Verdict {
        let snapshot = Snapshot::new(Arc::new(ProfileRules::default()));
        old.annotate(Verdict::new(findings, &Evidence::Cached), &snapshot, &key())
    }

    fn key() -> ObjectKey {
        ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart")
    }

    fn refusing(code: Code) -> Finding {
        let mut finding = Finding::new(code, &key(), "because");
        finding.severity = crate::admission::finding::Severity::Deny;
        finding
    }

    /// A refusal that an operator configured applies only while the knowledge is fresh.
    #[test]
    fn stale_kinds_refuse_nothing() {
        let young = old(&[]);
        let services = old(&[GroupKind::core("Service")]);
        let definitions = old(&[GroupKind::CRD]);
        let allowed = |old, code| annotated(old, vec![refusing(code)]).allowed();
        for code in [Code::Conflicted, Code::TargetNotFound, Code::TargetOrphaned] {
            assert!(!allowed(&young, code), "{code:?}");
            assert!(allowed(&services, code), "{code:?}");
        }
        // The object itself shows this fault; its CRD says that it is one.
        assert!(!allowed(&services, Code::StrategyMultiple));
        assert!(allowed(&definitions, Code::StrategyMultiple));
        // Just confirmed by a live read.
        let confirmed = refusing(Code::SectionUnknown).depending_on_absence_of(&key());
        assert!(!annotated(&services, vec![confirmed]).allowed());
    }

    #[test]
    fn any_kind_name_fits_the_line() {
        let long = |c: &str| GroupKind::new(c.repeat(250), "K".repeat(63));
        for (kinds, expected) in [
            (vec![long("a")], "no update for a kind in 7 minutes"),
            (
                vec![long("a"), long("b")],
                "no update for 2 kinds in 7 minutes",
            ),
        ] {
            let lines = annotated(&old(&kinds), Vec::new()).warnings();
            assert!(lines[0].contains(expected), "{lines:?}");
        }
    }

    #[test]
    fn a_skipped_review_depends_on_nothing() {
        let snapshot = Snapshot::new(Arc::new(ProfileRules::default()));
        let old = old(&[GroupKind::core("Service")]);
        let passed = old.annotate(Verdict::default(), &snapshot, &key());
        assert!(passed.findings.is_empty());
        let unread = Verdict::unreadable(&key(), "it cannot be read".to_owned());
        assert_eq!(old.annotate(unread, &snapshot, &key()).findings.len(), 1);
    }
}
