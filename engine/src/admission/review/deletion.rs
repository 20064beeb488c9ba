//! Findings on the deletion of an object, and of those that go with it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fuel::too_much;
use super::one_change::{effective_changes_of, grant, listener_changes, orphaned};
use crate::admission::finding::{Code, Finding};
use crate::attachment::attached_to;
use crate::attachment::rejection::RejectionFinder;
use crate::effective::Resolver;
use crate::model::ids::ObjectKey;
use crate::model::object::Object;
use crate::policy::fuel::{MOST_REFERENCES, MOST_ROUTES};
use crate::state::deleted_with::{MOST_DELETED, deleted_with, without};
use crate::state::snapshot::{Change, Snapshot};

/// Findings on the deletion of an object.
pub(super) fn deleted(snapshot: &Snapshot, key: &ObjectKey, old: Option<Object>) -> Vec<Finding> {
    let before = match old {
        Some(old) => snapshot.with_change(Change::Applied(Arc::new(old))),
        None => snapshot.clone(),
    };
    let Some(gone) = gone(&before, key) else {
        return vec![too_much(key, "the effect of this deletion")];
    };
    let after = without(before.clone(), &gone);
    let mut resolver_after = Resolver::bounded(&after);
    let mut findings = effective_changes_of(&before, &mut resolver_after, key, &gone, |_| true);
    if snapshot.profile(&key.gk).is_none() {
        for gone in &gone {
            findings.extend(target(&before, &after, gone, key));
        }
    }
    findings.extend(listener_changes(&before, &after, key, &gone, MOST_ROUTES));
    findings.extend(grant(&before, &after, key, MOST_REFERENCES));
    findings
}

/// A deleted object, and those that the API server deletes with it; `None` if these are too many.
pub(super) fn gone(before: &Snapshot, key: &ObjectKey) -> Option<Vec<ObjectKey>> {
    let with_it = deleted_with(before, &BTreeSet::from([key.clone()]));
    (with_it.len() <= MOST_DELETED).then(|| [key.clone()].into_iter().chain(with_it).collect())
}

/// Policies that stay and name a deleted object, reported on another one.
fn target(before: &Snapshot, after: &Snapshot, gone: &ObjectKey, key: &ObjectKey) -> Vec<Finding> {
    let attachments = attached_to(before, gone, &RejectionFinder::new(true));
    let named = attachments.iter().filter(|attachment| {
        let own = &attachment.policy.key().namespace;
        let mut targets = attachment.policy.targets.iter();
        targets.any(|t| !t.selects() && t.matches(own, gone, None))
            && after.policy(attachment.policy.key()).is_some()
    });
    let mut findings: Vec<Finding> = named
        .map(|attachment| {
            let message = format!(
                "{} loses its target; delete it too, or let it name another object",
                attachment.policy.key()
            );
            orphaned(Code::TargetOrphaned, key, &attachment.policy, message)
        })
        .collect();
    findings.dedup();
    findings
}
