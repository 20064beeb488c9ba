//! Joins the reports on alternatives: a finding that they share appears once.

use std::collections::{BTreeMap, BTreeSet};

use super::judged::Checked;
use crate::answer::report::{Report, ReportedFinding, Spot};
use crate::engine::model::ids::ObjectKey;

/// One report on all alternatives.
pub(super) fn merged(mut all: Vec<(Option<&str>, Checked)>) -> Checked {
    if all.len() == 1
        && let Some((_, only)) = all.pop()
    {
        return only;
    }
    let count = all.len();
    let mut undefined = BTreeSet::new();
    let mut objects: BTreeMap<ObjectKey, Option<Spot>> = BTreeMap::new();
    let mut policies = BTreeSet::new();
    // The identity of a finding within one run.
    let mut by_finding: BTreeMap<_, (ReportedFinding, BTreeSet<&str>)> = BTreeMap::new();
    for (label, checked) in all {
        policies.extend(checked.policies);
        undefined.extend(checked.report.undefined);
        for (object, spot) in checked.objects {
            objects.entry(object).or_insert(spot);
        }
        for finding in checked.report.findings {
            let (fingerprint, file) = (finding.fingerprint.clone(), finding.file.clone());
            let same = (fingerprint, file, finding.line, finding.message.clone());
            let (_, labels) = by_finding.entry(same).or_insert((finding, BTreeSet::new()));
            labels.extend(label);
        }
    }
    let findings = by_finding.into_values().map(|(mut finding, labels)| {
        if labels.len() < count {
            let labels: Vec<&str> = labels.into_iter().collect();
            finding.message = format!("{} (in {})", finding.message, labels.join(", "));
        }
        finding
    });
    Checked {
        report: Report {
            undefined: undefined.into_iter().collect(),
            ..Report::new(findings.collect(), objects.len(), policies.len())
        },
        objects: objects.into_iter().collect(),
        policies,
    }
}
