//! Findings on requests that another rule takes after the change, without a protection that they had.

use std::collections::BTreeSet;

use super::super::state::View;
use crate::answer::impact::{ChangedObjects, LostProtection, lost_by_requests};
use crate::cache::directory::Loaded;
use crate::engine::admission::finding::{Code, Finding};
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::object::is_route;
use crate::engine::routing::Matching;
use crate::engine::state::snapshot::Snapshot;

/// The findings on manifests that are applied to a state.
pub(super) fn of_applied(view: &View, loaded: &Loaded) -> Vec<Finding> {
    let applied: BTreeSet<ObjectKey> = loaded.origins.keys().cloned().collect();
    let stays = view.objects.iter();
    let stays = stays.filter(|object| !applied.contains(&object.key));
    let before = Matching::new(&view.snapshot, &view.objects);
    let after = Matching::new(&loaded.snapshot, stays.chain(&loaded.objects));
    let changed = ChangedObjects {
        applied,
        ..ChangedObjects::default()
    };
    findings([&before, &after], &changed)
}

/// The findings on objects that are deleted from a state.
pub(super) fn of_deleted(
    view: &View,
    after: &Snapshot,
    objects: &BTreeSet<ObjectKey>,
) -> Vec<Finding> {
    let before = Matching::new(&view.snapshot, &view.objects);
    let after = Matching::new(after, &view.objects);
    let changed = ChangedObjects {
        deleted: objects.clone(),
        ..ChangedObjects::default()
    };
    findings([&before, &after], &changed)
}

fn findings(states: [&Matching<'_>; 2], changed: &ChangedObjects) -> Vec<Finding> {
    let lost = lost_by_requests(states, changed);
    lost.iter().map(|lost| finding(lost, changed)).collect()
}

/// The finding is about the route that takes the requests, or about the object by which it gets them.
fn finding(lost: &LostProtection, changed: &ChangedObjects) -> Finding {
    let taker = &lost.object.0;
    let mut all = changed.applied.iter().chain(&changed.deleted);
    let by_change = all.find(|key| is_route(&key.gk) || key.gk.has_listeners());
    let is_changed = changed.applied.contains(&taker.object);
    let object = by_change.filter(|_| !is_changed).unwrap_or(&taker.object);
    let from: Vec<String> = lost.from.iter().map(|named| named.0.to_string()).collect();
    let message = format!(
        "requests that {taker} takes lose the {} of {}: {}",
        lost.protection,
        from.join(", "),
        lost.reasons.join("; ")
    );
    let kind = &lost.policy_kind.0;
    let mut finding = Finding::new(Code::ProtectionLost, object, message)
        .about(format!("{kind} {}", lost.protection));
    let policies = lost.from.iter().map(|named| named.0.object.clone());
    finding.mentions = policies.collect();
    finding
}
