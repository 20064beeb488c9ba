//! `-o openreports`: the findings on a state as the objects that `attache serve --reports` writes.

use super::super::Failure;
use super::Args;
use super::input::Input;
use crate::answer::openreports::{Api, PolicyNames, Reports};
use crate::answer::report::CurrentFindings;
use crate::engine::admission::finding::Severity;
use crate::today::today;

/// The reports as YAML documents. Without times: the same text for the same state.
pub(super) fn text(args: &Args, inputs: &[Input]) -> Result<String, Failure> {
    if !args.has_no_manifests() {
        return Err(
            "-o openreports reports the current findings, not those of a change: give --cluster, or --from, without manifests"
                .into(),
        );
    }
    let mut text = String::new();
    for input in inputs {
        let current_findings = CurrentFindings {
            snapshot: &input.after,
            severities: &input.severities,
            guardrails: &input.guardrails,
            unvalidated: !input.origins.is_empty(),
            refusals: input.refusals,
            today: today(),
        };
        let mut reports = Reports::new(&input.after, PolicyNames::Own, input.levels.clone());
        current_findings.each(
            || (),
            |mut finding| {
                if finding.may_refuse && input.of_closed_set.contains(&finding.code) {
                    finding.severity = Severity::Deny;
                }
                let has_object = !finding.object.gk.kind.is_empty();
                if !has_object || input.objects.contains(&finding.object) {
                    reports.add(&input.after, finding);
                }
            },
        );
        for namespace in reports.namespaces() {
            if let Some(report) = reports.object(Api::OpenReports, namespace, |_| None) {
                text.push_str("---\n");
                text.push_str(&serde_saphyr::to_string(&report)?);
            }
        }
    }
    Ok(text)
}
