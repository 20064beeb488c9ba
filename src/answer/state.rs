//! The state of a policy in one word, for programs and filters.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Accepted, PolicyStatus, State, selects_unwatched};

/// The state of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum PolicyState {
    /// All of it is in force on all paths.
    Enforced,
    /// Some of it is in force, or all of it on some paths.
    PartiallyEnforced,
    /// Nothing of it is in force: other policies override it.
    Overridden,
    /// Another policy of the kind is already attached to its target and takes precedence.
    Conflicted,
    /// Its controllers reject it or report that it is not in force, or attache expects them to reject it.
    Rejected,
    /// Its strategy cannot be used, it may not name its target, or the API server refuses it: the CRD does not allow a value, or has no
    /// such version.
    Invalid,
    /// The target does not exist.
    TargetNotFound,
    /// It is attached and has no effective target.
    NoEffect,
    /// Whether it has an effect is not known: that depends on objects that attache does not watch, such as Pods, on a
    /// controller of which it knows too little, or on an order of policies that nothing defines.
    Unknown,
}

/// Whether a policy is attached to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "Acceptance")]
pub enum AttachmentState {
    /// It is attached.
    Accepted,
    /// Another policy of the kind is already attached to the target and takes precedence.
    Conflicted,
    /// Its controllers reject it or report that it is not in force, or attache expects them to reject it.
    Rejected,
    /// The strategy cannot be used, or the policy may not name the target.
    Invalid,
    /// The target does not exist.
    TargetNotFound,
}

// === impl PolicyState ===

impl PolicyState {
    /// All states, in the order of lists.
    pub const ALL: [Self; 9] = [
        Self::Enforced,
        Self::PartiallyEnforced,
        Self::Overridden,
        Self::Conflicted,
        Self::Rejected,
        Self::Invalid,
        Self::TargetNotFound,
        Self::NoEffect,
        Self::Unknown,
    ];

    /// Whether a policy in this state is in force nowhere, and no other policy overrides it.
    pub fn is_broken(self) -> bool {
        match self {
            Self::Enforced | Self::PartiallyEnforced | Self::Overridden | Self::Unknown => false,
            Self::Conflicted
            | Self::Rejected
            | Self::Invalid
            | Self::TargetNotFound
            | Self::NoEffect => true,
        }
    }

    /// The state as JSON and tables spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "Enforced",
            Self::PartiallyEnforced => "PartiallyEnforced",
            Self::Overridden => "Overridden",
            Self::Conflicted => "Conflicted",
            Self::Rejected => "Rejected",
            Self::Invalid => "Invalid",
            Self::TargetNotFound => "TargetNotFound",
            Self::NoEffect => "NoEffect",
            Self::Unknown => "Unknown",
        }
    }

    /// The state of a policy: from `state` if it is attached, from `accepted` if it is not. `None` if it is attached
    /// and its state is not known.
    pub fn from_acceptance(accepted: &Accepted, state: Option<&State>) -> Option<Self> {
        match accepted {
            Accepted::Accepted => state.map(Self::from),
            Accepted::Conflicted(_) => Some(Self::Conflicted),
            Accepted::Rejected(_) | Accepted::ExpectedRejection(_) => Some(Self::Rejected),
            Accepted::Invalid => Some(Self::Invalid),
            Accepted::TargetNotFound => Some(Self::TargetNotFound),
        }
    }

    /// The state of a policy over all its targets. A policy that is in force on some targets and not attached to others
    /// is in force in part.
    pub fn over_targets(snapshot: &Snapshot, policy: &Policy, status: &PolicyStatus) -> Self {
        let mut targets = status.targets.iter();
        let is_whole = targets.all(|target| target.accepted == Accepted::Accepted);
        match Self::from_acceptance(&status.accepted, status.state.as_ref()) {
            Some(Self::Enforced) if !is_whole => Self::PartiallyEnforced,
            Some(known) => known,
            None if status.targets.is_empty() && selects_unwatched(snapshot, policy) => {
                Self::Unknown
            }
            None => Self::NoEffect,
        }
    }
}

impl From<&State> for PolicyState {
    fn from(state: &State) -> Self {
        match state {
            State::Enforced => Self::Enforced,
            State::PartiallyEnforced => Self::PartiallyEnforced,
            State::Overridden => Self::Overridden,
            State::NoEffect(_) => Self::NoEffect,
            State::Unknown(_) => Self::Unknown,
        }
    }
}

impl From<&Accepted> for AttachmentState {
    fn from(accepted: &Accepted) -> Self {
        match accepted {
            Accepted::Accepted => Self::Accepted,
            Accepted::Conflicted(_) => Self::Conflicted,
            Accepted::Rejected(_) | Accepted::ExpectedRejection(_) => Self::Rejected,
            Accepted::Invalid => Self::Invalid,
            Accepted::TargetNotFound => Self::TargetNotFound,
        }
    }
}

/// Why a policy has no effect, or why it is not known whether it has one. `None` in all other states.
pub fn why_idle_or_unknown(state: Option<&State>) -> Option<&str> {
    match state {
        Some(State::NoEffect(none)) => Some(&none.why),
        Some(State::Unknown(why)) => Some(why),
        _ => None,
    }
}
