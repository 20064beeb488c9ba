//! Rules on the objects that a target selects by labels.

use std::sync::Arc;

use super::reach::out_of_reach;
use super::{section, suggestion};
use crate::admission::finding::{Code, Finding};
use crate::attachment::{permission, selected};
use crate::model::object::{From, Object};
use crate::policy::{Policy, Select, TargetEntry, TargetRef};
use crate::state::snapshot::Snapshot;

/// The maximum number of objects that are examined one by one.
const MAX_EXAMINED_OBJECTS: usize = 64;
/// Longer labels are not repeated in the message.
const MAX_LABEL_LENGTH: usize = 100;

/// The finding on a target that selects nothing, nothing that the policy may reach, or nothing with that section; it
/// names the first such object. Matching objects may be created later, so this is a warning. Only for kinds that are
/// known and listed, as for names, and if at most `limit` comparisons are needed.
pub(super) fn finding(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
    limit: usize,
) -> Option<Finding> {
    let asked = snapshot.count(&target.gk) * policy.targets.len();
    if !target.selects() || asked > limit || !snapshot.knows(&target.gk) {
        return None;
    }
    let own = &policy.key().namespace;
    let mut objects: Vec<&Arc<Object>> = selected(snapshot, own, target).collect();
    if objects.is_empty() {
        return Some(nothing(snapshot, policy, entry, target, limit));
    }
    if objects.len() > MAX_EXAMINED_OBJECTS {
        return None;
    }
    objects.sort_by(|a, b| a.key.cmp(&b.key));
    // Objects that no grant covers, or that have no such section, are ignored if others remain.
    let (attached, others): (Vec<_>, Vec<_>) = objects
        .into_iter()
        .partition(|object| permission(snapshot, policy, target, &object.key).is_attached());
    let faulty = if attached.is_empty() {
        let mut others = others.iter();
        others.find_map(|object| out_of_reach(snapshot, policy, entry, target, &object.key))
    } else {
        let each = attached.iter();
        let unknown: Option<Vec<_>> = each
            .map(|object| section::unknown(snapshot, policy, entry, target, object))
            .collect();
        unknown?.into_iter().next()
    };
    faulty.map(|mut finding| {
        finding.depends_on_absence_of = None;
        finding.only_if(false)
    })
}

fn nothing(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
    limit: usize,
) -> Finding {
    let own = &policy.key().namespace;
    let namespace = target.namespace(own);
    let within = match &target.from {
        _ if !target.spans(own) => &*namespace,
        From::Selector(_) => "the selected namespaces",
        _ => "any namespace",
    };
    let labels: Vec<String> = target
        .equal_labels()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let labels = match labels.join(",") {
        labels if labels.is_empty() || labels.len() > MAX_LABEL_LENGTH => "these labels".to_owned(),
        labels => labels,
    };
    let hint = suggestion::label(snapshot, &namespace, target, limit);
    let message = if matches!(target.select, Select::Labels(None)) {
        "it has no labels, or none that can be read, so it selects nothing".to_owned()
    } else {
        format!("no {} of {within} has {labels}{hint}", target.gk)
    };
    Finding::new(Code::TargetSelectsNothing, policy.key(), message)
        .at(&entry.path)
        .about(format!("{} {namespace}", target.gk))
}
