//! `attache explain`: the path that a request takes, and every setting in force on it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Effective, Named};
use crate::engine::effective::Resolver;
use crate::engine::effective::protection::CORS;
use crate::engine::model::ids::ObjectKey;
use crate::engine::routing::{Criterion, Matching, Outcome, Request, RequestMatch, Stage, State};
use crate::engine::state::snapshot::Snapshot;

mod from_routing;
mod in_force;

/// The answer of `attache explain`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The request as it was understood.
    pub request: Asked,
    /// Whether anything takes it.
    pub served: bool,
    /// The ways that it takes: several where nothing in it tells Gateways, listeners or ports apart.
    pub steps: Vec<Step>,
    /// Where it is not served.
    pub unserved: Vec<Unserved>,
}

/// A request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// How it is sent: `http`, `https`, `tls`, `tcp` or `udp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Its method, where it has one: as it was said, else POST for gRPC and GET for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its host, as it is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The server name of TLS, where it is another than the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// The port that it is sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Its path.
    pub path: String,
    /// Its query parameters.
    pub query: Vec<Pair>,
    /// Its headers.
    pub headers: Vec<Pair>,
    /// The Service of a mesh that is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Named>,
    /// The namespace from which the Service is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_namespace: Option<String>,
}

/// A name and a value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pair {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A way that a request takes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Where it comes in.
    #[serde(flatten)]
    pub entered_at: EnteredAt,
    /// The route; none where a Service of a mesh has no routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Named>,
    /// The rule of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Named>,
    /// Which rule that is, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_index: Option<usize>,
    /// What of the route and the rule fits the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<Matched>,
    /// The types of the rule's filters.
    pub filters: Vec<String>,
    /// Where it is sent.
    pub backends: Vec<Backend>,
    /// Where copies of it are sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<Mirror>,
    /// What is answered in place of a backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answered>,
    /// Rules that would have taken it, and why they do not; the first ten.
    pub considered: Vec<Considered>,
    /// How many of these are left out.
    pub considered_more: usize,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// What is in force on the way, by kind of policy and path.
    pub effective: Vec<Effective>,
    /// The policies that stand on the way.
    pub policies: Vec<PolicyOnRequest>,
}

/// Where a request comes in.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnteredAt {
    /// The Gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Named>,
    /// The listener, of the Gateway or of a `ListenerSet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener: Option<Named>,
    /// The Service of a mesh, and the port of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Named>,
    /// The namespace whose own routes to the Service are in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumer: Option<String>,
    /// The port of the listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The protocol of the listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The hostname of the listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
}

/// What of a route and a rule fits a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Matched {
    /// The hostname of the route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<WantedPath>,
    /// The method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The service of gRPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_service: Option<String>,
    /// The method of gRPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_method: Option<String>,
    /// Headers.
    pub headers: Vec<Wanted>,
    /// Query parameters.
    pub query: Vec<Wanted>,
}

/// The path that a rule wants.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WantedPath {
    /// `Exact`, `PathPrefix` or `RegularExpression`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its value.
    pub value: String,
}

/// A header or query parameter that a rule wants.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// `Exact` or `RegularExpression`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its value.
    pub value: String,
}

/// Where a request is sent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Backend {
    /// The object, and the port of it where it is known.
    pub backend: Named,
    /// The number of the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Its weight among the backends of the rule.
    pub weight: u64,
    /// Whether requests get there.
    pub state: State,
    /// The types of the filters for what is sent there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// What those get that do not: a status of HTTP or gRPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Where a redirect of the backend leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// A backend to which copies of a request are sent; nobody sees its answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Mirror {
    /// The object.
    pub backend: Named,
    /// The number of the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// How many requests are copied; all where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Whether they get there.
    pub state: State,
}

/// What is answered in place of a backend.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The status of HTTP or gRPC, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Where a redirect leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Why.
    pub message: String,
}

/// A rule that does not take a request although it might.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Considered {
    /// The route, or the rule of it.
    pub route: Named,
    /// By what it loses.
    pub by: Criterion,
    /// The same in words.
    pub message: String,
}

