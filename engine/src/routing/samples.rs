//! Requests that meet the matches of a route and no more, to see which rule takes them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Matching;
use super::choose::route_protocol;
use super::expression_example::{example, examples};
use super::path::Path;
use super::request::{Request, Scheme};
use super::spec::{MatchSpec, RouteProtocol};
use super::text_match::TextMatch;
use crate::attachment::rejection::{RequestEntry, entries};
use crate::model::ids::ObjectKey;
use crate::model::object::Object;
use crate::topology::RouteKindConflicts;

/// A host of no route, for routes that serve any host.
const ANY_HOST: &str = "any-host.invalid";
/// The last element of a path below a prefix.
pub(super) const ANY_PATH: &str = "any-path";
/// A value for any value.
const ANY_VALUE: &str = "any";

/// The header by which a gRPC call is known.
const CONTENT_TYPE: &str = "content-type";

/// A request that meets a match of a route and no more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SampleRequest {
    /// The Gateway that it arrives at.
    pub gateway: ObjectKey,
    /// The request.
    pub request: Request,
    /// The hostname that its host stands for: `*.example.com`, or `*` for any.
    pub hostname: String,
}

/// The properties of requests to a route: where they arrive, and one of its matches.
#[derive(Debug)]
pub struct SampledRoute {
    pub(super) route_protocol: RouteProtocol,
    /// Gateways, ports and hostnames.
    pub(super) entries: BTreeSet<RequestEntry>,
    pub(super) match_spec: Vec<MatchSpec>,
}

impl Matching<'_> {
    /// The properties of requests to a route, by the matches of it that can be read.
    pub fn sampled(
        &self,
        route_kind_conflicts: &mut RouteKindConflicts<'_>,
        route: &Arc<Object>,
    ) -> SampledRoute {
        let match_spec = self.match_specs(route).into_iter().flatten();
        SampledRoute {
            route_protocol: route_protocol(route),
            entries: entries(route_kind_conflicts, route),
            match_spec: match_spec.filter_map(Result::ok).collect(),
        }
    }
}

// === impl SampledRoute ===

impl SampledRoute {
    /// Requests for each match, hostname and port of the route: for a prefix of paths, the prefix itself and a path below
    /// it; for a match of every method, also one with each of `methods`. None for regular expressions without an
    /// example, and for a route that is not attached to a Gateway.
    pub fn samples(&self, methods: &[String]) -> Vec<SampleRequest> {
        let meeting = |match_spec| meeting(self.route_protocol, match_spec, methods);
        let requests: Vec<Request> = self.match_spec.iter().flat_map(meeting).collect();
        at_each(&self.entries, &requests)
    }
}

/// Methods to compare where matches name others.
const METHODS: [&str; 5] = ["POST", "DELETE", "PUT", "PATCH", "GET"];

/// The methods that matches name, and one that none of them names; none if they name none.
pub fn methods(named: impl Iterator<Item = String>) -> Vec<String> {
    let named: BTreeSet<String> = named.collect();
    if named.is_empty() {
        return Vec::new();
    }
    let other = METHODS.iter().find(|method| !named.contains(**method));
    let other = other.map(|method| (*method).to_owned());
    named.into_iter().chain(other).collect()
}

/// Each request at each entry.
pub(super) fn at_each(
    entries: &BTreeSet<RequestEntry>,
    requests: &[Request],
) -> Vec<SampleRequest> {
    let samples = entries.iter().flat_map(|entry| {
        let requests = requests.iter();
        requests.map(move |request| SampleRequest::at(entry, request))
    });
    samples.collect()
}

