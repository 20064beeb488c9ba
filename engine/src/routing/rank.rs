//! Ranks rules that match a request by the criteria of the Gateway API.

use std::cmp::Ordering;
use std::cmp::Ordering::{Equal, Less};

use schemars::JsonSchema;
use serde::Serialize;

use super::hostname::Fit;
use super::path::Depth;
use super::spec::MatchSpec;
use crate::model::object::Object;
use crate::policy::Precedence;

/// Why a rule loses to the one that takes the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Criterion {
    /// It is attached to a listener whose hostname is less specific.
    Listener,
    /// Its listener has the same port, protocol and hostname as another.
    ListenerConflict,
    /// Routes of two kinds cannot share a hostname of a listener, or a Service.
    RouteKind,
    /// Routes in the namespace of the client take precedence over those in the namespace of the Service.
    Consumer,
    /// The hostname is less specific.
    Hostname,
    /// The path is less specific.
    Path,
    /// The gRPC service has fewer characters.
    GrpcService,
    /// The gRPC method has fewer characters.
    GrpcMethod,
    /// It does not match on the method.
    Method,
    /// It matches on fewer headers.
    Headers,
    /// It matches on fewer query parameters.
    QueryParams,
    /// The route is younger.
    Age,
    /// The route comes later in the order of `namespace/name`.
    Name,
    /// The rule comes later in the route.
    RuleOrder,
    /// The listener does not accept the route.
    NotAttached,
    /// It contains a match that attache cannot evaluate, so it might win.
    NotEvaluated,
}

/// How specific a rule is for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rank {
    /// The hostname.
    pub(super) hostname: Fit,
    /// The index of the route's kind in [`KINDS`]; the lower wins.
    pub(super) kind: usize,
    /// The path.
    pub(super) path: Option<Depth>,
    /// Length of the gRPC service, if it is matched exactly.
    pub(super) service: usize,
    /// Length of the gRPC method, if it is matched exactly.
    pub(super) call: usize,
    /// Whether the match has a method.
    pub(super) method: bool,
    /// The number of headers in the match.
    pub(super) headers: usize,
    /// The number of query parameters in the match.
    pub(super) params: usize,
}

/// The rank of a matching rule, with its tie-breakers.
#[derive(Clone, Debug)]
pub(super) struct RankedRule {
    /// How specific it is.
    pub(super) rank: Rank,
    /// The age and name of its route.
    pub(super) precedence: Precedence,
    /// The index of the rule in its route.
    pub(super) rule: usize,
}

/// Kinds of routes, in order of precedence: if routes of several kinds are attached to a Service, only those of the
/// first kind apply.
pub(super) const KINDS: [&str; 5] = ["GRPCRoute", "HTTPRoute", "TLSRoute", "TCPRoute", "UDPRoute"];

/// The index of a route's kind in [`KINDS`].
pub(super) fn kind_of(route: &Object) -> usize {
    let mut kinds = KINDS.iter();
    let place = kinds.position(|kind| route.key.gk.is_gateway_api(kind));
    place.unwrap_or(KINDS.len())
}

// === impl Rank ===

impl Rank {
    /// The rank of a match.
    pub(super) fn of(hostname: Fit, kind: usize, wants: &MatchSpec) -> Self {
        let characters = |text: &Option<super::text_match::Text>| match text {
            Some(text) if !text.is_expression() => text.value().chars().count(),
            _ => 0,
        };
        Self {
            hostname,
            kind,
            path: wants.path.as_ref().map(super::path::Path::depth),
            service: characters(&wants.service),
            call: characters(&wants.call),
            method: wants.method.is_some(),
            headers: wants.headers.len(),
            params: wants.params.len(),
        }
    }

