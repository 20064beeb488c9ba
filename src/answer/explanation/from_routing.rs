//! Converts the outcome of request matching to the answer of `attache explain`.

use super::{
    Answered, Asked, Backend, Considered, EnteredAt, ExplainUnserved, Matched, Mirror, Pair, Step,
    Wanted, WantedPath,
};
use crate::answer::Named;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::level::Level;
use crate::engine::routing::{
    self, EntryPoint, MatchResult, MatchSpec, MatchedRule, Missed, NotTaken, Outcome, Path,
    Request, Scheme, Served, TextMatch, failure,
};

// === impl Asked ===

impl Asked {
    pub(super) fn new(request: &Request, matches: &[MatchResult]) -> Self {
        let pairs = |all: &[(String, String)]| all.iter().map(Pair::from).collect();
        Self {
            scheme: request.scheme.map(Scheme::as_str).map(str::to_owned),
            method: method(request, matches).map(str::to_owned),
            host: request.hostname(),
            server_name: request.sni.as_ref().and_then(|_| request.server_name()),
            port: request.port,
            path: request.path.clone(),
            query: pairs(&request.query),
            headers: pairs(&request.headers),
            service: None,
            from_namespace: None,
        }
    }
}

/// The method of a request. `None` if the proxy sees only TLS, TCP or UDP.
fn method<'a>(request: &'a Request, matches: &[MatchResult]) -> Option<&'a str> {
    let mut kinds = matches
        .iter()
        .filter_map(|request_match| match &request_match.outcome {
            Outcome::Taken(taken) => taken.rule.as_ref().map(|rule| &rule.route.gk),
            Outcome::Missed(_) => None,
        });
    let first = kinds.next();
    let is = |kind: &str| first.is_some_and(|gk| gk.is_gateway_api(kind));
    let is_seen = request.scheme.is_none_or(Scheme::is_http)
        && (first.is_none() || is("HTTPRoute") || is("GRPCRoute"));
    match &request.method {
        Some(method) => Some(method),
        None if is("GRPCRoute") => Some("POST"),
        None => is_seen.then_some("GET"),
    }
}

impl From<&(String, String)> for Pair {
    fn from((name, value): &(String, String)) -> Self {
        Self {
            name: name.clone(),
            value: value.clone(),
        }
    }
}

/// A served request, without the settings in force.
pub(super) fn step(request_match: &MatchResult, taken: &Served) -> Step {
    let rule = taken.rule.as_ref();
    Step {
        entered_at: entry_point(&request_match.entry_point),
        route: rule.map(|rule| Named::from(&rule.route)),
        rule: rule.map(|rule| Named(rule.route.section(rule.label.clone()))),
        delegated_by: rule.map_or_else(Vec::new, delegated_by),
        rule_index: rule.map(|rule| rule.index),
        matched: rule.map(matched),
        filters: rule.map_or_else(Vec::new, |rule| rule.filters.clone()),
        backends: taken.backends.iter().map(|b| backend(rule, b)).collect(),
        mirrors: taken.mirrors.iter().map(mirror).collect(),
        answer: taken.answer.as_ref().map(answered),
        considered: request_match.lost.iter().map(considered).collect(),
        considered_more: request_match.more,
        notes: request_match.notes.clone(),
        effective: Vec::new(),
        policies: Vec::new(),
    }
}

/// Shows that requests get an error because of a rejected policy: no backend answers.
pub(super) fn fail(step: &mut Step, taken: &Served, policy: &ObjectKey) {
    step.backends.clear();
    step.mirrors.clear();
    let route = taken.rule.as_ref().map(|rule| &rule.route);
    step.answer = Some(Answered {
        status: route.and_then(routing::failure).map(str::to_owned),
        location: None,
        message: format!(
            "the controller rejects {policy}, and answers requests with an error rather than serve them without the policy"
        ),
    });
}

