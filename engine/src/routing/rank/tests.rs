//! Tests of the orders.

use std::cmp::Ordering::Less;

use serde_json::json;
use serde_json::value::to_raw_value;

use super::{Rank, RankContext, RankedRule, Reason, RuleOrder, kind_of};
use crate::kinds::profile::Builtin;
use crate::model::ids::GroupKind;
use crate::model::object::Object;
use crate::policy::Precedence;
use crate::routing::hostname::specificity;
use crate::routing::spec::{MatchSpec, RouteProtocol, rules};

fn match_spec(route_protocol: RouteProtocol, match_spec: &serde_json::Value) -> MatchSpec {
    let spec = json!({"rules": [{"matches": [match_spec]}]}).to_string();
    let mut rules = rules(route_protocol, &spec).unwrap();
    rules.remove(0).matches.remove(0).unwrap()
}

fn by(route_protocol: RouteProtocol, order: RuleOrder, json: &serde_json::Value) -> Rank {
    // HTTPRoutes come after GRPCRoutes.
    let kind = usize::from(route_protocol == RouteProtocol::Http);
    let context = RankContext {
        kind,
        order,
        ..RankContext::default()
    };
    Rank::for_match(&match_spec(route_protocol, json), context)
}

fn http_by(order: RuleOrder, json: &serde_json::Value) -> Rank {
    by(RouteProtocol::Http, order, json)
}

fn grpc_by(order: RuleOrder, json: &serde_json::Value) -> Rank {
    by(RouteProtocol::Grpc, order, json)
}

fn path(kind: &str, value: &str) -> serde_json::Value {
    json!({"path": {"type": kind, "value": value}})
}

fn http(json: &serde_json::Value) -> Rank {
    http_by(RuleOrder::default(), json)
}

fn grpc(service: &str, method: &str, headers: &[&str]) -> Rank {
    let headers: Vec<_> = headers
        .iter()
        .map(|h| json!({"name": h, "value": "x"}))
        .collect();
    let match_spec = json!({"method": {"service": service, "method": method}, "headers": headers});
    grpc_by(RuleOrder::default(), &match_spec)
}

/// The order of a controller whose facts are built in.
fn order_of(controller: &str) -> RuleOrder {
    let all = Builtin::read().unwrap().controllers;
    let known = all.into_iter().find(|facts| facts.name == controller);
    known.unwrap().rule_order
}

fn decides(first: &Rank, second: &Rank, by: Reason) {
    assert_eq!(
        first.compare(second),
        Some((by, Less)),
        "{first:?} {second:?}"
    );
    assert_eq!(second.compare(first).map(|(by, _)| by), Some(by));
}

/// The order in the CRD of `HTTPRoute`: each entry wins against all later ones.
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
            Reason::Method,
        ),
        (
            json!({"path": {"type": "Exact", "value": "/a"}}),
            Reason::Path,
        ),
        (json!({"path": {"value": "/a/b"}}), Reason::Path),
        (
            json!({"path": {"value": "/a"}, "method": "GET"}),
            Reason::Method,
        ),
        (
            json!({"path": {"value": "/a"}, "headers": header(2)}),
            Reason::Headers,
        ),
        (
            json!({"path": {"value": "/a"}, "headers": header(1), "queryParams": header(1)}),
            Reason::Params,
        ),
        (
            json!({"path": {"value": "/a"}, "headers": header(1)}),
            Reason::Headers,
        ),
        (
            json!({"path": {"value": "/a"}, "queryParams": header(3)}),
            Reason::Params,
        ),
        (
            json!({"path": {"value": "/a"}, "queryParams": header(2)}),
            Reason::Path,
        ),
        (json!({"headers": header(5)}), Reason::Headers),
        (json!({}), Reason::Path),
        (
            json!({"path": {"type": "RegularExpression", "value": "/a/b/c"}, "method": "GET"}),
            Reason::Path,
        ),
    ];
    for pair in order.windows(2) {
        let [(first, by), (second, _)] = pair else {
            unreachable!()
        };
        decides(&http(first), &http(second), *by);
    }
}

