//! Policies that are refused by default. Configuration may let them through.

use super::losses::{self, TakenFromOthers};
use super::one_change;
use crate::admission::finding::{Code, Finding, Severity};
use crate::effective::Resolver;
use crate::effective::protection::carries_others;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

/// The protections that are lost if configuration lets a policy through that is refused by default: those that its earlier version
/// provided, and those of policies whose place it takes.
pub(super) fn lost_if_let_through(
    before: Option<&Snapshot>,
    resolver: &mut Resolver<'_>,
    policy: &Policy,
) -> Vec<Finding> {
    let kind = &policy.key().gk;
    if policy.profile.protects.is_empty() && !carries_others(resolver.snapshot(), kind) {
        return Vec::new();
    }
    let mut findings = match before {
        Some(before) => one_change::effective_changes(before, resolver, policy.key(), |_| true),
        None => match losses::losses_by(resolver, policy) {
            TakenFromOthers::TooMuch => vec![losses::too_much_taken(policy.key())],
            taken => taken.protections(resolver, policy),
        },
    };
    // What was too much to look at is reported, too.
    findings.retain(|finding| matches!(finding.code, Code::ProtectionLost | Code::Unverified));
    findings
}

/// Whether a policy is refused by default, so that it has no effect. Where it names an unknown section of one target beside others,
/// configuration may let it through, and it applies to these others.
pub(super) fn is_refused(policy: &Policy, findings: &[Finding]) -> bool {
    let mut denied = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Deny);
    let has_others = policy.targets.len() > 1;
    denied.any(|finding| !(has_others && finding.code == Code::SectionUnknown))
}
