//! `attache graph`: topology and policies as nodes and edges.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::state::PolicyState;
use super::{Answer, Named};
use crate::engine::effective::Resolver;
use crate::engine::model::ids::Place;
use crate::engine::routing::Matching;

mod around;
mod details;
mod facts;
mod id;
mod on_target;
mod policies;
mod sketch;
mod states;
mod text;
mod topology;

pub(crate) use details::yaml;
pub use details::{About, Details, InForce, NodePolicy, NodeStanza, Setting, details};
pub use facts::Facts;
use sketch::Sketch;

/// The topology as a graph: objects, references, and policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Graph {
    /// Objects and sections, sorted by type, namespace and name; sections in the order of the spec.
    pub nodes: Vec<Node>,
    /// Edges, in the order of the nodes that they start from.
    pub edges: Vec<Edge>,
}

/// An object, or a section of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// `KIND[.group]/[NAMESPACE/]NAME[#SECTION]`; a Service as the parent of mesh routes has `@frontend` after its
    /// name. `/`, `#`, `@` and `%` in names are percent-encoded: `%2F` and so on.
    pub id: Arc<str>,
    /// The object.
    pub object: Named,
    /// Its role in the topology.
    #[serde(rename = "type")]
    pub role: Role,
    /// Whether the object is referenced and does not exist.
    #[serde(default, skip_serializing_if = "is_false")]
    pub missing: bool,
    /// The reason why a policy without edges is not attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The state of a policy over all targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PolicyState>,
    /// Hostnames, ports, what a rule matches.
    #[serde(flatten)]
    pub facts: Facts,
}

/// An edge from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// The id of the node above, or of the policy.
    pub from: Arc<str>,
    /// The id of the node below, or of the target.
    pub to: Arc<str>,
    /// The meaning of the edge.
    #[serde(rename = "type")]
    pub link: Link,
    /// The reason why the reference has no effect, for `rejected` and `notAttached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The state of the policy on this target, for `attached` and `notAttached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PolicyState>,
    /// The ids of the policies that override it on this target, wholly or in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Arc<str>>,
    /// The reason why the policy has no effect on this target, or why that is not known, for `attached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A role in the topology, from the top down; policies last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// A Namespace that is the target of a policy.
    Namespace,
    /// A class of Gateways.
    GatewayClass,
    /// A Gateway.
    Gateway,
    /// A set of listeners that joins a Gateway.
    ListenerSet,
    /// A listener of a Gateway or of a `ListenerSet`.
    Listener,
    /// A Service that clients of a mesh call, above the routes attached to it.
    Frontend,
    /// A route.
    Route,
    /// A rule of a route.
    Rule,
    /// A Service or another kind of backend.
    Backend,
    /// A port of a Service.
    Port,
    /// A policy.
    Policy,
}

/// The meaning of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Link {
    /// The object has this section.
    Contains,
    /// The lower object is attached to the upper one: a Gateway to its class, a `ListenerSet` to its Gateway, a route
    /// to a listener or to a Service of a mesh.
    Parent,
    /// The rule sends requests to the backend.
    Backend,
    /// The reference exists and is rejected.
    Rejected,
    /// The policy is attached to the target.
    Attached,
    /// The policy targets the object and is not attached to it.
    NotAttached,
}

/// The part of a state that the graph shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Focus {
    /// All of it.
    Everything,
    /// Everything in a namespace, with its ancestors and descendants.
    Namespace(Arc<str>),
    /// An object or a section of it, with its ancestors and descendants.
    Place {
        /// The object or section.
        place: Place,
        /// The limit of steps up and of steps down. `None`: no limit.
        depth: Option<usize>,
    },
}

// === impl Graph ===

impl Answer for Graph {
    const KIND: &'static str = "Graph";
}

/// The graph of a state. `None` if the state holds nothing of the focus. Facts about rule matches appear only for
/// routes whose spec is known.
pub fn graph(matching: &Matching<'_>, focus: &Focus) -> Option<Graph> {
    let snapshot = matching.snapshot();
    let mut sketch = Sketch::new(snapshot);
    let mut resolver = Resolver::new(snapshot);
    topology::draw(&mut sketch);
    policies::draw(&mut sketch, &mut resolver);
    let kept = around::kept(&mut sketch, focus)?;
    states::fill(&mut sketch, &mut resolver, &kept);
    Some(sketch.finish(matching, &kept))
}

// === impl Link ===

impl Link {
    /// Whether the edge leads from a policy to a target.
    pub fn is_of_policy(self) -> bool {
        matches!(self, Self::Attached | Self::NotAttached)
    }

    /// Whether the edge is a reference without effect: a rejected parent or backend, or a policy that is not attached.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Rejected | Self::NotAttached)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}