/// The order in the CRD of `GRPCRoute`.
#[test]
fn grpc_matches_in_the_order_of_the_specification() {
    let order = [
        (grpc("shop.Cart", "Add", &["a"]), Reason::Headers),
        (grpc("shop.Cart", "Add", &[]), Reason::Call),
        (grpc("shop.Cart", "", &["a", "b"]), Reason::Service),
        (grpc("", "AddEverything", &[]), Reason::Call),
        (grpc("", "Add", &[]), Reason::Call),
    ];
    for pair in order.windows(2) {
        let [(first, by), (second, _)] = pair else {
            unreachable!()
        };
        decides(first, second, *by);
    }
}

/// `internal/gatewayapi/sort.go` of Envoy Gateway v1.9.1.
#[test]
fn envoy_gateway_has_one_list_and_counts_methods_as_headers() {
    let order = order_of("gateway.envoyproxy.io/gatewayclass-controller");
    let call =
        |service: &str, method: &str| json!({"method": {"service": service, "method": method}});
    let named = |kind: &str, name: &str| json!({"type": kind, "name": name, "value": "x"});
    let http = |json: serde_json::Value| http_by(order, &json);
    let grpc = |json: serde_json::Value| grpc_by(order, &json);
    for (first, second, by) in [
        (
            http(path("Exact", "/a.B/C")),
            grpc(call("a.B", "")),
            Reason::Path,
        ),
        (
            http(path("Exact", "/a.B/C")),
            grpc(call("a.B", "C")),
            Reason::Kind,
        ),
        (
            grpc(call("a.B", "C")),
            http(path("PathPrefix", "/a.B/C")),
            Reason::Path,
        ),
        (
            http(path("PathPrefix", "/a.B")),
            grpc(call("", "C")),
            Reason::Path,
        ),
        (grpc(call("", "C")), http(json!({})), Reason::Headers),
        (
            http(path("Exact", "/a")),
            http(path("RegularExpression", "/a")),
            Reason::Path,
        ),
        (
            http(path("RegularExpression", "/a.*")),
            http(path("PathPrefix", "/abc")),
            Reason::Path,
        ),
        (
            http(path("RegularExpression", "/a.*")),
            http(path("RegularExpression", "/.*")),
            Reason::Path,
        ),
        (
            http(json!({"headers": [named("Exact", "a"), named("Exact", "b")]})),
            http(json!({"method": "GET"})),
            Reason::Headers,
        ),
        (
            http(json!({"method": "GET"})),
            http(json!({"headers": [named("RegularExpression", "a")]})),
            Reason::ExactHeaders,
        ),
        (
            http(json!({"queryParams": [named("Exact", "a")]})),
            http(json!({"queryParams": [named("RegularExpression", "a")]})),
            Reason::ExactParams,
        ),
    ] {
        decides(&first, &second, by);
    }
    let (method, header) = (
        json!({"method": "GET"}),
        json!({"headers": [named("Exact", "a")]}),
    );
    assert_eq!(http(method).compare(&http(header)), None);
}

/// `pkg/kgateway/translator/routeutils/sortable_route.go` of kgateway v2.2.0.
#[test]
fn kgateway_has_one_list_with_the_method_before_headers() {
    let order = order_of("kgateway.dev/kgateway");
    let expression = http_by(order, &path("RegularExpression", "/a.*"));
    let other = http_by(order, &path("RegularExpression", "/.*"));
    let prefix = http_by(order, &path("PathPrefix", "/a.B"));
    decides(&expression, &prefix, Reason::Path);
    assert_eq!(expression.compare(&other), None);
    let method_alone = grpc_by(order, &json!({"method": {"method": "C"}}));
    decides(&method_alone, &prefix, Reason::Path);
    let header = json!({"headers": [{"name": "a", "value": "x"}]});
    let method = http_by(order, &json!({"method": "GET"}));
    decides(&method, &http_by(order, &header), Reason::Method);
    let same = grpc_by(order, &json!({"method": {"service": "a.B"}}));
    assert_eq!(same.compare(&prefix), None);
}

