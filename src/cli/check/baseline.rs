//! The baseline: an earlier report whose findings do not count again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::super::Failure;
use crate::answer::report::Report;
use crate::reading::{self, Pipes};

/// The limit of a report's size, in bytes.
const LARGEST: u64 = 64 << 20;

/// The fingerprints of the findings in a report, each with the places where it holds.
pub(super) type Baseline = BTreeMap<String, BTreeSet<String>>;

#[derive(Deserialize)]
struct File {
    kind: String,
    findings: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    fingerprint: String,
    /// Empty for most findings, and in reports of older versions.
    #[serde(default)]
    places: BTreeSet<String>,
}

/// Reads a report.
pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
    let shown = path.display();
    let text = reading::text(path, LARGEST, Pipes::Read)
        .map_err(|error| format!("the baseline {shown} cannot be read: {error}"))?;
    // The content of a file outside the directory, behind a link, is not quoted.
    let why = |why: String| {
        let why = Some(why).filter(|_| !reading::leads_out(path));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("the baseline {shown} is not a report of check -o json{why}")
    };
    let file: File = serde_json::from_str(&text).map_err(|error| {
        why(if error.is_syntax() || error.is_eof() {
            format!("line {} is not JSON", error.line())
        } else {
            error.to_string()
        })
    })?;
    if file.kind != "Report" {
        return Err(why(format!("it is a {}", file.kind)).into());
    }
    let mut baseline = Baseline::new();
    for entry in file.findings {
        let places = baseline.entry(entry.fingerprint).or_default();
        places.extend(entry.places);
    }
    Ok(baseline)
}

/// Marks the findings of a report that the baseline has, at all of their places.
pub(super) fn compare(report: Report, baseline: &Baseline) -> Report {
    let (objects, policies) = (report.summary.objects, report.summary.policies);
    let mut findings = report.findings;
    for finding in &mut findings {
        let known = baseline.get(&finding.fingerprint);
        finding.known =
            known.is_some_and(|places| places.is_empty() || finding.places.is_subset(places));
    }
    Report {
        undefined: report.undefined,
        skipped: report.skipped,
        ..Report::new(findings, objects, policies)
    }
}
