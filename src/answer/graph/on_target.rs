//! The state of a policy on one target, as the graph draws it.

use std::sync::Arc;

use super::id;
use crate::answer::state::PolicyState;
use crate::engine::status::conditions::{Accepted, TargetStatus};

/// The state of a policy on one target.
#[derive(Debug)]
pub(super) struct OnTarget {
    pub(super) state: Option<PolicyState>,
    /// The ids of the policies that override it there, wholly or in part.
    pub(super) by: Vec<Arc<str>>,
}

impl From<&TargetStatus> for OnTarget {
    fn from(status: &TargetStatus) -> Self {
        let conflicting = match &status.accepted {
            Accepted::Conflicted(with) => Some(with),
            _ => None,
        };
        let by = status.overridden_by.keys().chain(conflicting);
        Self {
            state: PolicyState::from_acceptance(&status.accepted, status.state.as_ref()),
            by: by.map(|key| id::node_id(&key.whole(), false)).collect(),
        }
    }
}