    /// The first criterion by which two ranks differ, and their order: the winner is less.
    pub(super) fn compare(&self, other: &Self) -> Option<(Criterion, Ordering)> {
        // More specific values are larger and come first.
        let criteria = [
            (Criterion::Hostname, other.hostname.cmp(&self.hostname)),
            (Criterion::RouteKind, self.kind.cmp(&other.kind)),
            (Criterion::Path, other.path.cmp(&self.path)),
            (Criterion::GrpcService, other.service.cmp(&self.service)),
            (Criterion::GrpcMethod, other.call.cmp(&self.call)),
            (Criterion::Method, other.method.cmp(&self.method)),
            (Criterion::Headers, other.headers.cmp(&self.headers)),
            (Criterion::QueryParams, other.params.cmp(&self.params)),
        ];
        criteria.into_iter().find(|(_, order)| *order != Equal)
    }
}

// === impl RankedRule ===

impl RankedRule {
    /// The criterion that decides between two rules, and their order: the winner is less.
    pub(super) fn compare(&self, other: &Self) -> (Criterion, Ordering) {
        if let Some(decided) = self.rank.compare(&other.rank) {
            return decided;
        }
        match self.precedence.cmp(&other.precedence) {
            Equal => (Criterion::RuleOrder, self.rule.cmp(&other.rule)),
            order if self.precedence.same_age(&other.precedence) => (Criterion::Name, order),
            order => (Criterion::Age, order),
        }
    }

    /// Whether it wins against the other.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        self.compare(other).1 == Less
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::Less;

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::{Criterion, Fit, Rank, RankedRule, kind_of};
    use crate::model::ids::GroupKind;
    use crate::model::object::Object;
    use crate::policy::Precedence;
    use crate::routing::hostname::fit;
    use crate::routing::spec::{Dialect, rules};

    fn http(wants: &serde_json::Value) -> Rank {
        let spec = json!({"rules": [{"matches": [wants]}]}).to_string();
        let wants = rules(Dialect::Http, &spec)
            .unwrap()
            .remove(0)
            .matches
            .remove(0);
        Rank::of(Fit::default(), 1, &wants.unwrap())
    }

    fn grpc(service: &str, method: &str, headers: &[&str]) -> Rank {
        let headers: Vec<_> = headers
            .iter()
            .map(|h| json!({"name": h, "value": "x"}))
            .collect();
        let wants = json!({"method": {"service": service, "method": method}, "headers": headers});
        let spec = json!({"rules": [{"matches": [wants]}]}).to_string();
        let wants = rules(Dialect::Grpc, &spec)
            .unwrap()
            .remove(0)
            .matches
            .remove(0);
        Rank::of(Fit::default(), 0, &wants.unwrap())
    }

    fn decides(first: &Rank, second: &Rank, by: Criterion) {
        assert_eq!(
            first.compare(second),
            Some((by, Less)),
            "{first:?} {second:?}"
        );
        assert_eq!(second.compare(first).map(|(by, _)| by), Some(by));
    }

    /// The order in the definition of `HTTPRoute`: each entry wins against all later ones.
    #[test]
    fn http_matches_in_the_order_of_the_specification() {
        let header = |n: usize| -> Vec<_> {
            (0..n)
                .map(|i| json!({"name": format!("h{i}"), "value": "x"}))
                .collect()
        };
        let order = [
            (
                json!({"path": {"type": "Exact", "value": "/a"}, "method": "GET"}),
                Criterion::Method,
            ),
            (
                json!({"path": {"type": "Exact", "value": "/a"}}),
                Criterion::Path,
            ),
            (json!({"path": {"value": "/a/b"}}), Criterion::Path),
            (
                json!({"path": {"value": "/a"}, "method": "GET"}),
                Criterion::Method,
            ),
            (
                json!({"path": {"value": "/a"}, "headers": header(2)}),
                Criterion::Headers,
            ),
            (
                json!({"path": {"value": "/a"}, "headers": header(1), "queryParams": header(1)}),
                Criterion::QueryParams,
            ),
            (
                json!({"path": {"value": "/a"}, "headers": header(1)}),
                Criterion::Headers,
            ),
            (
                json!({"path": {"value": "/a"}, "queryParams": header(3)}),
                Criterion::QueryParams,
            ),
            (
                json!({"path": {"value": "/a"}, "queryParams": header(2)}),
                Criterion::Path,
            ),
            (json!({"headers": header(5)}), Criterion::Headers),
            (json!({}), Criterion::Path),
            (
                json!({"path": {"type": "RegularExpression", "value": "/a/b/c"}, "method": "GET"}),
                Criterion::Path,
            ),
        ];
        for pair in order.windows(2) {
            let [(first, by), (second, _)] = pair else {
                unreachable!()
            };
            decides(&http(first), &http(second), *by);
        }
    }