/// Requests that meet a match; none if an expression without an example decides.
pub(super) fn meeting(
    route_protocol: RouteProtocol,
    match_spec: &MatchSpec,
    methods: &[String],
) -> Vec<Request> {
    let Some(request) = besides_path(route_protocol, match_spec) else {
        return Vec::new();
    };
    let paths = paths(route_protocol, match_spec);
    let others: &[String] = if request.method.is_none() {
        methods
    } else {
        &[]
    };
    let methods = others.iter().cloned().map(Some);
    let methods = std::iter::once(request.method.clone()).chain(methods);
    let request = &request;
    let requests = methods.flat_map(|method| {
        paths.iter().map(move |path| Request {
            path: path.clone(),
            method: method.clone(),
            ..request.clone()
        })
    });
    requests.collect()
}

/// Paths that a match takes: of a prefix, itself and one below it; of an expression, one for each alternative.
fn paths(route_protocol: RouteProtocol, match_spec: &MatchSpec) -> Vec<String> {
    match (&match_spec.path, route_protocol) {
        (Some(Path::Exact(path)), _) => vec![path.clone()],
        (Some(Path::Prefix(prefix)), _) => {
            let below = format!("{}/{ANY_PATH}", prefix.trim_end_matches('/'));
            vec![prefix.clone(), below]
        }
        (Some(Path::Expression(expression)), _) => {
            let paths = examples(expression, ANY_PATH);
            paths.filter(|path| path.starts_with('/')).collect()
        }
        (None, RouteProtocol::Grpc) => {
            let calls = values(match_spec.call.as_ref());
            let services = values(match_spec.service.as_ref()).into_iter();
            let paths = services.flat_map(|service| {
                let calls = calls.iter();
                calls.map(move |call| format!("/{service}/{call}"))
            });
            paths.collect()
        }
        (None, RouteProtocol::Http | RouteProtocol::None) => vec!["/".to_owned()],
    }
}

/// Values that a match of the service or method of a gRPC call takes.
fn values(text: Option<&TextMatch>) -> Vec<String> {
    match text {
        None => vec!["Any".to_owned()],
        Some(TextMatch::Exact(value)) => vec![value.clone()],
        Some(TextMatch::Expression(expression)) => examples(expression, ANY_VALUE).collect(),
    }
}

/// A request that meets the conditions of a match other than that on the path.
fn besides_path(route_protocol: RouteProtocol, match_spec: &MatchSpec) -> Option<Request> {
    let exact = |text: &TextMatch| match text {
        TextMatch::Exact(value) => Some(value.clone()),
        TextMatch::Expression(expression) => example(expression, ANY_VALUE),
    };
    let pairs = |all: &[(String, TextMatch)]| {
        let pairs = all
            .iter()
            .map(|(name, text)| Some((name.clone(), exact(text)?)));
        pairs.collect::<Option<Vec<_>>>()
    };
    let mut headers = pairs(&match_spec.headers)?;
    let method = match route_protocol {
        RouteProtocol::Grpc => {
            headers.push((CONTENT_TYPE.to_owned(), "application/grpc".to_owned()));
            Some("POST".to_owned())
        }
        RouteProtocol::Http | RouteProtocol::None => match_spec.method.clone(),
    };
    Some(Request {
        method,
        query: pairs(&match_spec.params)?,
        headers,
        ..Request::default()
    })
}

// === impl SampleRequest ===

impl SampleRequest {
    /// A request at a Gateway, a port and a hostname; the empty one is every host.
    fn at((gateway, port, hostname): &RequestEntry, request: &Request) -> Self {
        let (host, hostname) = match hostname.strip_prefix('*') {
            Some(suffix) => (format!("any-host{suffix}"), hostname.to_string()),
            None if hostname.is_empty() => (ANY_HOST.to_owned(), "*".to_owned()),
            None => (hostname.to_string(), hostname.to_string()),
        };
        Self {
            gateway: gateway.clone(),
            request: Request {
                host: Some(host),
                port: Some(*port),
                ..request.clone()
            },
            hostname,
        }
    }

    /// The request in words: `POST shop.example.com/admin?a=b with header x-stage: test`.
    pub fn text(&self) -> String {
        let usual = [Scheme::Http, Scheme::Https].map(Scheme::port);
        let is_usual = usual.contains(&self.request.port);
        self.words_at(self.request.port.filter(|_| !is_usual))
    }

