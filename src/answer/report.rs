//! `attache check`: the findings on a set of manifests or on a cluster.

use schemars::JsonSchema;
use serde::Serialize;

use super::named::KindName;
use super::{Answer, Named};
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::verdict::{escape, sentence};
use crate::engine::model::ids::ObjectKey;

mod alike;
mod fingerprint;
mod judge;
mod pages;
mod rules;
mod unknown;

pub use judge::{Case, Judge, of_file};
pub use pages::{address, page};
pub use rules::{Rule, rule};

/// Findings, refusals before warnings and in each by file and line, and how many there are.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// All of them, those that do not count included.
    pub findings: Vec<ReportedFinding>,
    /// Policy kinds whose definition is not here: what stands in their policies is not held against it, and their
    /// profiles alone are used.
    #[serde(
        default,
        rename = "withoutDefinition",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub undefined: Vec<KindName>,
    /// How many.
    pub summary: Summary,
    /// Files, and documents in files, that are no manifests and were not checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// A file, or a document in it, that is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Skipped {
    /// The file, as it was named or found.
    pub file: String,
    /// The line on which the document begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What it is.
    pub reason: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedFinding {
    /// What it is about.
    pub code: Code,
    /// `deny`: the API server would refuse the object where attache is asked. `warn`: it would be told.
    pub severity: Severity,
    /// The object; none for a file that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Named>,
    /// The field, as in errors of the API server: `spec.targetRefs[0].sectionName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong and what to do about it, in one line.
    pub message: String,
    /// The policies that it tells of, and the object because of which it is said.
    pub related: Vec<Named>,
    /// The file, as it was named or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What it is the same by in another report: code, object and subject, never the line.
    pub fingerprint: String,
    /// It only tells what is in force; nothing is wrong. It never counts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub notice: bool,
    /// The baseline has it; it does not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub known: bool,
    /// The reason for which the object's annotation leaves it out; it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
}

/// How many objects and findings there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Objects that were looked at.
    pub objects: usize,
    /// Those of them that are policies.
    pub policies: usize,
    /// Findings that count and refuse.
    pub deny: usize,
    /// Findings that count and warn.
    pub warn: usize,
    /// Findings that only tell what is in force.
    pub notices: usize,
    /// Findings that the baseline has.
    pub known: usize,
    /// Findings that annotations leave out.
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

// === impl ReportedFinding ===

impl ReportedFinding {
    /// A finding of the engine as part of a report.
    pub fn new(finding: &Finding, spot: Option<Spot>, suppressed: Option<String>) -> Self {
        let spot = spot.unwrap_or_default();
        let object = (!finding.object.gk.kind.is_empty()).then(|| Named::from(&finding.object));
        let rests_on = finding.depends_on_absence_of.iter();
        let told = finding.mentions.iter().chain(rests_on);
        let mut related: Vec<&ObjectKey> = told.filter(|key| **key != finding.object).collect();
        related.sort();
        related.dedup();
        Self {
            code: finding.code,
            severity: finding.severity,
            field: finding.field.as_ref().map(|field| escape(&field.0)),
            message: sentence(finding),
            related: related.into_iter().map(Named::from).collect(),
            fingerprint: fingerprint::of(finding, object.is_none().then_some(&*spot.file)),
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
