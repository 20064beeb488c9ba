//! API discovery, in the old form and the aggregated one.

use attache::cache::api_error::ApiError;
use attache::cache::served::{Kind, Served};
use attache::engine::model::ids::GroupKind;
use serde_json::{Value, json};

use testing::api_server::Server;

const GATEWAY_API: &str = "gateway.networking.k8s.io";
const GROUPS: &str = "/apis";

fn answers_with(server: &Server, path: &str, answer: &Value) {
    server.answers(path, 200, &answer.to_string());
}

async fn asked(server: &Server) -> Served {
    Served::ask(&server.client()).await.unwrap()
}

/// An expected kind.
fn kind(versions: &[&str], plural: &str, aliases: &[&str], namespaced: bool) -> Kind {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
    Kind {
        versions: texts(versions),
        plural: plural.into(),
        aliases: texts(aliases),
        namespaced,
    }
}

fn names(found: &Served) -> Vec<String> {
    found.kinds().map(|(gk, _)| gk.to_string()).collect()
}

/// A group in the answer of an older server, its preferred version first.
fn group(name: &str, versions: &[&str]) -> Value {
    let version =
        |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let versions: Vec<Value> = versions.iter().map(version).collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions[0]})
}

fn older(groups: &[Value]) -> Value {
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn resources(group_version: &str, resources: &Value) -> Value {
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
}

/// A resource in the answer of an older server.
fn resource(name: &str, kind: &str, namespaced: bool, verbs: &[&str]) -> Value {
    json!({
        "name": name, "singularName": kind.to_lowercase(), "namespaced": namespaced,
        "kind": kind, "verbs": verbs,
    })
}

/// Before Kubernetes 1.27 the server lists only groups: each version of each group is asked for.
#[tokio::test(start_paused = true)]
async fn an_older_server_is_asked_for_each_version_of_each_group() {
    let server = Server::new();
    let groups = [
        group(GATEWAY_API, &["v1", "v1beta1"]),
        group("example.dev", &["v1alpha1"]),
        group("away.dev", &["v1"]),
        group("authorization.k8s.io", &["v1"]),
    ];
    answers_with(&server, GROUPS, &older(&groups));
    let group_path = |group: &str, version: &str| format!("{GROUPS}/{group}/{version}");
    let all = ["get", "list", "watch"];
    let mut routes = resource("httproutes", "HTTPRoute", true, &all);
    routes["shortNames"] = json!(["hr"]);
    let status = resource("httproutes/status", "HTTPRoute", true, &["get", "patch"]);
    let classes = resource("gatewayclasses", "GatewayClass", false, &all);
    // Not in the preferred version yet.
    let grants = resource("referencegrants", "ReferenceGrant", true, &all);
    let v1 = resources("v1", &json!([routes, status, classes]));
    answers_with(&server, &group_path(GATEWAY_API, "v1"), &v1);
    let v1beta1 = resources("v1beta1", &json!([routes, classes, grants]));
    answers_with(&server, &group_path(GATEWAY_API, "v1beta1"), &v1beta1);
    let policies = resources(
        "v1alpha1",
        &json!([resource("odd", "OddPolicy", true, &all)]),
    );
    answers_with(&server, &group_path("example.dev", "v1alpha1"), &policies);
    server.refuse(&group_path("away.dev", "v1"), 503);
    // It is asked for, and has nothing to read.
    let reviews = resource(
        "subjectaccessreviews",
        "SubjectAccessReview",
        false,
        &["create"],
    );
    let authorization = resources("v1", &json!([reviews]));
    answers_with(
        &server,
        &group_path("authorization.k8s.io", "v1"),
        &authorization,
    );

    let found = asked(&server).await;
    assert_eq!(
        names(&found),
        [
            "OddPolicy.example.dev",
            "GatewayClass",
            "HTTPRoute",
            "ReferenceGrant",
        ]
    );
    let of_gateway_api = |kind: &str| found.get(&GroupKind::new(GATEWAY_API, kind)).unwrap();
    let versions = ["v1", "v1beta1"];
    assert_eq!(
        of_gateway_api("HTTPRoute"),
        &kind(&versions, "httproutes", &["httproute", "hr"], true)
    );
    assert_eq!(
        of_gateway_api("GatewayClass"),
        &kind(&versions, "gatewayclasses", &["gatewayclass"], false)
    );
    assert_eq!(
        of_gateway_api("ReferenceGrant"),
        &kind(&["v1beta1"], "referencegrants", &["referencegrant"], true)
    );
    for (group, version) in [
        (GATEWAY_API, "v1"),
        (GATEWAY_API, "v1beta1"),
        ("example.dev", "v1alpha1"),
        ("away.dev", "v1"),
    ] {
        let path = group_path(group, version);
        assert_eq!(server.requests(&path), 1, "{path}");
    }
}

/// Groups are asked for in parallel; the preferred version comes first, whichever answer arrives first.
#[tokio::test(start_paused = true)]
async fn the_order_of_answers_does_not_decide_the_preferred_version() {
    let server = Server::new();
    answers_with(
        &server,
        GROUPS,
        &older(&[group("example.dev", &["v2", "v1"])]),
    );
    for version in ["v1", "v2"] {
        let odd = resource("oddpolicies", "OddPolicy", true, &["get"]);
        let path = format!("{GROUPS}/example.dev/{version}");
        answers_with(&server, &path, &resources(version, &json!([odd])));
    }
    let preferred = "/apis/example.dev/v2";
    server.hold(preferred);
    let other = server.clone();
    let release = tokio::spawn(async move {
        crate::under::eventually("the other is asked for beside it", || {
            other.requests("/apis/example.dev/v1") == 1
        })
        .await;
        other.release(preferred);
    });
    let found = asked(&server).await;
    release.await.unwrap();
    let odd = found.get(&GroupKind::new("example.dev", "OddPolicy"));
    assert_eq!(
        odd,
        Some(&kind(&["v2", "v1"], "oddpolicies", &["oddpolicy"], true))
    );
}

/// One request for all. A group whose resources the server does not know appears without them.
#[tokio::test(start_paused = true)]
async fn a_newer_server_says_all_in_one_answer() {
    let server = Server::new();
    let resource = |plural: &str, kind: &str, scope: &str| {
        json!({
            "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind},
            "scope": scope, "singularResource": kind.to_lowercase(), "verbs": ["get", "list"],
            "subresources": [{"subresource": "status", "responseKind": {"kind": kind}, "verbs": ["get"]}],
        })
    };
    let classes = resource("gatewayclasses", "GatewayClass", "Cluster");
    let routes = resource("httproutes", "HTTPRoute", "Namespaced");
    let spec = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {"metadata": {"name": GATEWAY_API}, "versions": [
                {"version": "v1", "freshness": "Current", "resources": [routes, classes]},
                {"version": "v1beta1", "freshness": "Current", "resources": [routes]},
            ]},
            {"metadata": {"name": "away.dev"}, "versions": [{"version": "v1", "freshness": "Stale"}]},
        ],
    });
    answers_with(&server, GROUPS, &spec);
    let found = asked(&server).await;
    let of_gateway_api = |kind: &str| found.get(&GroupKind::new(GATEWAY_API, kind));
    assert_eq!(found.kinds().count(), 2, "{:?}", names(&found));
    assert_eq!(
        of_gateway_api("HTTPRoute"),
        Some(&kind(
            &["v1", "v1beta1"],
            "httproutes",
            &["httproute"],
            true
        ))
    );
    assert_eq!(
        of_gateway_api("GatewayClass"),
        Some(&kind(&["v1"], "gatewayclasses", &["gatewayclass"], false))
    );
    assert_eq!(server.requests("/apis/away.dev/v1"), 0);
}

#[tokio::test(start_paused = true)]
async fn failed_discovery_differs_from_an_empty_answer() {
    let server = Server::new();
    answers_with(&server, GROUPS, &older(&[]));
    assert!(asked(&server).await.is_empty());
    server.refuse(GROUPS, 403);
    let refused = Served::ask(&server.client()).await.unwrap_err();
    assert_eq!(refused, ApiError::Forbidden("refused: /apis".to_owned()));
}
