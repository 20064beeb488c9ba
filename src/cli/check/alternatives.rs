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
    let mut found: BTreeMap<_, (ReportedFinding, BTreeSet<&str>)> = BTreeMap::new();
    for (label, checked) in all {
        policies.extend(checked.policies);
        undefined.extend(checked.report.undefined);
        for (object, spot) in checked.objects {
            objects.entry(object).or_insert(spot);
        }
        for told in checked.report.findings {
            let (fingerprint, file) = (told.fingerprint.clone(), told.file.clone());
            let same = (fingerprint, file, told.line, told.message.clone());
            let (_, labels) = found.entry(same).or_insert((told, BTreeSet::new()));
            labels.extend(label);
        }
    }
    let findings = found.into_values().map(|(mut told, labels)| {
        if labels.len() < count {
            let labels: Vec<&str> = labels.into_iter().collect();
            told.message = format!("{} (in {})", told.message, labels.join(", "));
        }
        told
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
