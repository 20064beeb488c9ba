//! The status of a policy as conditions (GEP-713, metaresource status).

use super::{Accepted, NoEffect, PolicyStatus, State, TargetStatus};
use crate::attachment::reports::CombinedAcceptance;
use crate::model::ids::ObjectKey;

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedCondition {
    /// The type.
    pub kind: &'static str,
    /// Whether it holds.
    pub status: bool,
    /// The reason, one word.
    pub reason: &'static str,
    /// One line that names the policies; the format of a reason has no room for them.
    pub message: String,
}

/// Why a policy, or one of its targets, is not accepted, in words.
pub type WhyNot<'a> = &'a dyn Fn(Option<&TargetStatus>) -> Option<String>;

/// The conditions of a policy: for all requests, or for requests through one Gateway.
pub fn conditions(
    status: &PolicyStatus,
    gateway: Option<&ObjectKey>,
    why: WhyNot<'_>,
) -> Vec<ExpectedCondition> {
    let mut conditions = vec![accepted(status, gateway, why)];
    let not_enforced = match &status.accepted {
        Accepted::Rejected(report) if !report.is_rejection => {
            let why = format!("its controller reports {report}");
            Some(State::NoEffect(NoEffect::lasting(why)))
        }
        _ => None,
    };
    let state = match gateway {
        _ if not_enforced.is_some() => not_enforced,
        // As a whole, it is in force in part if it is not attached to one of its targets.
        None if status.state == Some(State::Enforced) && unattached(status).next().is_some() => {
            Some(State::PartiallyEnforced)
        }
        None => status.state.clone(),
        Some(gateway) => {
            let mut through = status
                .targets
                .iter()
                .filter_map(|t| t.state_by_gateway.get(gateway));
            let first = through.next();
            let same = through.all(|state| Some(state) == first);
            let first = first.cloned();
            if same {
                first
            } else {
                Some(State::PartiallyEnforced)
            }
        }
    };
    // An unknown state has no conditions: they state facts.
    if let Some(state) = state.filter(|state| !matches!(state, State::Unknown(_))) {
        let attached = gateway
            .is_none()
            .then(|| attached_to(status, why))
            .flatten();
        let enforced = enforced(status, &state, attached);
        let mut programmed = programmed(&state, &enforced);
        if programmed.status && status.controllers.opinion == CombinedAcceptance::Outdated {
            programmed.status = false;
            programmed.reason = "Reconciling";
            "Its controller has not seen this generation yet".clone_into(&mut programmed.message);
        }
        if programmed.status
            && let Some(report) = status.controllers.waiting()
        {
            programmed.status = false;
            programmed.reason = "Reconciling";
            programmed.message = format!("Its controller reports {report}");
        }
        conditions.extend([enforced, programmed]);
    }
    conditions
}

fn accepted(
    policy_status: &PolicyStatus,
    gateway: Option<&ObjectKey>,
    why: WhyNot<'_>,
) -> ExpectedCondition {
    let is_asked = |target: &&TargetStatus| {
        gateway.is_none_or(|key| target.state_by_gateway.contains_key(key))
    };
    let attached = policy_status.targets.iter().filter(is_asked);
    let attached = attached.filter(|target| target.accepted == Accepted::Accepted);
    // Controllers reject a policy on a target of which they leave out sections.
    let left_out: Option<Vec<_>> = attached.map(|target| target.left_out.as_ref()).collect();
    let left_out = left_out.as_ref().and_then(|all| all.first());
    let (status, reason, message) = match &policy_status.accepted {
        Accepted::Accepted if let Some(why) = left_out => (false, why.reason, why.message.clone()),
        Accepted::Rejected(report) if report.is_rejection => {
            (false, "Invalid", format!("Its controller reports {report}"))
        }
        Accepted::Accepted | Accepted::Rejected(_) => (true, "Accepted", "Attached".to_owned()),
        Accepted::ExpectedRejection(why) => (false, why.reason, why.message.clone()),
        Accepted::Invalid => {
            let known = why(None).map(capitalized);
            let unknown = || "The strategy, the target or a field cannot be used".to_owned();
            (false, "Invalid", known.unwrap_or_else(unknown))
        }
        Accepted::TargetNotFound => {
            let known = why(None).map(capitalized);
            let unknown = || "There is no such target".to_owned();
            (false, "TargetNotFound", known.unwrap_or_else(unknown))
        }
        Accepted::Conflicted(with) => (
            false,
            "Conflicted",
            format!("{with} is already attached to the target and takes precedence"),
        ),
    };
    ExpectedCondition {
        kind: "Accepted",
        status,
        reason,
        message,
    }
}

/// The targets to which a policy is not attached.
fn unattached(status: &PolicyStatus) -> impl Iterator<Item = &TargetStatus> {
    let targets = status.targets.iter();
    targets.filter(|target| target.accepted != Accepted::Accepted)
}

