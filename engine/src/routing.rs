//! Finds the listener, route, rule and backends that serve a request, by the matching rules of the Gateway API.
//!
//! A request arrives at a Gateway, or at a Service of a mesh. It may have several matches ([`MatchResult`]) if it leaves
//! something open: two Gateways serve its host, or it does not specify a port.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::ids::{ObjectKey, Place, PrehashedBuildHasher};
use crate::model::level::Step;
use crate::model::object::{Node, Object};
use crate::state::snapshot::Snapshot;
use common_text::Automata;

mod at_listeners;
mod backends;
mod choice;
mod choose;
mod common_text;
mod cors;
mod criterion;
mod delegated;
mod dropped_rules;
mod expression;
mod expression_example;
mod filters;
mod gateways;
mod holds;
mod hostname;
mod listener_routes;
mod listeners;
mod mesh;
mod messages;
mod mirrors;
mod object_filters;
mod path;
mod rank;
mod request;
mod rerouted_within_route;
mod samples;
mod shared_samples;
mod spec;
mod text_match;
mod unsupported_filters;
mod url;

pub use backends::{Answer, Backend, State, failure};
pub use criterion::Criterion;
pub use expression::Expression;
pub use mirrors::Mirrored;
pub use path::Path;
pub use request::{Request, Scheme, read_method, same_header};
pub use rerouted_within_route::{ReroutedRequests, RouteVersions, rerouted_within};
pub use samples::{SampleRequest, SampledRoute, methods};
pub use spec::MatchSpec;
pub use text_match::TextMatch;
pub use url::{Url, of_path};

/// The most losing rules to report.
const MAX_LOSING_RULES: usize = 10;

/// Matches requests against the routes of a state.
#[derive(Debug)]
pub struct Matching<'a> {
    snapshot: &'a Snapshot,
    /// The specs of routes, because a snapshot does not keep their matches.
    specs: HashMap<&'a ObjectKey, &'a str, PrehashedBuildHasher>,
    /// The rules of the routes that were asked for.
    rules: RefCell<HashMap<ObjectKey, ParsedRules, PrehashedBuildHasher>>,
    automata: Automata,
}

/// The rules of a route, or why they cannot be read.
type ParsedRules = Rc<Result<Vec<spec::RuleSpec>, String>>;

/// The result of matching a request at one Gateway, listener or Service.
#[derive(Clone, Debug)]
pub struct MatchResult {
    /// The point at which the request arrives.
    pub entry_point: EntryPoint,
    /// The outcome.
    pub outcome: Outcome,
    /// Rules that would have taken it too, or might have; those closest to winning first.
    pub lost: Vec<NotTaken>,
    /// The number of those that are left out.
    pub more: usize,
    /// Further remarks.
    pub notes: Vec<String>,
}

/// The point at which a request arrives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryPoint {
    /// Nowhere, because there is no Gateway.
    Nowhere,
    /// At a Gateway, but at none of its listeners.
    Gateway {
        /// The Gateway.
        gateway: ObjectKey,
        /// The port, if it is the reason.
        port: Option<u16>,
    },
    /// At a listener.
    Listener(Box<ListenerEntry>),
    /// At a Service in a mesh.
    Service {
        /// The Service.
        service: ObjectKey,
        /// The label of the port; `None` if all ports are equivalent.
        port: Option<Arc<str>>,
        /// The namespace whose consumer routes apply.
        consumer: Option<Arc<str>>,
    },
}

/// A listener that a request arrives at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListenerEntry {
    /// The Gateway.
    pub gateway: ObjectKey,
    /// The listener, of the Gateway or of a `ListenerSet`.
    pub place: Place,
    /// Its port.
    pub port: u16,
    /// Its protocol.
    pub protocol: Arc<str>,
    /// Its hostname, if it has one.
    pub hostname: Option<Arc<str>>,
}

/// The outcome of matching a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A rule serves it, or a Service without routes.
    Taken(Box<Served>),
    /// Nothing serves it.
    Missed(Missed),
}

/// The rule and backends that serve a request.
#[derive(Clone, Debug)]
pub struct Served {
    /// The rule; `None` for a Service without routes.
    pub rule: Option<MatchedRule>,
    /// The backends that may receive it.
    pub backends: Vec<Backend>,
    /// The backends that receive copies of it.
    pub mirrors: Vec<Mirrored>,
    /// The response, if no backend gives one.
    pub answer: Option<Answer>,
}

