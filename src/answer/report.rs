//! `attache check`: the findings on a set of manifests or on a cluster.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::named::KindName;
use super::{Answer, Named};
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::verdict::{escape, sentence};
use crate::engine::model::ids::{ObjectKey, Place};

mod current;
mod fingerprint;
mod joined;
mod judge;
mod order;
mod pages;
mod rules;
mod suppressing;
mod unknown;

pub use unknown::unknown_kinds;

pub use current::{CurrentFindings, namespace_of};
pub use judge::{Case, Judge, of_file};
pub use pages::{address, address_in, page};
pub use rules::{Rule, rule};
pub use suppressing::{Suppressing, annotation_faults};

/// The result of a check: findings and their number.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// All findings, including known and suppressed ones. Those that deny come first; each severity is sorted by file
    /// and line.
    pub findings: Vec<ReportedFinding>,
    /// Policy kinds whose CRD was not found. The fields of their policies are not checked; only their profiles are
    /// used.
    #[serde(
        default,
        rename = "withoutDefinition",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub undefined: Vec<KindName>,
    /// The number of objects and findings.
    pub summary: Summary,
    /// Files, and documents in files, that are not manifests and were not checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// A file, or a document in it, that is not a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Skipped {
    /// The path of the file, as given or found.
    pub file: String,
    /// The first line of the document, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why it was skipped.
    pub reason: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedFinding {
    /// The code of the finding.
    pub code: Code,
    /// `deny`: the webhook would deny the object. `warn`: the user would get a warning.
    pub severity: Severity,
    /// The object; absent for a file that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Named>,
    /// The path of the field, as in errors of the API server: `spec.targetRefs[0].sectionName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The fault and its remedy, in one line.
    pub message: String,
    /// The policies that the finding mentions, and the object that causes it.
    pub related: Vec<Named>,
    /// The path of the file, as given or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// Identifies the finding across reports, by code, object and subject; independent of the line.
    pub fingerprint: String,
    /// The rules or paths where a guardrail is broken, or a protection is lost. A baseline knows a finding only at its own places.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub places: BTreeSet<String>,
    /// Whether the finding only informs and reports no problem. Notices never fail a check.
    #[serde(default, skip_serializing_if = "is_false")]
    pub notice: bool,
    /// Whether the baseline contains the finding, so that it does not fail the check.
    #[serde(default, skip_serializing_if = "is_false")]
    pub known: bool,
    /// The reason in the annotation that suppresses the finding, so that it does not fail the check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
}

/// The number of objects and findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Objects that were checked.
    pub objects: usize,
    /// Policies among these objects.
    pub policies: usize,
    /// Findings that deny and are neither known nor suppressed.
    pub deny: usize,
    /// Findings that warn and are neither known nor suppressed.
    pub warn: usize,
    /// Findings that only inform.
    pub notices: usize,
    /// Findings that the baseline contains.
    pub known: usize,
    /// Findings that annotations suppress.
    pub suppressed: usize,
}

/// A position in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u64,
    /// The column, from 1; 0 for the whole line.
    pub column: u64,
}

impl Answer for Report {
    const KIND: &'static str = "Report";
}

// === impl Report ===

impl Report {
    /// Sorts and counts the findings.
    pub fn new(mut findings: Vec<ReportedFinding>, objects: usize, policies: usize) -> Self {
        findings.sort_by(|a, b| a.order().cmp(&b.order()));
        let mut summary = Summary {
            objects,
            policies,
            ..Summary::default()
        };
        for finding in &findings {
            let count = match finding.severity {
                _ if finding.suppressed.is_some() => &mut summary.suppressed,
                _ if finding.notice => &mut summary.notices,
                _ if finding.known => &mut summary.known,
                Severity::Deny => &mut summary.deny,
                Severity::Warn => &mut summary.warn,
            };
            *count += 1;
        }
        Self {
            findings,
            undefined: Vec::new(),
            summary,
            skipped: Vec::new(),
        }
    }
}

/// A place and the listener through which it is meant, in words.
fn words((place, listener): &(Place, Option<Place>)) -> String {
    let through = listener
        .iter()
        .map(|listener| format!(" through {listener}"));
    escape(&format!("{place}{}", through.collect::<String>()))
}

// === impl ReportedFinding ===

impl ReportedFinding {
    /// A finding of the engine as part of a report.
    pub fn new(finding: &Finding, spot: Option<Spot>, suppressed: Option<String>) -> Self {
        let spot = spot.unwrap_or_default();
        let object = (!finding.object.gk.kind.is_empty()).then(|| Named::from(&finding.object));
        let rests_on = finding.depends_on_absence_of.iter();
        let mentioned = finding.mentions.iter().chain(rests_on);
        let mut related: Vec<&ObjectKey> =
            mentioned.filter(|key| **key != finding.object).collect();
        related.sort();
        related.dedup();
        Self {
            code: finding.code,
            severity: finding.severity,
            field: finding.field.as_ref().map(|field| escape(&field.0)),
            message: sentence(finding),
            related: related.into_iter().map(Named::from).collect(),
            fingerprint: fingerprint::fingerprint(finding, object.is_none().then_some(&*spot.file)),
            places: finding.places.iter().map(words).collect(),
            object,
            line: (spot.line > 0).then_some(spot.line),
            column: (spot.column > 0).then_some(spot.column),
            file: (!spot.file.is_empty()).then_some(spot.file),
            notice: finding.notice && finding.severity == Severity::Warn,
            known: false,
            suppressed,
        }
    }

    /// Whether the finding can make a check fail.
    pub fn counts(&self) -> bool {
        !self.notice && !self.known && self.suppressed.is_none()
    }

    /// Refusals first, then warnings, then notices; each by file and line.
    fn order(&self) -> impl Ord {
        let weight = (self.severity, self.notice);
        let place = (&self.file, self.line, self.column);
        let what = (self.code, &self.object);
        (weight, place, what, &self.field, &self.message)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}
