//! Joins findings on one object that come from the same mistake.

use std::collections::BTreeSet;

use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::wording;

/// The findings on one object, without repetitions.
pub(super) fn together(mut findings: Vec<Finding>, is_policy: bool) -> Vec<Finding> {
    if is_policy {
        for code in [Code::Overridden, Code::PartlyOverridden] {
            for notice in [false, true] {
                findings = one_line(findings, code, notice);
            }
        }
    }
    empty(&mut findings);
    findings
}

/// Joins all `code` findings of one object into one that names every overriding policy.
fn one_line(findings: Vec<Finding>, code: Code, notice: bool) -> Vec<Finding> {
    let is_alike = |finding: &Finding| finding.code == code && finding.notice == notice;
    let (alike, mut others): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(is_alike);
    if alike.len() < 2 {
        others.extend(alike);
        others.sort();
        return others;
    }
    let severity = alike.iter().map(|finding| finding.severity).min();
    let by = alike.iter().flat_map(|finding| &finding.mentions);
    let by: BTreeSet<ObjectKey> = by.cloned().collect();
    let settings = alike.iter().flat_map(|finding| finding.settings.iter());
    let fields = settings.filter_map(|setting| setting.split_once('='));
    let fields: BTreeSet<String> = fields.map(|(field, _)| field.to_owned()).collect();
    let how = match code {
        Code::Overridden => "it has no effect: overridden by",
        _ => "overridden in part by",
    };
    let set = match fields.len() {
        0 => String::new(),
        _ => format!("; they set {}", wording::first(&fields)),
    };
    if let Some(first) = alike.into_iter().next() {
        others.push(Finding {
            severity: severity.unwrap_or(first.severity),
            message: format!("{how} {}{set}", wording::named(&by)),
            settings: Vec::new().into(),
            source: String::new(),
            mentions: by,
            ..first.about(code.as_str())
        });
    }
    others.sort();
    others
}

/// Joins `spec-empty` with `protection-lost`: the empty policy is the cause of the loss.
fn empty(findings: &mut Vec<Finding>) {
    let is_told = |finding: &Finding| finding.code == Code::ProtectionLost;
    let is_empty =
        |finding: &Finding| finding.code == Code::SpecEmpty && finding.severity == Severity::Warn;
    if !findings.iter().any(is_told) || !findings.iter().any(is_empty) {
        return;
    }
    findings.retain(|finding| !is_empty(finding));
    for finding in findings.iter_mut().filter(|finding| is_told(finding)) {
        finding
            .message
            .push_str(", because this policy has no settings and replaces it");
    }
}
