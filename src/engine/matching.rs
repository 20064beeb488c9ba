//! Which listener, route, rule and backend a request takes: the Gateway API's own matching rules.
//!
//! A request comes to a Gateway, or to a Service of a mesh. There may be several [`Way`]s for it,
//! because nothing in it tells them apart: a host that two Gateways serve, a port that is not said.

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::ids::{ByKey, ObjectKey, Place};
use super::object::{Node, Object};
use super::snapshot::Snapshot;

mod attached;
mod backends;
mod choose;
mod cors;
mod filters;
mod gateways;
mod holds;
mod hostname;
mod listeners;
mod mesh;
mod path;
mod rank;
mod request;
mod spec;
mod text;
mod url;
mod words;

pub use backends::{Answer, Backend, Mirrored, State, failure};
pub use path::Path;
pub use rank::Criterion;
pub use request::{Request, Scheme, same_header};
pub use spec::Wants;
pub use text::Text;
pub use url::{Url, of_path};

/// Most of what lost and of what is near that is told.
const TOLD: usize = 10;

/// Finds the ways that requests take.
#[derive(Debug)]
pub struct Matching<'a> {
    snapshot: &'a Snapshot,
    /// The specs of routes: a snapshot does not keep what they match.
    specs: HashMap<&'a ObjectKey, &'a str, ByKey>,
}

/// A way that a request takes, or does not.
#[derive(Clone, Debug)]
pub struct Way {
    /// Where it comes in.
    pub front: Front,
    /// What becomes of it.
    pub outcome: Outcome,
    /// What would have taken it too, or could not be told; the nearest to taking it first.
    pub lost: Vec<Lost>,
    /// How many of those are left out.
    pub more: usize,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// Where a request comes in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Front {
    /// Nowhere: there is no Gateway.
    Nowhere,
    /// At a Gateway, and at none of its listeners.
    Gateway {
        /// The Gateway.
        gateway: ObjectKey,
        /// The port, where it fails on that.
        port: Option<u16>,
    },
    /// At a listener.
    Listener(Box<ListenerFront>),
    /// At a Service of a mesh.
    Service {
        /// The Service.
        service: ObjectKey,
        /// The label of the port; none where all are alike.
        port: Option<Arc<str>>,
        /// The namespace whose own routes are in force.
        consumer: Option<Arc<str>>,
    },
}

/// A listener that takes a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListenerFront {
    /// The Gateway.
    pub gateway: ObjectKey,
    /// The listener, of the Gateway itself or of a `ListenerSet`.
    pub place: Place,
    /// Its port.
    pub port: u16,
    /// Its protocol.
    pub protocol: Arc<str>,
    /// Its hostname, if it has one.
    pub hostname: Option<Arc<str>>,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A rule takes it, or a Service without routes.
    Taken(Box<Taken>),
    /// Nothing does.
    Missed(Missed),
}

/// What takes a request.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The rule; none where a Service has no routes.
    pub rule: Option<RuleTaken>,
    /// Where it is sent.
    pub backends: Vec<Backend>,
    /// Where copies of it are sent.
    pub mirrors: Vec<Mirrored>,
    /// What is answered in place of a backend.
    pub answer: Option<Answer>,
}

/// A rule that takes a request.
#[derive(Clone, Debug)]
pub struct RuleTaken {
    /// The route.
    pub route: ObjectKey,
    /// Which rule of it, from 0.
    pub index: usize,
    /// The label of the rule.
    pub label: Arc<str>,
    /// The hostname of the route that fits.
    pub hostname: Option<Arc<str>>,
    /// The match that holds.
    pub wants: Wants,
    /// The types of its filters.
    pub filters: Vec<String>,
}

/// What does not take a request although it might.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The route.
    pub route: ObjectKey,
    /// The rule, from 0, with its label; none where it is about the route as a whole.
    pub rule: Option<(usize, Arc<str>)>,
    /// By what it loses.
    pub by: Criterion,
    /// The same in words.
    pub why: String,
}

/// Where a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// At which step.
    pub at: Stage,
    /// Why.
    pub why: String,
    /// What there is instead, the nearest first.
    pub near: Vec<String>,
}

/// The steps at which a request can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "At")]
pub enum Stage {
    /// There is no such Gateway or Service.
    #[serde(rename = "entrance")]
    Front,
    /// No listener, or port of the Service, fits port and protocol.
    Port,
    /// No listener has the hostname.
    ListenerHostname,
    /// The listeners with the hostname are in conflict, so none of them is accepted.
    ListenerConflict,
    /// No route is attached to the listener.
    Route,
    /// No route has the hostname.
    RouteHostname,
    /// No rule takes the request.
    Rule,
}

// === impl Matching ===

impl<'a> Matching<'a> {
    /// Over a state, and the objects of which it is made, with their whole specs.
    pub fn new(snapshot: &'a Snapshot, objects: impl IntoIterator<Item = &'a Object>) -> Self {
        let routes = objects
            .into_iter()
            .filter(|object| matches!(object.node, Node::Route { .. }));
        let specs = routes.map(|route| {
            let spec = route.spec.as_deref();
            (&route.key, spec.unwrap_or("{}"))
        });
        Self {
            snapshot,
            specs: specs.collect(),
        }
    }

    /// What each rule of a route wants of a request, match by match; why not, where a match cannot be read. Nothing
    /// where the spec of the route is not known.
    pub fn wants(&self, route: &Object) -> Vec<Vec<Result<Wants, String>>> {
        let Some(spec) = self.specs.get(&route.key) else {
            return Vec::new();
        };
        let rules = spec::rules(choose::dialect(route), spec).unwrap_or_default();
        rules.into_iter().map(|rule| rule.matches).collect()
    }

    /// The state.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }
}

// === impl Way ===

impl Way {
    /// The way of every request where there is no Gateway.
    pub fn nowhere() -> Self {
        let why = "there is no Gateway".to_owned();
        Self::missed(Front::Nowhere, Stage::Front, why, Vec::new())
    }

    fn missed(front: Front, at: Stage, why: String, near: Vec<String>) -> Self {
        Self {
            front,
            outcome: Outcome::Missed(Missed { at, why, near }),
            lost: Vec::new(),
            more: 0,
            notes: Vec::new(),
        }
    }

    /// Puts what lost in, the first of it.
    fn losing(mut self, mut lost: Vec<Lost>) -> Self {
        self.more = lost.len().saturating_sub(TOLD);
        lost.truncate(TOLD);
        self.lost = lost;
        self
    }

    /// Whether the request is taken.
    pub fn is_taken(&self) -> bool {
        matches!(self.outcome, Outcome::Taken(_))
    }
}
