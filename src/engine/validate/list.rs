//! Rules on the list of targets as a whole.

use crate::engine::finding::{Code, Finding};
use crate::engine::policy::{Entry, Policy};

/// The most targets of a policy where nothing says otherwise (GEP-2648).
const MOST: usize = 16;

/// Targets that stand twice, and more targets than the kind takes.
///
/// A refusal needs the CRD or a profile to say so (`maxItems`, list map keys); else it is a warning
/// (ruling 10).
pub(super) fn findings(policy: &Policy, entries: &[Entry<'_>]) -> Vec<Finding> {
    let mut findings = duplicates(policy, entries);
    for field in &policy.profile.refs.value {
        let count = entries
            .iter()
            .filter(|e| e.field.path == field.path)
            .count();
        let most = field.max.unwrap_or(MOST);
        if count > most {
            let message = format!(
                "{count} targets; a {} takes {most} at most",
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

fn duplicates(policy: &Policy, entries: &[Entry<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let Ok(target) = &entry.target else {
            continue;
        };
        let earlier = entries.iter().take(i);
        let Some(first) = earlier
            .into_iter()
            .find(|e| e.target.as_ref() == Ok(target))
        else {
            continue;
        };
        // The same target in both fields is one target written twice (ruling 29).
        if first.field.path != entry.field.path {
            continue;
        }
        let message = format!("the same target stands at {}; remove one", first.path);
        findings.push(
            Finding::new(Code::TargetDuplicate, policy.key(), message)
                .at(&entry.path)
                .about(format!("{target:?}"))
                .only_if(entry.field.unique),
        );
    }
    findings
}
