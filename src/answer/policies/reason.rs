//! Why a policy does nothing, as far as its own fields say it.

use crate::engine::conditions::{Accepted, PolicyStatus, State};
use crate::engine::policy::{Fault, Policy, StrategyFault, entries, spec, stanzas};

/// What is wrong with its strategy or its target entries, or why it names or reaches nothing; none where
/// there is nothing to say.
pub(in crate::answer) fn reason(policy: &Policy, status: &PolicyStatus) -> Option<String> {
    if let Some(why) = of_strategy(policy) {
        return Some(why);
    }
    let spec = spec(&policy.object);
    let mut reasons = Vec::new();
    if let Some(State::NoEffect(why)) = &status.state {
        reasons.push(why.clone());
    }
    if status.accepted == Accepted::Invalid {
        reasons.push("what it names may not be named from its namespace".to_owned());
    }
    let entries = entries(&spec, &policy.profile);
    reasons.extend(entries.iter().filter_map(|entry| {
        let fault = entry.target.as_ref().err()?;
        Some(wrong(&entry.path, fault))
    }));
    if reasons.is_empty() && status.targets.is_empty() {
        let targets = entries
            .iter()
            .filter_map(|entry| entry.target.as_ref().ok());
        let selecting = targets.filter(|target| target.selects());
        let selects: Vec<String> = selecting.map(|target| target.gk.to_string()).collect();
        reasons.push(if selects.is_empty() {
            "it names no target".to_owned()
        } else {
            format!("it selects no {}", selects.join(" and no "))
        });
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// What is wrong with its strategy.
pub(in crate::answer) fn of_strategy(policy: &Policy) -> Option<String> {
    let fault = stanzas(&spec(&policy.object), &policy.profile).err()?;
    Some(match fault {
        StrategyFault::Unknown { path, name, .. } => {
            format!("{path} {name:?} is no strategy of the kind")
        }
        StrategyFault::Multiple { first, second } => {
            format!("{first} and {second} are two strategies")
        }
    })
}

fn wrong(path: &str, fault: &Fault) -> String {
    match fault {
        Fault::NotAnObject(kind) => format!("{path} is {kind}, no object"),
        Fault::Missing(part) => format!("{path} has no {part}"),
        Fault::Versioned(group) => format!("{path}.group {group:?} carries a version"),
    }
}