/// Where a request is not served.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unserved {
    /// Where it comes in.
    #[serde(flatten)]
    pub entered_at: EnteredAt,
    /// At which step it fails.
    pub at: Stage,
    /// Why.
    pub message: String,
    /// What there is instead, the nearest first.
    pub nearest: Vec<String>,
    /// Rules that would have taken it, and why they do not; the first ten.
    pub considered: Vec<Considered>,
    /// How many of these are left out.
    pub considered_more: usize,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// A policy that stands on the way of a request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PolicyOnRequest {
    /// The policy.
    pub policy: Named,
    /// Where it stands.
    pub at: Vec<Named>,
    /// What becomes of it on this way.
    pub state: PolicyOutcome,
    /// The policies that take its place, wholly or in part.
    pub by: Vec<Named>,
    /// The settings of it that are not in force, where others of it are.
    pub lost: Vec<String>,
    /// Why its controllers reject it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What its controllers do with it that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
}

/// What becomes of a policy on the way of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum PolicyOutcome {
    /// All of it is in force.
    Enforced,
    /// Some of it is.
    PartiallyEnforced,
    /// Nothing of it is.
    Overridden,
    /// It is rejected for another at its place.
    Conflicted,
    /// Its controllers reject it.
    Rejected,
}

// === impl PolicyOnRequest ===

impl PolicyOnRequest {
    /// Adds a caveat to a policy with CORS settings: attache does not compare the request's origin with them.
    fn note_cors(&mut self, snapshot: &Snapshot) {
        let is_in_force = matches!(
            self.state,
            PolicyOutcome::Enforced | PolicyOutcome::PartiallyEnforced
        );
        let policy = snapshot.policy(&self.policy.0.object);
        if is_in_force && policy.is_some_and(|policy| policy.protects_by(CORS)) {
            let caveat = "its settings for CORS may answer the preflight; the origin is not compared with them";
            self.caveats.push(caveat.to_owned());
        }
    }
}

// === impl PolicyOutcome ===

impl PolicyOutcome {
    /// The state as JSON and tables spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "Enforced",
            Self::PartiallyEnforced => "PartiallyEnforced",
            Self::Overridden => "Overridden",
            Self::Conflicted => "Conflicted",
            Self::Rejected => "Rejected",
        }
    }
}

impl Answer for Explanation {
    const KIND: &'static str = "Explanation";
}

/// Explains a request to those Gateways for which `asked` returns true.
pub fn at_gateways(
    matching: &Matching<'_>,
    request: &Request,
    asked: impl Fn(&ObjectKey) -> bool,
) -> Explanation {
    let mut ways = matching.at_gateways(request, asked);
    if ways.is_empty() {
        ways.push(RequestMatch::nowhere());
    }
    let is_preflight = request.preflight_of().is_some();
    explained(
        matching,
        Asked::new(request, &ways),
        is_preflight,
        None,
        &ways,
    )
}

/// Explains a request to a Service of a mesh, from clients in the namespace `from` if one is given.
pub fn at_service(
    matching: &Matching<'_>,
    request: &Request,
    service: &ObjectKey,
    from: Option<&str>,
) -> Explanation {
    let ways = matching.at_service(request, service, from);
    let asked = Asked {
        service: Some(service.into()),
        from_namespace: from.map(str::to_owned),
        ..Asked::new(request, &ways)
    };
    let is_preflight = request.preflight_of().is_some();
    explained(matching, asked, is_preflight, from, &ways)
}

fn explained(
    matching: &Matching<'_>,
    request: Asked,
    is_preflight: bool,
    from: Option<&str>,
    ways: &[RequestMatch],
) -> Explanation {
    let mut resolver = Resolver::new(matching.snapshot());
    let (mut steps, mut unserved) = (Vec::new(), Vec::new());
    for way in ways {
        match &way.outcome {
            Outcome::Taken(taken) => {
                let mut step = from_routing::step(way, taken);
                let path = in_force::Path::new(matching.snapshot(), &way.front, taken, from);
                (step.effective, step.policies) = path.settings(&mut resolver);
                if is_preflight {
                    let policies = step.policies.iter_mut();
                    policies.for_each(|standing| standing.note_cors(matching.snapshot()));
                }
                steps.push(step);
            }
            Outcome::Missed(missed) => unserved.push(from_routing::unserved(way, missed)),
        }
    }
    Explanation {
        request,
        served: !steps.is_empty(),
        steps,
        unserved,
    }
}
