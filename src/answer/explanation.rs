//! `attache explain`: the path that a request takes, and every setting in force on it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, EffectiveSettings, Named};
use crate::engine::effective::Resolver;
use crate::engine::effective::protection::{CORS, own_client_certificates};
use crate::engine::kinds::profile::Profile;
use crate::engine::merge::EffectivePolicy as InForce;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::shared::Shared;
use crate::engine::routing::{Criterion, MatchResult, Matching, Outcome, Request, Stage, State};
use crate::engine::state::snapshot::Snapshot;

mod from_routing;
mod in_force;

/// The answer of `attache explain`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The request as attache reads it.
    pub request: Asked,
    /// Whether a route or Service serves it.
    pub served: bool,
    /// The paths of the request; several if it does not determine the Gateway, listener or port.
    pub steps: Vec<Step>,
    /// The places at which it is not served, and the reasons.
    pub unserved: Vec<ExplainUnserved>,
}

/// A request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The scheme: `http`, `https`, `tls`, `tcp` or `udp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Its method, if it has one: as given, or else POST for gRPC and GET otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its host, as used for matching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The TLS server name, if it differs from the host.
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
    /// The Service of a mesh that receives the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Named>,
    /// The namespace of the client that calls the Service.
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

/// One path of a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The Gateway and listener, or the Service, that receives it.
    #[serde(flatten)]
    pub entered_at: EnteredAt,
    /// The route; absent if a Service of a mesh has no routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Named>,
    /// The rule of the route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Named>,
    /// The rules of other routes that delegate to the route, from the top down.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delegated_by: Vec<Named>,
    /// The index of the rule, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_index: Option<usize>,
    /// The parts of the route and the rule that match the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<Matched>,
    /// The types of the rule's filters.
    pub filters: Vec<String>,
    /// The backends that get the request.
    pub backends: Vec<Backend>,
    /// The backends that get copies of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<Mirror>,
    /// A response that does not come from a backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answered>,
    /// Other rules that match the request, and why they do not take it; at most ten.
    pub considered: Vec<Considered>,
    /// The number of those that are left out.
    pub considered_more: usize,
    /// Notes.
    pub notes: Vec<String>,
    /// The effective policies, by kind and path.
    pub effective: Vec<EffectiveSettings>,
    /// The policies that target an object of the path.
    pub policies: Vec<PolicyOnRequest>,
}

/// The Gateway and listener, or the Service, that receives a request.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnteredAt {
    /// The Gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Named>,
    /// The listener, of the Gateway or of a `ListenerSet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener: Option<Named>,
    /// The Service of a mesh, with its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Named>,
    /// The namespace whose consumer routes to the Service apply.
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

/// The parts of a route and a rule that match a request.
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
    /// The gRPC service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_service: Option<String>,
    /// The gRPC method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_method: Option<String>,
    /// Headers.
    pub headers: Vec<Wanted>,
    /// Query parameters.
    pub query: Vec<Wanted>,
}

/// The path match of a rule.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WantedPath {
    /// `Exact`, `PathPrefix` or `RegularExpression`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its value.
    pub value: String,
}

/// The match of a rule on a header or query parameter.
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

/// A backend of a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Backend {
    /// The object, with its port if known.
    pub backend: Named,
    /// The number of the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Its weight among the backends of the rule.
    pub weight: u64,
    /// Whether it gets requests.
    pub state: State,
    /// The types of the filters for requests to this backend.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// The HTTP or gRPC status of requests that do not reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The location of a redirect filter of the backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// A backend that gets copies of a request. Its responses are ignored.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Mirror {
    /// The object.
    pub backend: Named,
    /// The number of the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The share of requests that are copied; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Whether it gets requests.
    pub state: State,
}

/// A response that does not come from a backend.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The HTTP or gRPC status, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The location of a redirect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Why.
    pub message: String,
}

/// A rule that matches a request and does not take it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Considered {
    /// The route or rule.
    pub route: Named,
    /// The criterion by which it loses.
    pub by: Criterion,
    /// The reason as a text.
    pub message: String,
}

/// A place at which a request is not served.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Unserved")]
pub struct ExplainUnserved {
    /// The Gateway and listener, or the Service, that receives it.
    #[serde(flatten)]
    pub entered_at: EnteredAt,
    /// The step at which it fails.
    pub at: Stage,
    /// Why.
    pub message: String,
    /// Alternatives that exist, the most similar first.
    pub nearest: Vec<String>,
    /// Other rules that match the request, and why they do not take it; at most ten.
    pub considered: Vec<Considered>,
    /// The number of those that are left out.
    pub considered_more: usize,
    /// Notes.
    pub notes: Vec<String>,
}

