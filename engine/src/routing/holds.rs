//! Evaluates a match of a rule for a request, and finds the first condition that fails.

use super::expression::Expression;
use super::request::Request;
use super::spec::MatchSpec;
use super::text_match::TextMatch;
use crate::kinds::profile::{GrpcCallsAsPaths, RuleOrder};

/// The result of evaluating a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// All conditions hold.
    Yes,
    /// A condition fails.
    No(Mismatch),
    /// A regular expression cannot be parsed here; all other conditions hold.
    Unknown(String),
}

/// The first condition that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// The property of the request.
    pub(super) at: Aspect,
    /// The required value, in words.
    pub(super) match_spec: String,
}

/// The properties of a request, in the order of evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    /// The path, or gRPC service and method.
    Path,
    /// The method.
    Method,
    /// Headers.
    Headers,
    /// Query parameters.
    Params,
}

/// Evaluates a match of an `HTTPRoute`.
pub(super) fn http(match_spec: &MatchSpec, request: &Request, order: RuleOrder) -> Evaluation {
    let mut unknown = None;
    if let Some(path) = &match_spec.path {
        let words = || format!("{} {}", path.kind(), path.value());
        match path.covers_with(&request.path, order) {
            Some(true) => {}
            Some(false) => return no(Aspect::Path, words()),
            None => unknown = Some(words()),
        }
    }
    if let Some(method) = &match_spec.method
        && method != request.method()
    {
        return no(Aspect::Method, format!("method {method}"));
    }
    if let Err(against) = headers(match_spec, request, &mut unknown) {
        return Evaluation::No(against);
    }
    for (name, text) in &match_spec.params {
        let words = || pair("query parameter", name, text);
        let covered = request.param(name).map_or(Some(false), |v| text.covers(v));
        match covered {
            Some(true) => {}
            Some(false) => return no(Aspect::Params, words()),
            None => unknown = unknown.or_else(|| Some(words())),
        }
    }
    unknown.map_or(Evaluation::Yes, Evaluation::Unknown)
}

/// Evaluates a match of a `GRPCRoute`.
pub(super) fn grpc(match_spec: &MatchSpec, request: &Request) -> Evaluation {
    let Some((service, method)) = request.grpc() else {
        return no(Aspect::Path, "a gRPC call: POST /service/method".to_owned());
    };
    let mut unknown = None;
    let parts = [
        ("service", &match_spec.service, service),
        ("method", &match_spec.call, method),
    ];
    for (what, wanted, is) in parts {
        let Some(text) = wanted else { continue };
        match text.covers(is) {
            Some(true) => {}
            Some(false) => return no(Aspect::Path, format!("{what} {}", text.value())),
            None => unknown = Some(format!("{what} {}", text.value())),
        }
    }
    if let Err(against) = headers(match_spec, request, &mut unknown) {
        return Evaluation::No(against);
    }
    unknown.map_or(Evaluation::Yes, Evaluation::Unknown)
}

/// Evaluates a match of a `GRPCRoute` for a controller that compares nothing but the path with the service and the method.
pub(super) fn grpc_path(
    match_spec: &MatchSpec,
    request: &Request,
    calls: GrpcCallsAsPaths,
) -> Evaluation {
    let mut unknown = None;
    let words = || {
        let parts = [
            ("service", &match_spec.service),
            ("method", &match_spec.call),
        ];
        let parts = parts
            .iter()
            .filter_map(|(what, text)| Some(format!("{what} {}", text.as_ref()?.value())));
        parts.collect::<Vec<_>>().join(" and ")
    };
    match is_path_of_call(match_spec, &request.path, calls) {
        Some(true) => {}
        Some(false) => return no(Aspect::Path, words()),
        None => unknown = Some(words()),
    }
    if let Err(against) = headers(match_spec, request, &mut unknown) {
        return Evaluation::No(against);
    }
    unknown.map_or(Evaluation::Yes, Evaluation::Unknown)
}