    /// The order in the definition of `GRPCRoute`.
    #[test]
    fn grpc_matches_in_the_order_of_the_specification() {
        let order = [
            (grpc("shop.Cart", "Add", &["a"]), Criterion::Headers),
            (grpc("shop.Cart", "Add", &[]), Criterion::GrpcMethod),
            (grpc("shop.Cart", "", &["a", "b"]), Criterion::GrpcService),
            (grpc("", "AddEverything", &[]), Criterion::GrpcMethod),
            (grpc("", "Add", &[]), Criterion::GrpcMethod),
        ];
        for pair in order.windows(2) {
            let [(first, by), (second, _)] = pair else {
                unreachable!()
            };
            decides(first, second, *by);
        }
    }

    #[test]
    fn the_hostname_goes_before_everything_in_a_match() {
        let host = "a.shop.example.com";
        let patterns = ["a.shop.example.com", "*.shop.example.com", "*.example.com"];
        let fits = patterns.map(|pattern| fit(pattern, host).unwrap());
        let exact_path = http(&json!({"path": {"type": "Exact", "value": "/"}, "method": "GET"}));
        let with = |hostname| Rank {
            hostname,
            ..Rank::default()
        };
        decides(
            &with(fits[0]),
            &Rank {
                hostname: fits[1],
                ..exact_path
            },
            Criterion::Hostname,
        );
        decides(
            &with(fits[1]),
            &Rank {
                hostname: fits[2],
                ..exact_path
            },
            Criterion::Hostname,
        );
        decides(&with(fits[2]), &exact_path, Criterion::Hostname);
    }

    #[test]
    fn ties_go_to_the_older_route_then_the_name_then_the_first_rule() {
        let route = |name: &str, namespace: &str, created: Option<&str>| {
            let json = json!({"metadata": {"name": name, "namespace": namespace, "creationTimestamp": created}});
            let gk = GroupKind::gateway_api("HTTPRoute");
            Object::from_json(&gk, &to_raw_value(&json).unwrap()).unwrap()
        };
        let standing = |route: &Object, rule| RankedRule {
            rank: Rank {
                kind: kind_of(route),
                ..Rank::default()
            },
            precedence: Precedence::of(route),
            rule,
        };
        let (old, young) = (Some("2024-01-01T00:00:00Z"), Some("2024-01-01T00:00:01Z"));
        for (first, second, by) in [
            (
                standing(&route("z", "z", old), 7),
                standing(&route("a", "a", young), 0),
                Criterion::Age,
            ),
            (
                standing(&route("z", "z", old), 7),
                standing(&route("a", "a", None), 0),
                Criterion::Age,
            ),
            (
                standing(&route("a", "x", old), 7),
                standing(&route("b", "x", old), 0),
                Criterion::Name,
            ),
            // Namespace and name are compared as one string: `-` sorts before `/`.
            (
                standing(&route("x", "a-b", old), 7),
                standing(&route("x", "a", old), 0),
                Criterion::Name,
            ),
            (
                standing(&route("a", "x", old), 1),
                standing(&route("a", "x", old), 2),
                Criterion::RuleOrder,
            ),
        ] {
            assert_eq!(first.compare(&second), (by, Less));
            assert!(first.is_before(&second) && !second.is_before(&first));
        }
    }
}
