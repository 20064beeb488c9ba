//! The state of a policy on one target, as the graph draws it.

use std::sync::Arc;

use super::id;
use crate::answer::policies::reason::of_target;
use crate::answer::state::PolicyState;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Accepted, TargetStatus};

/// The state of a policy on one target.
#[derive(Debug)]
pub(super) struct OnTarget {
    pub(super) state: Option<PolicyState>,
    /// The ids of the policies that override it there, wholly or in part.
    pub(super) by: Vec<Arc<str>>,
    /// Why it has no effect there, or why that is not known.
    pub(super) why: Option<String>,
}

// === impl OnTarget ===

impl OnTarget {
    pub(super) fn new(snapshot: &Snapshot, policy: &Policy, status: &TargetStatus) -> Self {
        let conflicting = match &status.accepted {
            Accepted::Conflicted(with) => Some(with),
            _ => None,
        };
        let by = status.overridden_by.keys().chain(conflicting);
        let state = PolicyState::from_acceptance(&status.accepted, status.state.as_ref());
        let is_idle = matches!(state, Some(PolicyState::NoEffect | PolicyState::Unknown));
        let why = || of_target(snapshot, policy, status);
        Self {
            state,
            why: is_idle.then(why).flatten(),
            by: by.map(|key| id::node_id(&key.whole(), false)).collect(),
        }
    }
}
