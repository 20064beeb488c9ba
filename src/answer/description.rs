//! `attache describe`: the policies that apply to an object and the effective policies on its paths; for a policy, its
//! outcome on each target.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Answer;
use super::controller_status::FromStatus;
use super::effective::EffectiveOnPaths;
use super::impact::Change;
use super::kinds::Kind;
use super::named::Named;
use super::policies::Listed;
use super::problems::Problem;
use super::state::{AttachmentState, PolicyState};
use crate::engine::kinds::profile::Class;

mod conditions;
mod kind;
mod overview;
mod paths;
mod policies_at_or_above;
mod policies_below;
mod policy;
mod rejected_above;
mod routes;
mod target;
mod unreadable_policies;

pub use conditions::{Ancestor, Condition};
pub use kind::kind;
pub use overview::{BrokenRoute, ListenerAbout, Overview};
pub use paths::{for_requests, paths_at};
pub use policy::policy;
pub(super) use routes::leading;
pub(super) use target::on_its_own;
pub use target::target;
pub use unreadable_policies::unreadable_policies;

/// The description of an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Description {
    /// A target, with the policies that apply to it.
    Target(TargetDescription),
    /// A policy, with its targets and its effect.
    Policy(PolicyDescription),
    /// A workload, with the policies that apply to the Services that select it.
    Workload(WorkloadDescription),
    /// A policy kind, with its facts and its policies.
    Kind(Box<KindDescription>),
}

/// Descriptions of several objects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Descriptions {
    /// One description per object, sorted by name.
    pub items: Vec<Description>,
}

/// The policies that apply to an object or a section of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetDescription {
    /// The object or section.
    pub object: Named,
    /// Whether objects of its kind are not looked up. Policies may still target it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_looked_up: bool,
    /// The listeners of an object above routes, and the routes below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview: Option<Overview>,
    /// Its hostnames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hostnames: Vec<String>,
    /// The listeners, or Services of a mesh, through which it gets requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attached_to: Vec<Named>,
    /// Parents that a route names and that do not accept it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_attached_to: Vec<Named>,
    /// Why requests do not arrive: parents that do not accept a route, backends that it does not reach, listeners that
    /// are not accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The policies that target it or an ancestor.
    pub policies: Vec<PolicyOnObject>,
    /// Policies of the state that could not be read. They may apply to it, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Named>,
    /// The effective policies, by kind and path.
    pub effective: Vec<EffectiveOnPaths>,
    /// For kinds with effective policies on some paths, the other paths: no policy of the kind applies there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<EffectiveOnPaths>,
    /// The policies on the backends of a route.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backends: Vec<PoliciesOnBackend>,
    /// The effective policies on routes to it, for kinds whose policies do not apply to the object itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_routes: Vec<EffectiveOnPaths>,
    /// The routes that send requests to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<Named>,
}

/// The policies on a backend.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoliciesOnBackend {
    /// The backend.
    pub object: Named,
    /// The policies that target it or a port of it.
    pub policies: Vec<PolicyOnObject>,
}

/// A policy that targets an object or an ancestor of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyOnObject {
    /// The policy.
    pub policy: Named,
    /// Whether it targets the object itself.
    pub relation: Relation,
    /// Its class.
    pub class: Class,
    /// Its target.
    pub target: Named,
    /// Its strategy; null if it cannot be used.
    pub strategy: Option<String>,
    /// The strategy in terms of the policy's own fields: `replaces (mergeType unset)`.
    pub written_strategy: Option<String>,
    /// Its state on the paths through this object.
    pub state: PolicyState,
    /// Why it is not attached, has no effect or is left out on a part of its target, and where its controllers disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that override it here, or with which it conflicts.
    pub by: Vec<Named>,
    /// Settings that protect less than they seem to, and behavior of its controllers that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// The state and the conditions that its status reports.
    #[serde(flatten)]
    pub status: FromStatus,
}

/// The position of a policy's target relative to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The policy targets the object or a section of it.
    Attached,
    /// The policy targets an ancestor.
    Inherited,
}

/// A policy and its effect.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDescription {
    /// The policy.
    pub object: Named,
    /// Its class.
    pub class: Class,
    /// Its strategy; null if it cannot be used.
    pub strategy: Option<String>,
    /// The strategy in terms of the policy's own fields: `replaces (mergeType unset)`.
    pub written_strategy: Option<String>,
    /// Its state over all targets.
    pub state: PolicyState,
    /// Why it is not attached, has no effect or is left out on a part of its targets, and where its controllers disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that override it somewhere, or with which it conflicts.
    pub by: Vec<Named>,
    /// Settings that protect less than they seem to, and behavior of its controllers that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// The state and the conditions that its status reports.
    #[serde(flatten)]
    pub status: FromStatus,
    /// The conditions that its status should have (GEP-713), combined for all ancestors.
    pub conditions: Vec<Condition>,
    /// The conditions for each ancestor, up to the maximum number of entries in the status.
    pub ancestors: Vec<Ancestor>,
    /// Its settings, under the name of their stanza if it has stanzas.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The effect on each target.
    pub targets: Vec<PolicyOnTarget>,
    /// The changes that the policy makes; `before` is the result without it.
    pub changes: Vec<Change>,
}

/// The effect of a policy on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyOnTarget {
    /// The target.
    pub target: Named,
    /// Whether it is attached.
    pub accepted: AttachmentState,
    /// Its state there.
    pub state: PolicyState,
    /// Why it is not attached, has no effect there or is left out on a part of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that override it there, wholly or in part, or with which it conflicts.
    pub by: Vec<Named>,
    /// Settings that other policies override on some path, with those policies.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, Vec<Named>>,
    /// Objects below the target, and sections of it, where other policies override all of this one.
    pub overridden_on: Vec<Named>,
    /// Policies that are in force together with this one on some path, or with which it merges.
    pub merged_with: Vec<Named>,
    /// The effective targets on which some of it is in force.
    pub acts_on: Vec<Named>,
}

/// The facts about a policy kind, and its policies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindDescription {
    /// The kind.
    pub policy_kind: Kind,
    /// Its policies in all namespaces.
    pub policies: Vec<Listed>,
}

/// The policies that apply to the Services that select a workload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDescription {
    /// The workload.
    pub object: Named,
    /// The descriptions of the Services that select it.
    pub services: Vec<TargetDescription>,
    /// The descriptions of the routes, or of their rules, that send requests to these Services.
    pub routes: Vec<TargetDescription>,
    /// Policies whose selectors select its Pods. attache does not follow what they set.
    pub selected_by: Vec<Named>,
}

// === impl Description ===

impl Description {
    /// The same, with the policies that could not be read.
    #[must_use]
    pub fn with_unread(mut self, policies: &[Named]) -> Self {
        let targets: Vec<&mut TargetDescription> = match &mut self {
            Self::Target(about) => vec![about],
            Self::Workload(about) => about.services.iter_mut().collect(),
            Self::Policy(_) | Self::Kind(_) => Vec::new(),
        };
        for target in targets {
            target.unread = policies.to_vec();
        }
        self
    }

    /// The object that is described. `None` for a policy kind.
    pub fn object(&self) -> Option<&Named> {
        match self {
            Self::Target(about) => Some(&about.object),
            Self::Policy(about) => Some(&about.object),
            Self::Workload(about) => Some(&about.object),
            Self::Kind(_) => None,
        }
    }
}

// === impl Description ===

impl Answer for Description {
    const KIND: &'static str = "Description";
}

impl Answer for Descriptions {
    const KIND: &'static str = "Descriptions";
}