/// Whether a path is one for a service and method; `None` if an expression cannot be parsed here.
fn is_path_of_call(match_spec: &MatchSpec, path: &str, calls: GrpcCallsAsPaths) -> Option<bool> {
    let any_service = match calls {
        GrpcCallsAsPaths::Elements => ".+",
        GrpcCallsAsPaths::Calls => "[^/]+",
    };
    let expression = |service: &str, call: &str| {
        let whole = Expression::from(format!("/{service}/{call}"));
        whole.covers(path)
    };
    let below = |service: &str| path.strip_prefix('/')?.strip_prefix(service);
    match (&match_spec.service, &match_spec.call) {
        (None, None) => Some(true),
        (Some(TextMatch::Exact(service)), Some(TextMatch::Exact(call))) => {
            Some(below(service).and_then(|rest| rest.strip_prefix('/')) == Some(call.as_str()))
        }
        (Some(TextMatch::Exact(service)), None) => Some(below(service).is_some_and(|rest| {
            let is_whole = rest.is_empty() && calls == GrpcCallsAsPaths::Elements;
            is_whole || rest.starts_with('/')
        })),
        (None, Some(TextMatch::Exact(call))) => {
            let service = path.strip_suffix(call.as_str());
            let service = service.and_then(|rest| rest.strip_prefix('/')?.strip_suffix('/'));
            Some(service.is_some_and(|service| {
                let is_one = !service.contains('/');
                !service.is_empty() && (is_one || calls == GrpcCallsAsPaths::Elements)
            }))
        }
        (Some(service), Some(call)) => expression(service.value(), call.value()),
        (Some(service), None) => expression(service.value(), ".+"),
        (None, Some(call)) => expression(any_service, call.value()),
    }
}

fn headers(
    match_spec: &MatchSpec,
    request: &Request,
    unknown: &mut Option<String>,
) -> Result<(), Mismatch> {
    for (name, text) in &match_spec.headers {
        let words = || pair("header", name, text);
        let covered = request
            .header(name)
            .map_or(Some(false), |v| text.covers(&v));
        match covered {
            Some(true) => {}
            Some(false) => {
                return Err(Mismatch {
                    at: Aspect::Headers,
                    match_spec: words(),
                });
            }
            None => *unknown = unknown.take().or_else(|| Some(words())),
        }
    }
    Ok(())
}

fn pair(what: &str, name: &str, text: &TextMatch) -> String {
    let sign = if text.is_expression() { "=~" } else { "=" };
    format!("{what} {name}{sign}{}", text.value())
}

