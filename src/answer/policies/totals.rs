//! Counts of policies by state, namespace and kind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{KindName, Listed};
use crate::answer::state::PolicyState;

/// The number of policies, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Count {
    /// All policies.
    #[serde(rename = "total")]
    pub total: usize,
    /// Policies that are wholly in force.
    enforced: usize,
    /// Policies of which a part is in force, or which are in force on some paths.
    partially_enforced: usize,
    /// Policies that others override wholly.
    overridden: usize,
    /// Policies whose target has another policy of their kind, which takes precedence.
    conflicted: usize,
    /// Policies that their controllers reject, or that attache expects them to reject.
    rejected: usize,
    /// Policies whose strategy cannot be used, or which may not name their target.
    invalid: usize,
    /// Policies whose target does not exist.
    target_not_found: usize,
    /// Policies that are attached and have no effective target.
    no_effect: usize,
    /// Policies that select objects which attache does not watch.
    unknown: usize,
}

/// The number of policies of one kind in one namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    /// The namespace; empty for cluster-scoped policies.
    pub namespace: String,
    /// The kind.
    pub policy_kind: KindName,
    /// The number of policies.
    #[serde(flatten)]
    pub count: Count,
}

/// The number of listed policies, in total and by namespace and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All listed policies.
    #[serde(flatten)]
    pub count: Count,
    /// The policies of each namespace, by kind.
    pub by_namespace: Vec<Total>,
}

// === impl Count ===

impl Count {
    /// The number of policies in a state.
    pub fn count_of(mut self, state: PolicyState) -> usize {
        *self.of(state)
    }

    fn add(&mut self, state: PolicyState) {
        self.total += 1;
        *self.of(state) += 1;
    }

    fn of(&mut self, state: PolicyState) -> &mut usize {
        match state {
            PolicyState::Enforced => &mut self.enforced,
            PolicyState::PartiallyEnforced => &mut self.partially_enforced,
            PolicyState::Overridden => &mut self.overridden,
            PolicyState::Conflicted => &mut self.conflicted,
            PolicyState::Rejected => &mut self.rejected,
            PolicyState::Invalid => &mut self.invalid,
            PolicyState::TargetNotFound => &mut self.target_not_found,
            PolicyState::NoEffect => &mut self.no_effect,
            PolicyState::Unknown => &mut self.unknown,
        }
    }
}

// === impl Summary ===

impl Summary {
    /// Counts these policies.
    pub(super) fn from_policies(policies: &[Listed]) -> Self {
        let mut all = Count::default();
        let mut parts: BTreeMap<(String, KindName), Count> = BTreeMap::new();
        for listed in policies {
            let key = &listed.policy.0.object;
            let part = (key.namespace.to_string(), KindName::from(&key.gk));
            parts.entry(part).or_default().add(listed.state);
            all.add(listed.state);
        }
        let totals = parts
            .into_iter()
            .map(|((namespace, policy_kind), count)| Total {
                namespace,
                policy_kind,
                count,
            });
        Self {
            count: all,
            by_namespace: totals.collect(),
        }
    }
}
