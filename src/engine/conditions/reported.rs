//! Where a status and what attache expects differ (design 9, ruling 36).

use super::{Accepted, PolicyStatus, State};
use crate::engine::reports::{Opinion, Said};

/// How a controller and attache disagree about a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disagreement {
    /// attache expects it to be accepted; its controller rejects it, somewhere or everywhere.
    Rejected,
    /// attache expects it to be rejected; its controller accepts it.
    Accepted,
    /// attache expects it to be in force; its controller says that it is not.
    NotEnforced,
}

// === impl Disagreement ===

impl Disagreement {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Rejected, Self::Accepted, Self::NotEnforced];

    /// The name in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Accepted => "accepted",
            Self::NotEnforced => "not-enforced",
        }
    }
}

/// How controllers and attache disagree about a policy that attache takes to be in this state.
pub fn disagreement(
    accepted: &Accepted,
    state: Option<&State>,
    said: &Said,
) -> Option<Disagreement> {
    let is_in_force = matches!(state, Some(State::Enforced | State::PartiallyEnforced));
    match (accepted, said.opinion) {
        (Accepted::Rejected(_), _) | (Accepted::Accepted, Opinion::Divided) => {
            Some(Disagreement::Rejected)
        }
        (Accepted::Accepted, _) if is_in_force && said.not_enforced.is_some() => {
            Some(Disagreement::NotEnforced)
        }
        (
            Accepted::Conflicted(_)
            | Accepted::Clashing(_)
            | Accepted::Invalid
            | Accepted::TargetNotFound,
            Opinion::Accepted,
        ) => Some(Disagreement::Accepted),
        _ => None,
    }
}

// === impl PolicyStatus ===

impl PolicyStatus {
    /// How its controllers and attache disagree about it.
    pub fn disagreement(&self) -> Option<Disagreement> {
        let mut targets = self.targets.iter();
        if targets.any(|target| matches!(target.accepted, Accepted::Rejected(_))) {
            return Some(Disagreement::Rejected);
        }
        disagreement(&self.accepted, self.state.as_ref(), &self.said)
    }
}
