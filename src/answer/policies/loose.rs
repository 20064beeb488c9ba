//! Why a policy names no target.

use crate::engine::policy::{Fault, Policy, Select, entries, spec};

/// What is wrong with the target entries of a policy; or why it names nothing, where it does not. None
/// where the strategy is what is wrong.
pub(super) fn why(policy: &Policy, named: bool) -> Option<String> {
    policy.strategies.as_ref()?;
    let spec = spec(&policy.object);
    let entries = entries(&spec, &policy.profile);
    let faults = entries.iter().filter_map(|entry| {
        let fault = entry.target.as_ref().err()?;
        Some(match fault {
            Fault::NotAnObject(kind) => format!("{} is {kind}, no object", entry.path),
            Fault::Missing(part) => format!("{} has no {part}", entry.path),
            Fault::Versioned(group) => {
                format!("{}.group {group:?} carries a version", entry.path)
            }
        })
    });
    let faults: Vec<String> = faults.collect();
    if !faults.is_empty() {
        return Some(faults.join("; "));
    }
    if named {
        return None;
    }
    if entries.is_empty() {
        return Some("it names no target".to_owned());
    }
    let targets = entries
        .iter()
        .filter_map(|entry| entry.target.as_ref().ok());
    let selects: Vec<String> = targets
        .filter(|target| !matches!(target.select, Select::Name(_)))
        .map(|target| target.gk.to_string())
        .collect();
    (!selects.is_empty()).then(|| format!("it selects no {}", selects.join(" and no ")))
}
