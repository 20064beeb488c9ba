//! Findings on policies whose reported status differs from the one that attache expects.

use crate::admission::finding::{Code, Finding};
use crate::attachment::reports::Overridden;
use crate::policy::Policy;
use crate::status::conditions::{Accepted, Disagreement, PolicyStatus};

/// The finding on a policy about which its controllers and attache disagree.
pub(super) fn disagrees(policy: &Policy, status: &PolicyStatus) -> Option<Finding> {
    let reports = &status.controllers;
    let message = match status.disagreement()? {
        Disagreement::Rejected => {
            let report = reports.reports.iter().find(|report| report.is_rejection)?;
            let ancestor = report.ancestor.as_ref();
            let ancestor = ancestor.map_or_else(String::new, |place| format!("for {place} "));
            format!(
                "attache expects it to be accepted, but {ancestor}its controller reports {report}"
            )
        }
        Disagreement::NotEnforced => {
            let report = match &status.accepted {
                Accepted::Rejected(report) => report,
                _ => reports.not_enforced.as_ref()?,
            };
            format!("attache expects it to be in force, but its controller reports {report}")
        }
        Disagreement::Overridden => {
            let (Overridden::Everywhere(report) | Overridden::Somewhere(report)) =
                reports.overridden.as_ref()?;
            format!("attache expects all of it to be in force, but its controller reports {report}")
        }
        Disagreement::Accepted => {
            let why = match &status.accepted {
                Accepted::Conflicted(with) => format!("conflict with {}", with.path()),
                Accepted::TargetNotFound => "have no target".to_owned(),
                _ => "be invalid".to_owned(),
            };
            format!("attache expects it to {why}, but its controller accepts it")
        }
    };
    Some(Finding::new(Code::StatusDisagrees, policy.key(), message).about("status"))
}