fn no(at: Aspect, match_spec: String) -> Evaluation {
    Evaluation::No(Mismatch { at, match_spec })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::GrpcCallsAsPaths::{Calls, Elements};
    use super::{Aspect, Evaluation, RuleOrder, grpc, grpc_path, http};
    use crate::routing::request::Request;
    use crate::routing::spec::{RouteProtocol, rules};

    fn request(path: &str, method: &str, query: &str) -> Request {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        Request {
            path: path.to_owned(),
            method: Some(method.to_owned()),
            query: query.split_whitespace().map(pair).collect(),
            headers: vec![
                ("Version".into(), "v2".into()),
                ("env".into(), "test".into()),
            ],
            ..Request::default()
        }
    }

    fn held(route_protocol: RouteProtocol, match_spec: &Value, request: &Request) -> Evaluation {
        let spec = json!({"rules": [{"matches": [match_spec]}]}).to_string();
        let match_spec = rules(route_protocol, &spec)
            .unwrap()
            .remove(0)
            .matches
            .remove(0);
        match route_protocol {
            RouteProtocol::Grpc => grpc(&match_spec.unwrap(), request),
            _ => http(&match_spec.unwrap(), request, RuleOrder::default()),
        }
    }

    #[test]
    fn all_conditions_of_a_match_must_hold_and_the_first_failing_one_is_named() {
        let request = request("/foo/bar", "GET", "a=1 b=2");
        let path = json!({"value": "/foo"});
        for (match_spec, against) in [
            (json!({"path": path}), None),
            (json!({"path": path, "method": "GET"}), None),
            (
                json!({"headers": [{"name": "version", "value": "v2"}, {"name": "env", "value": "test"}]}),
                None,
            ),
            (json!({"queryParams": [{"name": "a", "value": "1"}]}), None),
            (
                json!({"headers": [{"name": "env", "type": "RegularExpression", "value": "te.*"}]}),
                None,
            ),
            (
                json!({"path": {"value": "/x"}, "method": "POST"}),
                Some((Aspect::Path, "PathPrefix /x")),
            ),
            (
                json!({"path": path, "method": "POST"}),
                Some((Aspect::Method, "method POST")),
            ),
            (
                json!({"headers": [{"name": "version", "value": "V2"}]}),
                Some((Aspect::Headers, "header version=V2")),
            ),
            (
                json!({"headers": [{"name": "other", "type": "RegularExpression", "value": ".*"}]}),
                Some((Aspect::Headers, "header other=~.*")),
            ),
            (
                json!({"queryParams": [{"name": "A", "value": "1"}]}),
                Some((Aspect::Params, "query parameter A=1")),
            ),
        ] {
            let failing = match held(RouteProtocol::Http, &match_spec, &request) {
                Evaluation::Yes => None,
                Evaluation::No(against) => Some((against.at, against.match_spec)),
                Evaluation::Unknown(why) => panic!("{why}"),
            };
            let against = against.map(|(at, words)| (at, words.to_owned()));
            assert_eq!(failing, against, "{match_spec}");
        }
    }

    #[test]
    fn an_expression_that_cannot_be_read_leaves_it_open_unless_something_else_speaks_against_it() {
        let header = json!({"name": "env", "type": "RegularExpression", "value": "(?=t)"});
        let match_spec = json!({"headers": [header]});
        let open = held(RouteProtocol::Http, &match_spec, &request("/", "GET", ""));
        assert_eq!(open, Evaluation::Unknown("header env=~(?=t)".into()));
        let match_spec = json!({"headers": [header], "queryParams": [{"name": "a", "value": "1"}]});
        let not = held(RouteProtocol::Http, &match_spec, &request("/", "GET", ""));
        assert!(matches!(not, Evaluation::No(against) if against.at == Aspect::Params));
    }

    #[test]
    fn a_path_may_stand_for_a_grpc_call() {
        for (service, call, path, elements, calls) in [
            (None, None, "/", true, true),
            (Some("a.B"), None, "/a.B", true, false),
            (Some("a.B"), None, "/a.B/C/d", true, true),
            (Some("a.B"), None, "/a.Bc/C", false, false),
            (Some("a.B"), Some("C"), "/a.B/C", true, true),
            (Some("a.B"), Some("C"), "/a.B/C/d", false, false),
            (None, Some("C"), "/a.B/C", true, true),
            (None, Some("C"), "/x/a.B/C", true, false),
            (None, Some("C"), "/C", false, false),
        ] {
            let match_spec = json!({"method": {"service": service, "method": call}}).to_string();
            let spec = format!(r#"{{"rules": [{{"matches": [{match_spec}]}}]}}"#);
            let match_spec = rules(RouteProtocol::Grpc, &spec)
                .unwrap()
                .remove(0)
                .matches
                .remove(0)
                .unwrap();
            for (as_paths, expected) in [(Elements, elements), (Calls, calls)] {
                let result = grpc_path(&match_spec, &request(path, "GET", ""), as_paths);
                assert_eq!(
                    result == Evaluation::Yes,
                    expected,
                    "{service:?} {call:?} {path} {as_paths:?}"
                );
            }
        }
    }

    #[test]
    fn grpc_matches_by_service_and_method() {
        let call = request("/shop.Cart/Add", "POST", "");
        for (method, holds) in [
            (json!({"service": "shop.Cart", "method": "Add"}), true),
            (json!({"service": "shop.Cart"}), true),
            (json!({"method": "Add"}), true),
            (json!({"service": "", "method": "Add"}), true),
            (json!({"service": "shop", "method": "Add"}), false),
            (json!({"service": "shop.Cart", "method": "add"}), false),
            (
                json!({"type": "RegularExpression", "service": "shop\\..*"}),
                true,
            ),
        ] {
            let result = held(RouteProtocol::Grpc, &json!({"method": method}), &call);
            assert_eq!(result == Evaluation::Yes, holds, "{method}");
        }
        let plain = request("/shop", "POST", "");
        assert!(held(RouteProtocol::Grpc, &json!({}), &call) == Evaluation::Yes);
        assert!(matches!(
            held(RouteProtocol::Grpc, &json!({}), &plain),
            Evaluation::No(_)
        ));
    }
}
