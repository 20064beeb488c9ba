//! Policies that are refused by default. Configuration may let them through.

use super::{losses, one_change};
use crate::admission::finding::{Code, Finding, Severity};
use crate::effective::Resolver;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// The protections that are lost if configuration lets a policy through that is refused by default: those that its earlier version
/// provided, and those of policies whose place it takes.
pub(super) fn lost_if_let_through(
    before: Option<&Snapshot>,
    resolver: &mut Resolver<'_>,
    policy: &Policy,
) -> Vec<Finding> {
    if policy.profile.protects.is_empty() {
        return Vec::new();
    }
    let mut findings = match before {
        Some(before) => one_change::effective_changes(before, resolver, policy.key(), |_| true),
        None => losses::losses_by(resolver, policy).protections(resolver, policy),
    };
    findings.retain(|finding| finding.code == Code::ProtectionLost);
    findings
}

/// Whether a policy will have no effect because it is refused. An unknown section of one target may be let through by configuration,
/// and leaves its other targets as they are.
pub(super) fn is_refused(policy: &Policy, findings: &[Finding]) -> bool {
    let mut denied = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Deny);
    let has_others = policy.targets.len() > 1;
    denied.any(|finding| !(has_others && finding.code == Code::SectionUnknown))
}
