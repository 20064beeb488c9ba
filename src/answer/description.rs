//! `attache describe`: the policies that act on an object and the effective policies on its paths; for a policy, its
//! outcome on each target.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Answer;
use super::effective::OnPaths;
use super::impact::Change;
use super::kinds::Kind;
use super::named::Named;
use super::policies::Listed;
use super::problems::Problem;
use super::reported::FromStatus;
use super::state::{Acceptance, PolicyState};
use crate::engine::kinds::profile::Class;

mod conditions;
mod kind;
mod overview;
mod policy;
mod routes;
mod target;

pub use conditions::{Ancestor, Condition};
pub use kind::kind;
pub use overview::{BrokenRoute, ListenerAbout, Overview};
pub use policy::policy;
pub(super) use routes::leading;
pub(super) use target::on_its_own;
pub use target::target;

/// What is said of an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Description {
    /// Of a target: what acts on it.
    Target(OfTarget),
    /// Of a policy: what it does.
    Policy(OfPolicy),
    /// Of a workload: what acts on the Services that lead to it.
    Workload(OfWorkload),
    /// Of a policy kind: what is known of it, and its policies.
    Kind(Box<OfKind>),
}

/// Descriptions of many objects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Descriptions {
    /// One for each, in the order of their names.
    pub items: Vec<Description>,
}

/// What acts on an object or a section of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfTarget {
    /// The object, or the section.
    pub object: Named,
    /// That it is of a kind that nobody serves or that was not looked at: policies may name it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_looked_up: bool,
    /// Of what stands above routes: its listeners and the routes below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview: Option<Overview>,
    /// Its hostnames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hostnames: Vec<String>,
    /// The listeners, or Services of a mesh, through which requests come to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attached_to: Vec<Named>,
    /// Parents that a route names and that do not take it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_attached_to: Vec<Named>,
    /// What keeps requests away: parents that do not take a route, backends that it does not reach, listeners that are not
    /// accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The policies that stand at it or above it.
    pub policies: Vec<PolicyOnObject>,
    /// What is in force, by kind and path.
    pub effective: Vec<OnPaths>,
    /// The paths of these kinds without any policy: those in force are not on all of them.
    #[serde(skip)]
    pub without: Vec<OnPaths>,
    /// The policies on the backends of a route.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backends: Vec<OnBackend>,
    /// What is in force on the routes to it, of kinds whose policies do not reach it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_routes: Vec<OnPaths>,
    /// The routes that send requests to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<Named>,
}

/// The policies on a backend.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OnBackend {
    /// The backend.
    pub object: Named,
    /// Those that name it or a port of it.
    pub policies: Vec<PolicyOnObject>,
}

/// A policy that stands at an object or above it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyOnObject {
    /// The policy.
    pub policy: Named,
    /// Whether it stands at the object itself.
    pub relation: Relation,
    /// Its class.
    pub class: Class,
    /// Where it stands.
    pub target: Named,
    /// Its strategy; null where it cannot be used.
    pub strategy: Option<String>,
    /// The same in the words of its own fields: `replaces (mergeType unset)`.
    pub written_strategy: Option<String>,
    /// What became of it on the paths through this object.
    pub state: PolicyState,
    /// Why it is not attached or has no effect here, and where its controllers disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that supersede it here.
    pub by: Vec<Named>,
    /// What its controllers do with it that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// What its status says.
    #[serde(flatten)]
    pub status: FromStatus,
}

/// Where a policy stands, seen from an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// At the object or a section of it.
    Attached,
    /// Above it.
    Inherited,
}

/// What a policy does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfPolicy {
    /// The policy.
    pub object: Named,
    /// Its class.
    pub class: Class,
    /// Its strategy; null where it cannot be used.
    pub strategy: Option<String>,
    /// The same in the words of its own fields: `replaces (mergeType unset)`.
    pub written_strategy: Option<String>,
    /// What became of it on all targets together.
    pub state: PolicyState,
    /// Why it is not attached or has no effect, and where its controllers disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that supersede it somewhere.
    pub by: Vec<Named>,
    /// What its controllers do with it that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// What its status says.
    #[serde(flatten)]
    pub status: FromStatus,
    /// The conditions that its status should have (GEP-713), of all ancestors together.
    pub conditions: Vec<Condition>,
    /// The same for each ancestor, as many as the status takes.
    pub ancestors: Vec<Ancestor>,
    /// Its settings, under the name of the stanza where it has any.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// Target by target.
    pub targets: Vec<OnTarget>,
    /// What it changes: `before` is without it.
    pub changes: Vec<Change>,
}

/// What a policy does on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnTarget {
    /// The target.
    pub target: Named,
    /// Whether it is attached.
    pub accepted: Acceptance,
    /// What became of it there.
    pub state: PolicyState,
    /// Why it is not attached or has no effect there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The policies that supersede it there, wholly or in part.
    pub by: Vec<Named>,
    /// The settings that others take from it on some path, and who.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, Vec<Named>>,
    /// Objects below the target, and sections of it, where others replace it whole.
    pub overridden_on: Vec<Named>,
    /// Policies that are in force beside it on some path, or with which it is merged by its strategy.
    pub merged_with: Vec<Named>,
    /// The effective targets at which something of it is in force.
    pub acts_on: Vec<Named>,
}

/// What is known of a policy kind, and its policies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfKind {
    /// The kind.
    pub policy_kind: Kind,
    /// Its policies, those of all namespaces.
    pub policies: Vec<Listed>,
}

/// What acts on the Services that lead to a workload.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OfWorkload {
    /// The workload.
    pub object: Named,
    /// The Services that select it, each as it is described by itself.
    pub services: Vec<OfTarget>,
    /// The routes that lead to these Services, or the rules of them that do.
    pub routes: Vec<OfTarget>,
}

// === impl Description ===

impl Description {
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