    /// The request in words, with its port: `shop.example.com:80/admin`.
    pub fn words_with_port(&self) -> String {
        self.words_at(self.request.port)
    }

    fn words_at(&self, port: Option<u16>) -> String {
        let request = &self.request;
        let method = request.method.iter().map(|method| format!("{method} "));
        let port = port.into_iter().map(|port| format!(":{port}"));
        let path = match request.path.strip_suffix(ANY_PATH) {
            Some(prefix) => format!("{prefix}*"),
            None => request.path.clone(),
        };
        let query = joined("?", "&", request.query.iter(), "=");
        let headers = request.headers.iter();
        let headers = headers.filter(|(name, _)| name != CONTENT_TYPE);
        let headers = joined(" with header ", ", ", headers, ": ");
        let host = self.hostname.clone();
        let parts = method.chain([host]).chain(port);
        parts.chain([path, query, headers]).collect()
    }
}

/// Names and values, after a text if there are any.
fn joined<'a>(
    before: &str,
    between: &str,
    pairs: impl Iterator<Item = &'a (String, String)>,
    is: &str,
) -> String {
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{name}{is}{value}"))
        .collect();
    if pairs.is_empty() {
        return String::new();
    }
    format!("{before}{}", pairs.join(between))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::spec::{RouteProtocol, rules};
    use super::{SampleRequest, meeting};
    use crate::model::ids::{GroupKind, ObjectKey};

    fn words(route_protocol: RouteProtocol, match_spec: &Value) -> Vec<String> {
        let spec = json!({"rules": [{"matches": [match_spec]}]}).to_string();
        let rule = rules(route_protocol, &spec).unwrap().remove(0);
        let match_spec = rule.matches[0].as_ref().unwrap();
        let requests = meeting(route_protocol, match_spec, &["PUT".to_owned()]).into_iter();
        let samples = requests.map(|request| SampleRequest {
            gateway: ObjectKey::new(GroupKind::gateway_api("Gateway"), "a", "b"),
            request,
            hostname: "*.example.com".to_owned(),
        });
        samples.map(|sample| sample.text()).collect()
    }

    #[test]
    fn a_request_meets_the_match_and_no_more() {
        let exact = json!({"type": "Exact", "value": "/"});
        let headers = json!([{"name": "X-A", "value": "1"}]);
        let params = json!([{"name": "q", "value": "2"}]);
        let both = json!({"path": exact, "headers": headers, "queryParams": params});
        let cases = [
            (
                json!({}),
                vec![
                    "*.example.com/",
                    "*.example.com/*",
                    "PUT *.example.com/",
                    "PUT *.example.com/*",
                ],
            ),
            (
                json!({"path": {"value": "/a/"}, "method": "PUT"}),
                vec!["PUT *.example.com/a/", "PUT *.example.com/a/*"],
            ),
            (
                both,
                vec![
                    "*.example.com/?q=2 with header X-A: 1",
                    "PUT *.example.com/?q=2 with header X-A: 1",
                ],
            ),
        ];
        for (match_spec, expected) in cases {
            assert_eq!(words(RouteProtocol::Http, &match_spec), expected);
        }
        let call = json!({"method": {"service": "shop.Cart"}});
        let expected = ["POST *.example.com/shop.Cart/Any"];
        assert_eq!(words(RouteProtocol::Grpc, &call), expected);
    }

    #[test]
    fn an_expression_has_an_example() {
        let path = json!({"type": "RegularExpression", "value": "/a/.*"});
        let header = json!({"name": "a", "type": "RegularExpression", "value": "b+"});
        let both = json!({"path": path, "headers": [header], "method": "PUT"});
        let expected = ["PUT *.example.com/a/* with header a: b"];
        assert_eq!(words(RouteProtocol::Http, &both), expected);
        let path = json!({"path": {"type": "RegularExpression", "value": "("}});
        assert!(words(RouteProtocol::Http, &path).is_empty());
    }
}
