//! Policies that lose to another only because of the order of documents.

use std::collections::BTreeSet;

use crate::engine::admission::finding::{Code, Finding};
use crate::engine::kinds::profile::SameTarget;
use crate::engine::model::ids::ObjectKey;
use crate::engine::state::snapshot::Snapshot;

/// The findings that follow from conflicts between policies of which none has a creation time.
pub(super) fn decides(
    findings: &[Finding],
    snapshot: &Snapshot,
    undated: &BTreeSet<ObjectKey>,
) -> Vec<Finding> {
    let one_wins = |finding: &Finding| {
        let profile = snapshot.profile(&finding.object.gk);
        let same_target = profile.map(|profile| *profile.same_target);
        !matches!(
            same_target,
            Some(SameTarget::EqualField | SameTarget::NoneWins)
        )
    };
    let by_age = |finding: &&Finding| {
        matches!(finding.code, Code::Conflicted | Code::FieldConflict)
            && undated.contains(&finding.object)
            && one_wins(finding)
    };
    let conflicts = findings.iter().filter(by_age);
    let decided = conflicts.filter_map(|finding| {
        let mut others = finding.mentions.iter();
        let winner = others.find(|other| undated.contains(*other))?;
        let message = format!(
            "{winner} wins because it comes first in the files: neither has a creation time. In a cluster the older wins; \
             at equal age, the first by namespace and name"
        );
        let mut order_finding = Finding::new(Code::OrderDecides, &finding.object, message);
        order_finding.mentions.insert(winner.clone());
        Some(order_finding.about(winner.to_string()))
    });
    decided.collect()
}
