//! Findings of guardrails on a state without a change, for `attache check`.

use attache_engine::admission::finding::{Code, Finding, Hint, Severity};
use attache_engine::model::ids::ObjectKey;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::applied_guardrail::unknown_names;
use crate::file::{Action, OnError};
use crate::fulfilment::{Fulfilment, unknown_kind};
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::judge::{Fault, in_force_there};
use crate::out_of_place::out_of_place;
use crate::unmatched::unmatched;

/// The words of a message for a rule with an error.
const CANNOT_BE_JUDGED: &str = "cannot be judged";

/// The guardrail and the rule that a finding of [`current_findings`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRule {
    /// The name of the guardrail.
    pub guardrail: String,
    /// The index of the rule.
    pub rule: String,
    /// Whether the rule cannot be judged, instead of being broken.
    pub is_error: bool,
}

// === impl BrokenRule ===

impl BrokenRule {
    /// `None` for other findings: those on guardrails themselves, and on exceptions.
    pub fn from_finding(finding: &Finding) -> Option<Self> {
        if finding.code != Code::Guardrail || finding.field.is_some() {
            return None;
        }
        let target = format!(" {}", finding.object);
        let subject = finding.subject.strip_suffix(&target)?;
        let (guardrail, rule) = subject.split_once(' ')?;
        let judged = format!("{guardrail:?} {CANNOT_BE_JUDGED}");
        Some(Self {
            is_error: finding.message.starts_with(&judged),
            guardrail: guardrail.to_owned(),
            rule: rule.to_owned(),
        })
    }
}

/// The findings on a target: one for each rule that it breaks.
pub fn current_findings(target: &ObjectKey, results: &[(&Guardrail, Fulfilment)]) -> Vec<Finding> {
    let each = results.iter().flat_map(|(guardrail, fulfilment)| {
        let faults: Vec<&Fault> = fulfilment.faults().iter().collect();
        findings_of(target, guardrail, &faults, "is broken")
    });
    each.collect()
}

/// The findings on a target of a change: the rules that it broke before and still breaks on the same paths, as warnings, and what
/// guardrails that refuse nothing find. [`Guardrails::changed`] finds what the change breaks.
pub fn earlier_findings(
    target: &ObjectKey,
    before: &[(&Guardrail, Fulfilment)],
    after: &[(&Guardrail, Fulfilment)],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (guardrail, fulfilment) in after {
        let same = |(other, _): &&(&Guardrail, Fulfilment)| other.name == guardrail.name;
        let earlier = before.iter().find(same);
        let earlier = earlier.map_or(&[][..], |(_, fulfilment)| fulfilment.faults());
        let is_old = |fault: &&Fault| {
            let id = |fault: &Fault| (fault.rule, fault.is_error, fault.id.clone());
            earlier.iter().any(|other| id(other) == id(fault))
        };
        let (old, new): (Vec<&Fault>, Vec<&Fault>) = fulfilment.faults().iter().partition(is_old);
        let mut of_guardrail = findings_of(target, guardrail, &old, "was already broken");
        of_guardrail.iter_mut().for_each(Finding::warn);
        findings.extend(of_guardrail);
        if guardrail.action == Action::Audit {
            findings.extend(findings_of(target, guardrail, &new, "is broken"));
        }
    }
    findings
}

/// One finding for each rule with faults.
fn findings_of(
    target: &ObjectKey,
    guardrail: &Guardrail,
    faults: &[&Fault],
    is_broken: &str,
) -> Vec<Finding> {
    let rules = 0..guardrail.rules.len();
    let findings = rules.filter_map(|i| {
        let of_rule: Vec<&Fault> = faults
            .iter()
            .filter(|fault| fault.rule == i)
            .copied()
            .collect();
        let first = of_rule.first()?;
        let mut finding = finding(target, guardrail, first, of_rule.len(), is_broken);
        finding.places = of_rule
            .iter()
            .filter_map(|fault| fault.at.clone())
            .collect();
        Some(finding)
    });
    findings.collect()
}

fn finding(
    target: &ObjectKey,
    guardrail: &Guardrail,
    first: &Fault,
    paths: usize,
    is_broken: &str,
) -> Finding {
    let verb = if first.is_error {
        CANNOT_BE_JUDGED
    } else {
        is_broken
    };
    let through = match (&first.through, paths) {
        (None, _) => String::new(),
        (Some(through), 1) => format!(" through {through}"),
        (Some(through), 2) => format!(" through {through} and on 1 more path"),
        (Some(through), more) => format!(" through {through} and on {} more paths", more - 1),
    };
    let name = &guardrail.name;
    let mut finding = Finding::new(Code::Guardrail, target, format!("{name:?} {verb}{through}"));
    let mut hint = Hint {
        text: String::new(),
        mentioned: first.revealed_policies.clone(),
    };
    let text = if first.reveals_settings {
        &mut hint.text
    } else {
        &mut finding.message
    };
    text.push_str(": ");
    text.push_str(&first.message);
    finding = finding.hinting(hint);
    finding = finding.about(format!("{name} {} {target}", first.rule));
    finding.mentions.clone_from(&first.policies);
    finding.source = in_force_there(&first.policies, guardrail.policy_kind.as_ref());
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
    /// The findings on the guardrails themselves: names that do not exist, and exceptions that end soon or have ended.
    pub fn own_findings(&self, snapshot: &Snapshot, today: Date) -> Vec<Finding> {
        let mut findings = Vec::new();
        for guardrail in self.iter() {
            let key = guardrail.key();
            if let Some(why) = unknown_kind(snapshot, guardrail) {
                let mut finding = Finding::new(Code::Guardrail, &key, why).at("spec.policyKind");
                finding.warn();
                findings.push(finding.about("policyKind"));
            }
            if guardrail.on_error == OnError::Deny && guardrail.action != Action::Deny {
                let why = "it has no effect: only a guardrail with action deny refuses";
                let mut finding = Finding::new(Code::Guardrail, &key, why).at("spec.onError");
                finding.warn();
                finding.notice = true;
                findings.push(finding.about("onError"));
            }
            findings.extend(unknown_names(snapshot, guardrail));
            findings.extend(unmatched(snapshot, guardrail));
            findings.extend(out_of_place(snapshot, guardrail));
            for (i, exception) in guardrail.exceptions.iter().enumerate() {
                let target = format!("{}/{}", exception.namespace, exception.name);
                let Some(end) = exception.end(today) else {
                    continue;
                };
                let message = format!("the exception for {target} {end}");
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