/// The rules that delegate to the route of a rule, from the top down.
fn delegated_by(rule: &MatchedRule) -> Vec<Named> {
    let rules = rule.above.iter().filter(|step| step.level == Level::Rule);
    rules.map(|step| Named::from(&step.place)).collect()
}

/// A request that is not served, and why.
pub(super) fn unserved(request_match: &MatchResult, missed: &Missed) -> ExplainUnserved {
    ExplainUnserved {
        entered_at: entry_point(&request_match.entry_point),
        at: missed.at,
        message: missed.why.clone(),
        nearest: missed.near.clone(),
        considered: request_match.lost.iter().map(considered).collect(),
        considered_more: request_match.more,
        notes: request_match.notes.clone(),
    }
}

fn entry_point(entry_point: &EntryPoint) -> EnteredAt {
    match entry_point {
        EntryPoint::Nowhere => EnteredAt::default(),
        EntryPoint::Gateway { gateway, port } => EnteredAt {
            gateway: Some(gateway.into()),
            port: *port,
            ..EnteredAt::default()
        },
        EntryPoint::Listener(listener) => EnteredAt {
            gateway: Some(Named::from(&listener.gateway)),
            listener: Some(Named::from(&listener.place)),
            port: Some(listener.port),
            protocol: Some(listener.protocol.to_string()),
            hostname: listener.hostname.as_ref().map(ToString::to_string),
            ..EnteredAt::default()
        },
        EntryPoint::Service {
            service,
            port,
            consumer,
        } => EnteredAt {
            service: Some(match port {
                Some(port) => Named(service.section(port.clone())),
                None => Named::from(service),
            }),
            consumer: consumer.as_ref().map(ToString::to_string),
            ..EnteredAt::default()
        },
    }
}

fn matched(rule: &MatchedRule) -> Matched {
    let MatchSpec {
        path,
        method,
        service,
        call,
        headers,
        params,
    } = &rule.match_spec;
    let text = |text: &Option<TextMatch>| text.as_ref().map(|text| text.value().to_owned());
    Matched {
        hostname: rule.hostname.as_ref().map(ToString::to_string),
        path: path.as_ref().map(wanted_path),
        method: method.clone(),
        grpc_service: text(service),
        grpc_method: text(call),
        headers: headers.iter().map(wanted).collect(),
        query: params.iter().map(wanted).collect(),
    }
}

fn wanted_path(path: &Path) -> WantedPath {
    WantedPath {
        kind: path.kind().to_owned(),
        value: path.value().to_owned(),
    }
}

fn wanted((name, text): &(String, TextMatch)) -> Wanted {
    Wanted {
        name: name.clone(),
        kind: text.kind().to_owned(),
        value: text.value().to_owned(),
    }
}

fn backend(rule: Option<&MatchedRule>, backend: &routing::Backend) -> Backend {
    let fails = rule.filter(|_| backend.state.fails());
    Backend {
        backend: match &backend.label {
            Some(label) => Named(backend.object.section(label.clone())),
            None => Named::from(&backend.object),
        },
        port: backend.port,
        weight: backend.weight,
        state: backend.state,
        filters: backend.filters.clone(),
        answer: fails
            .and_then(|rule| failure(&rule.route))
            .map(str::to_owned)
            .or_else(|| backend.answer.as_ref()?.status.clone()),
        location: backend.answer.as_ref().and_then(|a| a.location.clone()),
    }
}

fn mirror(mirror: &routing::Mirrored) -> Mirror {
    Mirror {
        backend: Named::from(&mirror.object),
        port: mirror.port,
        part: mirror.part.clone(),
        state: mirror.state,
    }
}

fn answered(answer: &routing::Answer) -> Answered {
    Answered {
        status: answer.status.clone(),
        location: answer.location.clone(),
        message: answer.why.clone(),
    }
}

fn considered(lost: &NotTaken) -> Considered {
    Considered {
        route: match &lost.rule {
            Some((_, label)) => Named(lost.route.section(label.clone())),
            None => Named::from(&lost.route),
        },
        by: lost.by,
        message: lost.why.clone(),
    }
}
