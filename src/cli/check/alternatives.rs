//! Reports on alternatives as one: what is said of all of them is said once.

use std::collections::{BTreeMap, BTreeSet};

use super::judged::Checked;
use crate::answer::report::{Report, Spot, Told};
use crate::engine::ids::ObjectKey;

/// One report of all.
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
    let mut found: BTreeMap<Same, (Told, BTreeSet<&str>)> = BTreeMap::new();
    for (label, checked) in all {
        policies.extend(checked.policies);
        undefined.extend(checked.report.undefined);
        for (object, spot) in checked.objects {
            objects.entry(object).or_insert(spot);
        }
        for told in checked.report.findings {
            let same = Same::of(&told);
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

/// What one finding is the same by as another of the same run.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Same {
    fingerprint: String,
    file: Option<String>,
    line: Option<u64>,
    message: String,
}

// === impl Same ===

impl Same {
    fn of(told: &Told) -> Self {
        Self {
            fingerprint: told.fingerprint.clone(),
            file: told.file.clone(),
            line: told.line,
            message: told.message.clone(),
        }
    }
}
