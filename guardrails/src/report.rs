//! What guardrails say of a state without a change: findings of `attache check`.

use attache_engine::admission::finding::{Code, Finding, Severity};
use attache_engine::model::ids::ObjectKey;
use attache_engine::state::snapshot::Snapshot;
use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::file::{Action, OnError};
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::judge::Fault;
use crate::standing::{Standing, unknown_kind};

/// How many days before its end an exception is reported.
const SOON: i64 = 30;

/// The findings on a target: one for each rule that it breaks.
pub fn standing_findings(
    target: &ObjectKey,
    results: &[(&Guardrail, Standing<'_>)],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (guardrail, standing) in results {
        let Standing::Broken(faults) = standing else {
            continue;
        };
        for i in 0..guardrail.rules.len() {
            let of_rule: Vec<&Fault> = faults.iter().filter(|fault| fault.rule == i).collect();
            if let Some(first) = of_rule.first() {
                findings.push(finding(target, guardrail, first, of_rule.len()));
            }
        }
    }
    findings
}

fn finding(target: &ObjectKey, guardrail: &Guardrail, first: &Fault, paths: usize) -> Finding {
    let verb = if first.is_error {
        "cannot be judged"
    } else {
        "is broken"
    };
    let through = match (&first.through, paths) {
        (None, _) => String::new(),
        (Some(through), 1) => format!(" through {through}"),
        (Some(through), more) => format!(" through {through} and on {} more paths", more - 1),
    };
    let name = &guardrail.name;
    let message = format!("{name:?} {verb}{through}: {}", first.message);
    let mut finding = Finding::new(Code::Guardrail, target, message);
    finding = finding.about(format!("{name} {} {target}", first.rule));
    finding.mentions.clone_from(&first.policies);
    match (guardrail.action, first.is_error, guardrail.on_error) {
        (Action::Audit, _, _) => {
            finding.warn();
            finding.notice = true;
        }
        (Action::Warn, _, _) | (_, true, OnError::Warn) => finding.warn(),
        _ => finding.severity = Severity::Deny,
    }
    finding
}

// === impl Guardrails ===

impl Guardrails {
    /// The findings on the guardrails themselves: policy kinds that are unknown, and exceptions that end soon or have
    /// ended.
    pub fn own_findings(&self, snapshot: &Snapshot, today: Date) -> Vec<Finding> {
        let mut findings = Vec::new();
        for guardrail in self.iter() {
            let key = guardrail.key();
            if let Some(why) = unknown_kind(snapshot, guardrail) {
                let mut finding = Finding::new(Code::Guardrail, &key, why).at("spec.policyKind");
                finding.warn();
                findings.push(finding.about("policyKind"));
            }
            for (i, exception) in guardrail.exceptions.iter().enumerate() {
                let target = format!("{}/{}", exception.namespace, exception.name);
                let until = exception.until;
                let soon = today.saturating_add(SOON.days());
                let message = if exception.is_over(today) {
                    format!("the exception for {target} ended on {until}: remove it")
                } else if until < soon {
                    format!(
                        "the exception for {target} ends on {until}: {}",
                        exception.reason
                    )
                } else {
                    continue;
                };
                let mut finding = Finding::new(Code::Guardrail, &key, message)
                    .at(format!("spec.except[{i}].until"))
                    .about(format!("except {target}"));
                finding.warn();
                finding.notice = true;
                findings.push(finding);
            }
        }
        findings
    }
}