/// A policy that targets an object on the path of a request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PolicyOnRequest {
    /// The policy.
    pub policy: Named,
    /// Its targets on the path.
    pub at: Vec<Named>,
    /// Its state on this path.
    pub state: StateOnRequest,
    /// The policies that override it, wholly or in part.
    pub by: Vec<Named>,
    /// Its overridden settings, if other settings of it are in force.
    pub lost: Vec<String>,
    /// Why its controllers reject it, or why attache expects that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Settings that protect less than they seem to, and behavior of its controllers that attache does not model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
}

/// The state of a policy on the path of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(rename = "PolicyOutcome")]
pub enum StateOnRequest {
    /// All of it is in force.
    Enforced,
    /// Some of it is in force.
    PartiallyEnforced,
    /// Nothing of it is in force.
    Overridden,
    /// Another policy on the same target takes precedence.
    Conflicted,
    /// Its controllers reject it, or attache expects them to.
    Rejected,
    /// Its controllers accept it and do not apply it.
    NoEffect,
    /// Whether it applies to the request is not known.
    Unknown,
}

// === impl PolicyOnRequest ===

impl PolicyOnRequest {
    /// Adds a caveat to a policy with CORS settings: attache does not compare the request's origin with them.
    fn note_cors(&mut self, snapshot: &Snapshot) {
        let is_in_force = matches!(
            self.state,
            StateOnRequest::Enforced | StateOnRequest::PartiallyEnforced
        );
        let policy = snapshot.policy(&self.policy.0.object);
        if is_in_force && policy.is_some_and(|policy| policy.protects_by(CORS)) {
            let caveat = "its settings for CORS may answer the preflight; the origin is not compared with them";
            self.caveats.push(caveat.to_owned());
        }
    }
}

// === impl StateOnRequest ===

impl StateOnRequest {
    /// The state as JSON and tables spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "Enforced",
            Self::PartiallyEnforced => "PartiallyEnforced",
            Self::Overridden => "Overridden",
            Self::Conflicted => "Conflicted",
            Self::Rejected => "Rejected",
            Self::NoEffect => "NoEffect",
            Self::Unknown => "Unknown",
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
    let mut matches = matching.at_gateways(request, asked);
    if matches.is_empty() {
        matches.push(MatchResult::nowhere());
    }
    let is_preflight = request.preflight_of().is_some();
    explained(
        matching,
        Asked::new(request, &matches),
        is_preflight,
        None,
        &matches,
    )
}

/// Explains a request to a Service of a mesh, from clients in the namespace `from` if one is given.
pub fn at_service(
    matching: &Matching<'_>,
    request: &Request,
    service: &ObjectKey,
    from: Option<&str>,
) -> Explanation {
    let matches = matching.at_service(request, service, from);
    let asked = Asked {
        service: Some(service.into()),
        from_namespace: from.map(str::to_owned),
        ..Asked::new(request, &matches)
    };
    let is_preflight = request.preflight_of().is_some();
    explained(matching, asked, is_preflight, from, &matches)
}

/// The effective policies of a kind for a request, one for each backend that the kind tells apart. Empty if nothing takes it.
pub(super) fn effective_at(
    resolver: &mut Resolver<'_>,
    taken: &MatchResult,
    profile: &Profile,
) -> Vec<Shared<InForce>> {
    let Outcome::Taken(served) = &taken.outcome else {
        return Vec::new();
    };
    let path = in_force::Path::new(resolver.snapshot(), &taken.entry_point, served, None);
    path.effective(resolver, profile, served)
}

fn explained(
    matching: &Matching<'_>,
    request: Asked,
    is_preflight: bool,
    from: Option<&str>,
    matches: &[MatchResult],
) -> Explanation {
    let mut resolver = Resolver::new(matching.snapshot());
    let (mut steps, mut unserved) = (Vec::new(), Vec::new());
    for request_match in matches {
        match &request_match.outcome {
            Outcome::Taken(taken) => {
                let mut step = from_routing::step(request_match, taken);
                let path = in_force::Path::new(
                    matching.snapshot(),
                    &request_match.entry_point,
                    taken,
                    from,
                );
                let settings = path.settings(&mut resolver);
                step.effective = settings.effective;
                step.policies = settings.policies;
                let listener = step.entered_at.listener.as_ref();
                let certificates =
                    listener.and_then(|Named(at)| own_client_certificates(&mut resolver, at));
                step.notes.extend(certificates);
                if let Some(policy) = settings.failing {
                    from_routing::fail(&mut step, taken, &policy);
                }
                if is_preflight {
                    let policies = step.policies.iter_mut();
                    policies.for_each(|policy| policy.note_cors(matching.snapshot()));
                }
                steps.push(step);
            }
            Outcome::Missed(missed) => unserved.push(from_routing::unserved(request_match, missed)),
        }
    }
    Explanation {
        request,
        served: !steps.is_empty(),
        steps,
        unserved,
    }
}