/// `In force on 1 of 2 targets; Service shop/pay: it does not exist`. `None` if the policy is attached to all targets.
fn attached_to(status: &PolicyStatus, why: WhyNot<'_>) -> Option<String> {
    let others: Vec<String> = unattached(status)
        .map(|target| match why(Some(target)) {
            Some(why) => format!("{}: {why}", target.target),
            None => format!("{}: not attached", target.target),
        })
        .collect();
    let (all, others_count) = (status.targets.len(), others.len());
    let verb = match status.state {
        Some(State::Enforced) => "In force on",
        _ => "Attached to",
    };
    (others_count > 0).then(|| {
        let attached = all.saturating_sub(others_count);
        format!("{verb} {attached} of {all} targets; {}", others.join("; "))
    })
}

/// A reason as a sentence of its own. A name or a path at its beginning stays as it is.
fn capitalized(why: String) -> String {
    let (first, rest) = why.split_once(' ').unwrap_or((&why, ""));
    let is_word = first.chars().all(|c| c.is_ascii_lowercase());
    let mut letters = first.chars();
    match letters.next() {
        Some(letter) if is_word => {
            format!("{}{} {rest}", letter.to_ascii_uppercase(), letters.as_str())
        }
        _ => why,
    }
}

fn enforced(status: &PolicyStatus, state: &State, attached: Option<String>) -> ExpectedCondition {
    let (kind, holds, message) = match state {
        State::Enforced => ("Enforced", true, "All of it is in force".to_owned()),
        State::PartiallyEnforced => ("PartiallyEnforced", true, parts(status, attached)),
        State::Overridden => (
            "Overridden",
            true,
            format!("Overridden by {}", names(&status.by())),
        ),
        State::NoEffect(none) => ("Enforced", false, format!("No effect: {}", none.why)),
        State::Unknown(why) => ("Enforced", false, format!("Not known: {why}")),
    };
    let reason = if holds { kind } else { "NoEffect" };
    ExpectedCondition {
        kind,
        status: holds,
        reason,
        message,
    }
}

/// The same condition under the name that GEP-713 uses since 2026, in addition to the older ones.
fn programmed(state: &State, enforced: &ExpectedCondition) -> ExpectedCondition {
    let (status, reason) = match state {
        State::Enforced => (true, "Programmed"),
        State::PartiallyEnforced => (true, "PartiallyProgrammed"),
        State::Overridden => (false, "Overridden"),
        State::NoEffect(_) | State::Unknown(_) => (false, enforced.reason),
    };
    ExpectedCondition {
        kind: "Programmed",
        status,
        reason,
        message: enforced.message.clone(),
    }
}

/// `retries by shop/own; timeout by shop/own, shop/other`, after the targets that it is not attached to.
fn parts(status: &PolicyStatus, attached: Option<String>) -> String {
    let mut parts: Vec<String> = Vec::new();
    for target in &status.targets {
        for (path, by) in target.overridden_settings.by_setting() {
            let part = format!("{} by {}", path.join("."), names(by));
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    let overridden = (!parts.is_empty()).then(|| parts.join("; "));
    let overridden = overridden.map(|parts| format!("Overridden on some paths: {parts}"));
    let left_out = status.targets.iter().filter_map(TargetStatus::left_out);
    let left_out = left_out.map(|left_out| format!("Left out on some paths: {left_out}"));
    let limits = status.limits().into_iter().map(capitalized);
    let sentences: Vec<String> = attached
        .into_iter()
        .chain(overridden)
        .chain(left_out)
        .chain(limits)
        .collect();
    if sentences.is_empty() {
        "Rejected on some paths".to_owned()
    } else {
        sentences.join("; ")
    }
}

fn names<'a>(policies: impl IntoIterator<Item = &'a ObjectKey>) -> String {
    let names: Vec<String> = policies.into_iter().map(ObjectKey::path).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{ExpectedCondition, NoEffect, State, programmed};

    /// The table of GEP-713, status conditions.
    #[test]
    fn each_state_has_its_reason_under_the_newer_name() {
        for (state, status, reason) in [
            (State::Enforced, true, "Programmed"),
            (State::PartiallyEnforced, true, "PartiallyProgrammed"),
            (State::Overridden, false, "Overridden"),
            (
                State::NoEffect(NoEffect::lasting("no route")),
                false,
                "NoEffect",
            ),
        ] {
            let enforced = ExpectedCondition {
                kind: "Enforced",
                status: true,
                reason: "NoEffect",
                message: "as before".to_owned(),
            };
            let condition = programmed(&state, &enforced);
            let parts = (
                condition.kind,
                condition.status,
                condition.reason,
                &*condition.message,
            );
            assert_eq!(parts, ("Programmed", status, reason, "as before"));
        }
    }
}
