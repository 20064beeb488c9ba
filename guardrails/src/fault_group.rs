//! Faults of guardrails that one finding reports together.

use std::collections::{BTreeMap, BTreeSet};

use attache_engine::admission::finding::{Code, Finding, Hint, Severity};
use attache_engine::model::ids::ObjectKey;
use attache_engine::model::wording;

use crate::file::{Action, OnError};
use crate::guardrail::Guardrail;
use crate::judge::{Fault, in_force_there};

/// Faults that are reported together: those of one rule with one message.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FaultGroup<'g> {
    pub(crate) guardrail: &'g str,
    pub(crate) rule: usize,
    pub(crate) is_error: bool,
    pub(crate) is_old: bool,
    pub(crate) message: String,
}

/// The targets of faults that are reported together.
#[derive(Default)]
pub(crate) struct Targets {
    pub(crate) objects: BTreeSet<ObjectKey>,
    pub(crate) policies: BTreeSet<ObjectKey>,
    /// The policies that the message may reveal.
    pub(crate) revealed_policies: BTreeSet<ObjectKey>,
    pub(crate) through: BTreeSet<String>,
    pub(crate) reveals_settings: bool,
    /// Whether different policies are in force on the paths.
    pub(crate) differ: bool,
}

/// Adds a fault to its group.
pub(crate) fn note<'g>(
    broken: &mut BTreeMap<FaultGroup<'g>, Targets>,
    guardrail: &'g Guardrail,
    target: &ObjectKey,
    fault: Fault,
    is_old: bool,
) {
    let targets = broken.entry(FaultGroup {
        guardrail: &guardrail.name,
        rule: fault.rule,
        is_error: fault.is_error,
        is_old,
        message: fault.message,
    });
    let targets = targets.or_default();
    targets.differ |= !targets.objects.is_empty() && targets.policies != fault.policies;
    targets.objects.insert(target.clone());
    targets.policies.extend(fault.policies);
    targets.revealed_policies.extend(fault.revealed_policies);
    targets.through.extend(fault.through);
    targets.reveals_settings |= fault.reveals_settings;
}

/// The finding on a group.
pub(crate) fn finding(
    key: &ObjectKey,
    guardrail: &Guardrail,
    group: &FaultGroup<'_>,
    targets: &Targets,
) -> Finding {
    let FaultGroup {
        is_error, is_old, ..
    } = *group;
    let objects = wording::named(&targets.objects);
    let through = match (targets.through.len(), targets.through.first()) {
        (1, Some(through)) if targets.objects.len() == 1 => format!(" through {through}"),
        _ => String::new(),
    };
    let verb = match (is_error, is_old) {
        (true, _) => "cannot be judged for",
        (false, true) => "was already broken by",
        (false, false) => "is broken by",
    };
    let text = format!("{:?} {verb} {objects}{through}", guardrail.name);
    let mut finding = Finding::new(Code::Guardrail, key, text);
    let message = format!(": {}", group.message);
    let mut hint = Hint {
        text: String::new(),
        mentioned: targets.revealed_policies.clone(),
    };
    let text = if targets.reveals_settings {
        &mut hint.text
    } else {
        &mut finding.message
    };
    text.push_str(&message);
    finding = finding.hinting(hint);
    if !targets.differ {
        finding.source = in_force_there(&targets.policies, guardrail.policy_kind.as_ref());
    }
    let subject = format!("{} {} {objects}", guardrail.name, group.rule);
    finding = finding.about(subject);
    let denies = guardrail.action == Action::Deny
        && !is_old
        && (!is_error || guardrail.on_error == OnError::Deny);
    if denies {
        finding.severity = Severity::Deny;
    } else {
        finding.warn();
    }
    finding
}
