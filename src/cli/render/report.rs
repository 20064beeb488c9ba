//! Reports in all formats, for people and for programs that run checks.

use crate::answer::report::{Report, ReportedFinding};
use crate::cli::missing_parts;
use crate::engine::model::ids::GroupKind;

pub(crate) mod github;
pub(crate) mod junit;
pub(crate) mod markdown;
mod plain;
pub(crate) mod sarif;
pub(crate) mod text;
mod wrap;

/// The line about policy kinds without a CRD.
pub(crate) fn undefined(report: &Report) -> Option<String> {
    let kinds: Vec<&GroupKind> = report.undefined.iter().map(|kind| &kind.0).collect();
    missing_parts::without_crd(&kinds)
}

/// `deny`, `warn`, `notice`.
fn severity(finding: &ReportedFinding) -> &'static str {
    if finding.notice {
        "notice"
    } else {
        finding.severity.as_str()
    }
}

/// `Gateway infra/edge`. `None` for a file.
fn object(finding: &ReportedFinding) -> Option<String> {
    let object = finding.object.as_ref();
    object.map(|object| object.0.object.to_string())
}

/// The field and the message.
fn message(finding: &ReportedFinding) -> String {
    match &finding.field {
        Some(field) => format!("{field}: {}", finding.message),
        None => finding.message.clone(),
    }
}
