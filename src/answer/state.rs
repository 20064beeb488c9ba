//! What became of a policy, in one word (design 5.1).

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::conditions::{Accepted, State};

/// What became of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum StateName {
    /// All of it is in force.
    Enforced,
    /// Some of it is, or on some paths.
    PartiallyEnforced,
    /// Nothing of it is: others win.
    Overridden,
    /// Another policy has the target for itself.
    Conflicted,
    /// Its strategy or its target cannot be used.
    Invalid,
    /// There is no such target, or it may not be known.
    TargetNotFound,
    /// It is accepted and reaches no effective target.
    NoEffect,
}

/// Whether a policy is attached to a target (GEP-713, reasons of `Accepted`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum AcceptedName {
    /// It is.
    Accepted,
    /// Another policy has the target for itself.
    Conflicted,
    /// Its strategy or its target cannot be used.
    Invalid,
    /// There is no such target, or it may not be known.
    TargetNotFound,
}

// === impl StateName ===

impl StateName {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Enforced,
        Self::PartiallyEnforced,
        Self::Overridden,
        Self::Conflicted,
        Self::Invalid,
        Self::TargetNotFound,
        Self::NoEffect,
    ];

    /// The state of a policy that is accepted so, and does this.
    pub fn new(accepted: &Accepted, state: Option<&State>) -> Self {
        match (accepted, state) {
            (Accepted::Conflicted(_), _) => Self::Conflicted,
            (Accepted::Invalid, _) => Self::Invalid,
            (Accepted::TargetNotFound, _) => Self::TargetNotFound,
            (Accepted::Accepted, Some(State::Enforced)) => Self::Enforced,
            (Accepted::Accepted, Some(State::PartiallyEnforced)) => Self::PartiallyEnforced,
            (Accepted::Accepted, Some(State::Overridden)) => Self::Overridden,
            (Accepted::Accepted, Some(State::NoEffect(_)) | None) => Self::NoEffect,
        }
    }

    /// As people read it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::PartiallyEnforced => "partly overridden",
            Self::Overridden => "overridden",
            Self::Conflicted => "conflicted",
            Self::Invalid => "invalid",
            Self::TargetNotFound => "target not found",
            Self::NoEffect => "no effect",
        }
    }
}

/// Why a policy has no effect, where that is its state.
pub fn reason(state: Option<&State>) -> Option<String> {
    match state {
        Some(State::NoEffect(why)) => Some(why.clone()),
        _ => None,
    }
}

// === impl AcceptedName ===

impl From<&Accepted> for AcceptedName {
    fn from(accepted: &Accepted) -> Self {
        match accepted {
            Accepted::Accepted => Self::Accepted,
            Accepted::Conflicted(_) => Self::Conflicted,
            Accepted::Invalid => Self::Invalid,
            Accepted::TargetNotFound => Self::TargetNotFound,
        }
    }
}
