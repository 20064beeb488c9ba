//! Why a policy does nothing, as far as its own fields say it.

use crate::engine::conditions::{Accepted, PolicyStatus, State};
use crate::engine::policy::{Fault, Policy, StrategyFault, TargetRef, entries, spec, stanzas};
use crate::engine::snapshot::Snapshot;

/// What is wrong with its strategy or its target entries, or why it names or reaches nothing; none where
/// there is nothing to say.
pub(in crate::answer) fn reason(
    snapshot: &Snapshot,
    policy: &Policy,
    status: &PolicyStatus,
) -> Option<String> {
    if let Some(why) = of_strategy(policy) {
        return Some(why);
    }
    let spec = spec(&policy.object);
    let mut reasons = Vec::new();
    if let Some(State::NoEffect(why)) = &status.state {
        reasons.push(why.clone());
    }
    if status.accepted == Accepted::Invalid {
        let taken = policy.targets.iter().all(|target| target.is_taken);
        let why = if taken {
            "what it names may not be named from its namespace"
        } else {
            "its kind does not take what it names as a target"
        };
        reasons.push(why.to_owned());
    }
    let entries = entries(&spec, &policy.profile);
    reasons.extend(entries.iter().filter_map(|entry| {
        let fault = entry.target.as_ref().err()?;
        Some(wrong(&entry.path, fault))
    }));
    if reasons.is_empty() && status.targets.is_empty() {
        let idle = selecting_nothing(snapshot, policy);
        reasons.push(idle.unwrap_or_else(|| "it names no target".to_owned()));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Why labels select nothing; none where none of its targets selects.
pub(in crate::answer) fn selecting_nothing(snapshot: &Snapshot, policy: &Policy) -> Option<String> {
    let targets = policy.targets.iter().filter(|target| target.selects());
    let (seen, unseen): (Vec<_>, Vec<_>) = targets.partition(|target| snapshot.knows(&target.gk));
    let names = |targets: Vec<&TargetRef>, between: &str| {
        let names: Vec<String> = targets.iter().map(|target| target.gk.to_string()).collect();
        names.join(between)
    };
    if !unseen.is_empty() {
        let kinds = names(unseen, " or ");
        return Some(format!("nobody looks here whether it selects any {kinds}"));
    }
    (!seen.is_empty())
        .then(|| format!("it selects no {} that it may name", names(seen, " and no ")))
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