/// A rule that serves a request.
#[derive(Clone, Debug)]
pub struct MatchedRule {
    /// The route.
    pub route: ObjectKey,
    /// The index of the rule in the route, from 0.
    pub index: usize,
    /// The label of the rule.
    pub label: Arc<str>,
    /// The matching hostname of the route.
    pub hostname: Option<Arc<str>>,
    /// The match of the rule that applies.
    pub match_spec: MatchSpec,
    /// The types of its filters.
    pub filters: Vec<String>,
    /// The routes that delegate to the route, and their rules, from the top down; empty if none does.
    pub above: Vec<Step>,
}

/// A route or rule that does not serve a request although it might have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTaken {
    /// The route.
    pub route: ObjectKey,
    /// The index and label of the rule; `None` if the whole route is meant.
    pub rule: Option<(usize, Arc<str>)>,
    /// The criterion by which it loses.
    pub by: Criterion,
    /// The reason in words.
    pub why: String,
}

/// The step at which matching a request fails, with the reason and alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The step that fails.
    pub at: Stage,
    /// The reason.
    pub why: String,
    /// Existing alternatives, the closest first.
    pub near: Vec<String>,
}

/// The steps at which a request can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "At")]
pub enum Stage {
    /// The Gateway or Service does not exist.
    #[serde(rename = "entrance")]
    EntryPoint,
    /// No listener, or port of the Service, has this port and protocol.
    Port,
    /// No listener matches the hostname.
    ListenerHostname,
    /// The listeners that match the hostname conflict, so none of them is accepted.
    ListenerConflict,
    /// No route is attached to the listener.
    Route,
    /// No route matches the hostname.
    RouteHostname,
    /// No rule matches the request.
    Rule,
}

// === impl Matching ===

impl<'a> Matching<'a> {
    /// Creates it for a state and its objects, which must have their complete specs.
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
            rules: RefCell::default(),
            automata: Automata::default(),
        }
    }

    /// The rules of a route, or why they cannot be read.
    fn rules_of(&self, route: &Object) -> ParsedRules {
        if let Some(known) = self.rules.borrow().get(&route.key) {
            return known.clone();
        }
        let spec = self.specs.get(&route.key).copied();
        let spec = spec.ok_or_else(|| "its spec is not known".to_owned());
        let rules = spec.and_then(|spec| spec::rules(choose::route_protocol(route), spec));
        let rules = Rc::new(rules);
        let mut known = self.rules.borrow_mut();
        known.insert(route.key.clone(), rules.clone());
        rules
    }

    /// The matches of each rule of a route, or an error for a match that cannot be parsed. Empty if the spec of the
    /// route is unknown.
    pub fn match_specs(&self, route: &Object) -> Vec<Vec<Result<MatchSpec, String>>> {
        let rules = self.rules_of(route);
        let rules = rules.as_deref().unwrap_or_default();
        rules.iter().map(|rule| rule.matches.clone()).collect()
    }

    /// The state.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }
}

// === impl MatchResult ===

impl MatchResult {
    /// The result for any request if there is no Gateway.
    pub fn nowhere() -> Self {
        let why = "there is no Gateway".to_owned();
        Self::missed(EntryPoint::Nowhere, Stage::EntryPoint, why, Vec::new())
    }

    fn missed(entry_point: EntryPoint, at: Stage, why: String, near: Vec<String>) -> Self {
        Self {
            entry_point,
            outcome: Outcome::Missed(Missed { at, why, near }),
            lost: Vec::new(),
            more: 0,
            notes: Vec::new(),
        }
    }

    /// Adds the rules that lose, up to the limit.
    fn losing(mut self, mut lost: Vec<NotTaken>) -> Self {
        self.more = lost.len().saturating_sub(MAX_LOSING_RULES);
        lost.truncate(MAX_LOSING_RULES);
        self.lost = lost;
        self
    }

    /// Whether anything serves the request.
    pub fn is_taken(&self) -> bool {
        matches!(self.outcome, Outcome::Taken(_))
    }
}
