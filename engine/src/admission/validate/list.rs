//! Rules on the list of targets as a whole.

use serde_json::Value;

use crate::admission::finding::{Code, Finding};
use crate::kinds::profile::RefField;
use crate::policy::{MOST_ENTRIES, Policy, TargetEntry, TargetRef, has_unread, hidden, written};

/// The default maximum number of targets of a policy (GEP-2648).
const MAX_TARGETS: usize = 16;

/// Findings on duplicate targets, and on more targets than the kind allows.
///
/// A refusal requires that the CRD or a profile states the limit (`maxItems`, list map keys); otherwise it is a
/// warning.
pub(super) fn findings(policy: &Policy, spec: &Value, entries: &[TargetEntry<'_>]) -> Vec<Finding> {
    let mut findings = duplicates(policy, entries);
    findings.extend(both_forms(policy, entries));
    if has_unread(spec, &policy.profile) {
        let message = format!("only the first {MOST_ENTRIES} targets were checked");
        let finding = Finding::new(Code::Unverified, policy.key(), message);
        findings.push(finding.at("spec").about("targets"));
    }
    let read = |field: &RefField| entries.iter().any(|entry| entry.field.path == field.path);
    for field in policy.profile.refs.iter().filter(|field| read(field)) {
        let count = written(spec, field);
        let most = field.max.unwrap_or(MAX_TARGETS);
        if count > most {
            let message = format!(
                "{count} targets; {} takes {most} at most",
                policy.profile.gk.kind
            );
            findings.push(
                Finding::new(Code::TargetLimit, policy.key(), message)
                    .at(format!("spec.{}", field.path))
                    .about(field.path.clone())
                    .only_if(field.max.is_some()),
            );
        }
    }
    findings
}

/// Findings on target fields that are ignored because another field is set.
pub(super) fn unread(policy: &Policy, spec: &Value) -> Vec<Finding> {
    let hidden = hidden(spec, &policy.profile).into_iter();
    let findings = hidden.map(|(field, by)| {
        let message = format!("it is ignored because spec.{by} is set; remove one of them");
        Finding::new(Code::TargetBothForms, policy.key(), message)
            .at(format!("spec.{field}"))
            .about(field)
    });
    findings.collect()
}

/// The finding on different targets in a singular and a plural field: implementations read one of them. Equal targets
/// are the same target written twice.
fn both_forms(policy: &Policy, entries: &[TargetEntry<'_>]) -> Option<Finding> {
    let single = entries.iter().find(|entry| !entry.field.many)?;
    let mut plural = entries.iter().filter(|entry| entry.field.many).peekable();
    let other = plural.peek()?.field;
    if plural.all(|entry| entry.target == single.target) {
        return None;
    }
    let mut message = format!(
        "spec.{} and spec.{} name different targets; keep one",
        single.field.path, other.path
    );
    if *policy.profile.one_form {
        message = format!("{message}: {} takes one of them", policy.profile.gk.kind);
    }
    Some(
        Finding::new(Code::TargetBothForms, policy.key(), message)
            .at(&single.path)
            .about(single.path.clone()),
    )
}

/// Whether an entry names the same target as another one. Entries that differ in a member of unknown meaning do not,
/// unless the CRD says so.
fn is_same(one: &TargetEntry<'_>, other: &TargetEntry<'_>, target: &TargetRef) -> bool {
    let Ok(named) = &one.target else {
        return false;
    };
    named == target || (other.field.keyed && named.is_same_but_for_unknown(target))
}

fn duplicates(policy: &Policy, entries: &[TargetEntry<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let Ok(target) = &entry.target else {
            continue;
        };
        let earlier = entries.iter().take(i);
        let Some(first) = earlier.into_iter().find(|e| is_same(e, entry, target)) else {
            continue;
        };
        // The same target in both fields is one target written twice.
        if first.field.path != entry.field.path {
            continue;
        }
        let message = format!("same target as {}; remove one", first.path);
        findings.push(
            Finding::new(Code::TargetDuplicate, policy.key(), message)
                .at(&entry.path)
                .about(format!("{target:?}"))
                .only_if(entry.field.unique),
        );
    }
    findings
}
