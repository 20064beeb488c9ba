//! `attache policies`: every policy with its targets, its state, and the number of objects it applies to.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Answer;
use super::controller_status::FromStatus;
use super::named::{KindName, Named, named};
use super::state::{AttachmentState, PolicyState};
use super::strategy::{as_written, strategy};
use crate::engine::effective::Resolver;
use crate::engine::effective::applying::applying_at;
use crate::engine::kinds::profile::Class;
use crate::engine::model::ids::{GroupKind, ObjectKey, Place};
use crate::engine::model::selector::Selector;
use crate::engine::policy::Policy;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Accepted, PolicyStatus, TargetStatus, statuses};

pub(super) mod reason;
mod totals;

pub use totals::{Count, Summary, Total};

/// A list of policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Policies {
    /// One entry per policy.
    pub policies: Vec<Listed>,
    /// The number of policies.
    pub summary: Summary,
}

/// One policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The policy.
    pub policy: Named,
    /// The class of its kind: whether policies also apply below their targets.
    pub class: Class,
    /// Its strategy; null if it cannot be used.
    pub strategy: Option<String>,
    /// The strategy in terms of the policy's own fields: `replaces (mergeType unset)`.
    pub written_strategy: Option<String>,
    /// Its state over all targets.
    pub state: PolicyState,
    /// Why it is not attached or has no effect, problems with its strategy or target references, sections of its targets
    /// on which its controllers leave it out, and where its controllers disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that override it somewhere, or with which it conflicts.
    pub by: Vec<Named>,
    /// The number of effective targets on which some of it is in force; sections of one object are not counted
    /// separately.
    pub acts_on: usize,
    /// When it was created (RFC 3339); null if a file does not contain it.
    pub created: Option<String>,
    /// Settings that protect less than they seem to, and behavior of its controllers that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// The state and the conditions that its status reports.
    #[serde(flatten)]
    pub status: FromStatus,
    /// Its targets, in the order of the spec; for a selector, the objects that it selects.
    pub targets: Vec<Target>,
}

/// One target of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// The target.
    pub target: Named,
    /// Whether the policy is attached to it.
    pub accepted: AttachmentState,
    /// The state of the policy there; null if it is not attached.
    pub state: Option<PolicyState>,
    /// Why it is not attached or has no effect there, and the sections on which its controllers leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Objects below the target, and sections of it, where other policies override all of this one.
    pub overridden_on: Vec<Named>,
    /// Policies that are in force together with this one on some path, or with which it merges.
    pub merged_with: Vec<Named>,
}

impl Answer for Policies {
    const KIND: &'static str = "Policies";
}

/// A query: which policies, and in which order.
#[derive(Clone, Debug)]
pub struct PolicyQuery<'a> {
    /// Policies of this kind. `None`: of all kinds.
    pub kind: Option<GroupKind>,
    /// Policies in this namespace. `None`: in all namespaces, and cluster-scoped policies.
    pub namespace: Option<Arc<str>>,
    /// Policies with these labels.
    pub selector: Selector,
    /// Policies that apply to this object or section.
    pub acting_on: Option<Place>,
    /// Policies in these states. Empty: in all states.
    pub states: BTreeSet<PolicyState>,
    /// The order.
    pub sort: Sort,
    /// Policies whose creation time is made up and only encodes their order in the files.
    pub undated: &'a BTreeSet<ObjectKey>,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// By kind, namespace and name.
    #[default]
    Name,
    /// Oldest first: the order of precedence.
    Age,
    /// By the number of objects a policy applies to, largest first.
    ActsOn,
}

/// The policies that a query selects.
pub fn policies(snapshot: &Snapshot, asked: &PolicyQuery<'_>) -> Policies {
    let mut resolver = Resolver::new(snapshot);
    let mut asked_policies: Vec<&Arc<Policy>> = match &asked.acting_on {
        Some(place) => {
            let acting = applying_at(&mut resolver, place).into_iter();
            let keys = acting.map(|acting| acting.policy.key().clone());
            keys.filter_map(|key| snapshot.policy(&key)).collect()
        }
        None => snapshot
            .policy_kinds()
            .flat_map(|kind| snapshot.policies(kind))
            .collect(),
    };
    asked_policies.retain(|policy| asked.takes(policy));
    asked_policies.sort_by(|a, b| match asked.sort {
        Sort::Age => a.precedence().cmp(b.precedence()),
        Sort::Name | Sort::ActsOn => a.key().cmp(b.key()),
    });
    let mut policies = statuses(&mut resolver, &asked_policies, |policy, status| {
        listed(snapshot, policy, &status, asked.undated)
    });
    policies.retain(|listed| asked.states.is_empty() || asked.states.contains(&listed.state));
    if asked.sort == Sort::ActsOn {
        policies.sort_by_key(|listed| std::cmp::Reverse(listed.acts_on));
    }
    Policies::new(policies)
}

// === impl Policies ===

impl Policies {
    /// Counts policies and wraps them with the counts.
    pub fn new(policies: Vec<Listed>) -> Self {
        Self {
            summary: Summary::from_policies(&policies),
            policies,
        }
    }
}

// === impl PolicyQuery ===

impl PolicyQuery<'_> {
    fn takes(&self, policy: &Policy) -> bool {
        let key = policy.key();
        let is_in =
            |wanted: &Option<Arc<str>>| wanted.as_ref().is_none_or(|ns| *ns == key.namespace);
        self.kind.as_ref().is_none_or(|kind| *kind == key.gk)
            && is_in(&self.namespace)
            && self.selector.selects(&policy.object.meta.labels)
    }
}

fn listed(
    snapshot: &Snapshot,
    policy: &Policy,
    status: &PolicyStatus,
    undated: &BTreeSet<ObjectKey>,
) -> Listed {
    let created = policy.object.meta.created;
    let created = created.filter(|_| !undated.contains(policy.key()));
    Listed {
        policy: Named::from(policy.key()),
        class: policy.profile.class.value,
        strategy: strategy(policy),
        written_strategy: as_written(policy),
        state: PolicyState::over_targets(snapshot, policy, status),
        reason: reason::reason(snapshot, policy, status),
        by: named(&status.by()),
        acts_on: status.objects().len(),
        created: created.map(|created| created.to_string()),
        caveats: policy.caveats(snapshot).map(str::to_owned).collect(),
        status: FromStatus::with(&status.controllers, status.disagreement()),
        targets: status
            .targets
            .iter()
            .map(|on| target(snapshot, policy, on))
            .collect(),
    }
}

fn target(snapshot: &Snapshot, policy: &Policy, status: &TargetStatus) -> Target {
    let state = status.state.as_ref();
    Target {
        target: Named::from(&status.target),
        accepted: AttachmentState::from(&status.accepted),
        state: state
            .filter(|_| status.accepted == Accepted::Accepted)
            .map(PolicyState::from),
        reason: reason::of_target(snapshot, policy, status),
        overridden_on: status.overridden_on().iter().map(Named::from).collect(),
        merged_with: named(&status.merged_with),
    }
}