/// `pilot/pkg/config/kube/gateway/conversion.go` and `pilot/pkg/networking/core/route` of Istio, commit eed52ebb66ad.
#[test]
fn istio_has_a_list_for_each_kind_and_hostname() {
    let order = order_of("istio.io/gateway-controller");
    let rank_in_list = |list: usize, path: serde_json::Value| {
        let context = RankContext {
            list,
            order,
            ..RankContext::default()
        };
        Rank::for_match(
            &match_spec(RouteProtocol::Http, &json!({"path": path})),
            context,
        )
    };
    let (exact, prefix) = (
        json!({"type": "Exact", "value": "/a"}),
        json!({"value": "/a"}),
    );
    let expression = json!({"type": "RegularExpression", "value": "/a.*"});
    decides(
        &rank_in_list(0, prefix.clone()),
        &rank_in_list(1, exact.clone()),
        Reason::List,
    );
    decides(
        &rank_in_list(0, exact),
        &rank_in_list(0, prefix.clone()),
        Reason::Path,
    );
    decides(
        &rank_in_list(0, prefix.clone()),
        &rank_in_list(0, expression),
        Reason::Path,
    );
    decides(
        &rank_in_list(1, prefix),
        &rank_in_list(0, json!({"value": "/"})),
        Reason::Everything,
    );
}

#[test]
fn the_hostname_goes_before_everything_in_a_match() {
    let host = "a.shop.example.com";
    let patterns = ["a.shop.example.com", "*.shop.example.com", "*.example.com"];
    let with = |pattern: Option<&str>, json: serde_json::Value| {
        let hostname = pattern.map(|pattern| specificity(pattern, host).unwrap());
        let hostname = hostname.unwrap_or_default();
        let context = RankContext {
            hostname,
            ..RankContext::default()
        };
        Rank::for_match(&match_spec(RouteProtocol::Http, &json), context)
    };
    let exact = json!({"path": {"type": "Exact", "value": "/"}, "method": "GET"});
    let hostnames = patterns.map(Some).into_iter().chain([None]);
    let hostnames: Vec<Option<&str>> = hostnames.collect();
    for pair in hostnames.windows(2) {
        let less = with(pair[1], exact.clone());
        decides(&with(pair[0], json!({})), &less, Reason::Hostname);
    }
}

#[test]
fn ties_go_to_the_older_route_then_the_name_then_the_first_rule() {
    let route = |name: &str, namespace: &str, created: Option<&str>| {
        let json = json!({"metadata": {"name": name, "namespace": namespace, "creationTimestamp": created}});
        let gk = GroupKind::gateway_api("HTTPRoute");
        Object::from_json(&gk, &to_raw_value(&json).unwrap()).unwrap()
    };
    let rank = |route: &Object, rule| {
        let kind = kind_of(route);
        let context = RankContext {
            kind,
            ..RankContext::default()
        };
        RankedRule {
            rank: Rank::for_match(&MatchSpec::default(), context),
            precedence: Precedence::of(route),
            own: Precedence::of(route),
            rule,
        }
    };
    let (old, young) = (Some("2024-01-01T00:00:00Z"), Some("2024-01-01T00:00:01Z"));
    for (first, second, by) in [
        (
            rank(&route("z", "z", old), 7),
            rank(&route("a", "a", young), 0),
            Reason::Age,
        ),
        (
            rank(&route("z", "z", old), 7),
            rank(&route("a", "a", None), 0),
            Reason::Age,
        ),
        (
            rank(&route("a", "x", old), 7),
            rank(&route("b", "x", old), 0),
            Reason::Name,
        ),
        // Namespace and name are compared as one string: `-` sorts before `/`.
        (
            rank(&route("x", "a-b", old), 7),
            rank(&route("x", "a", old), 0),
            Reason::Name,
        ),
        (
            rank(&route("a", "x", old), 1),
            rank(&route("a", "x", old), 2),
            Reason::RuleOrder,
        ),
    ] {
        assert_eq!(first.compare(&second), (by, Less));
        assert!(first.is_before(&second) && !second.is_before(&first));
    }
}
