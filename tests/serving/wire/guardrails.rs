//! Guardrails of the configuration at the webhook: the user of the request counts, the answer has the message, and a
//! live list of the policies confirms a refusal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use attache::cache::directory::load;
use attache::config::Configuration;
use attache::engine::admission::evidence::Evidence;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::admission::{App, respond};
use attache::http::call::Endpoint;
use attache::http::dependencies::Dependencies;
use attache::http::limits::Limits;
use attache::http::router::router;
use attache::metrics::Metrics;
use axum::body::Body;
use futures::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::Request;
use serde_json::{Value, json};
use tower::ServiceExt as _;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/guardrails")
}

/// A configuration with one of the examples.
fn configuration(example: &str) -> Configuration {
    let text = fs::read_to_string(examples().join(example)).unwrap();
    let guardrail: Value = serde_saphyr::from_str(&text).unwrap();
    let all = json!({
        "apiVersion": "attache.dev/v1",
        "kind": "Configuration",
        "guardrails": [guardrail],
    });
    serde_json::from_value(all).unwrap()
}

/// The answer to the deletion of a policy in namespace infra, by a member of a group.
fn deleted(example: &str, policy: &Value, group: &str) -> Value {
    let config = configuration(example);
    let rules = config.rules(testing::builtin());
    let loaded = load(&[examples().join("cluster")], &rules, "default");
    let body = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u-1",
            "kind": {"group": "gateway.envoyproxy.io", "version": "v1alpha1", "kind": policy["kind"]},
            "resource": {"group": "gateway.envoyproxy.io", "version": "v1alpha1", "resource": "policies"},
            "namespace": "infra",
            "name": policy["metadata"]["name"],
            "operation": "DELETE",
            "userInfo": {"username": "ann", "groups": [group]},
            "oldObject": policy,
        },
    });
    let (review_settings, evidence) = (config.review_settings(), Evidence::Authoritative);
    let body = body.to_string();
    let answer = respond(
        &loaded.snapshot,
        &review_settings,
        &evidence,
        Endpoint::Validate,
        body.as_bytes(),
    );
    let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
    answer["response"].clone()
}

#[test]
fn the_deletion_of_the_last_authentication_is_refused() {
    let response = deleted(
        "public-routes-need-authentication.yaml",
        &public_jwt(),
        "platform",
    );
    assert_eq!(response["allowed"], false, "{response}");
    let message = response["status"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "guardrail: \"public-routes-need-authentication\" is broken by HTTPRoute shop/cart through \
         Gateway infra/public listener https: routes on the Gateway public need authentication \
         (no SecurityPolicy is in force there)"
    );
}

#[test]
fn who_may_is_decided_by_the_user_of_the_request() {
    let policy = json!({
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "BackendTrafficPolicy",
        "metadata": {"name": "public-limit", "namespace": "infra"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public"}],
            "rateLimit": {"type": "Local", "local": {"rules": [{"limit": {"requests": 100, "unit": "Second"}}]}},
        },
    });
    let example = "limits-not-above-the-gateways.yaml";
    assert_eq!(deleted(example, &policy, "shop")["allowed"], false);
    assert_eq!(deleted(example, &policy, "platform")["allowed"], true);
}

/// The answer to a review under a guardrail, from a state of the cache and what can be read beside it.
async fn reviewed(
    config: &Configuration,
    state: Snapshot,
    outside: Dependencies,
    request: Value,
) -> Value {
    let app = App::new(
        Arc::new(ArcSwap::from_pointee(state)),
        Arc::new(ArcSwap::from_pointee(config.review_settings())),
        outside,
        Arc::new(Metrics::new().unwrap()),
        Limits::default(),
    );
    let body = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request,
    });
    let request = Request::post("/validate?timeout=5s")
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    let answer = router(app).oneshot(request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    answer["response"].clone()
}

/// The policy that authenticates on the Gateway public.
fn public_jwt() -> Value {
    json!({
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": {"name": "public-jwt", "namespace": "infra"},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "public"}],
            "jwt": {"providers": [{"name": "corp", "issuer": "https://login.example.com"}]},
        },
    })
}

/// The policies of the kind of that policy.
fn security_policies(snapshot: &Snapshot) -> (GroupKind, Vec<Arc<Object>>) {
    let kind = GroupKind::new("gateway.envoyproxy.io", "SecurityPolicy");
    let policies = snapshot.objects(&kind).cloned().collect();
    (kind, policies)
}

/// The policies that a live list shows, or why it shows none.
type Listed = Result<Arc<Vec<Arc<Object>>>, String>;

/// The answer to a new route on the Gateway public. The cache does not have the policy that authenticates there; a live
/// list answers with the policies of the cluster, changed by `listed`. Also returns the number of lists.
async fn created_before_the_policy_is_cached(
    listed: impl Fn(Vec<Arc<Object>>) -> Listed,
) -> (Value, usize) {
    let config = configuration("public-routes-need-authentication.yaml");
    let rules = config.rules(testing::builtin());
    let loaded = load(&[examples().join("cluster")], &rules, "default");
    let (kind, policies) = security_policies(&loaded.snapshot);
    let policy = ObjectKey::new(kind.clone(), "infra", "public-jwt");
    let answer = listed(policies);
    let lists = Arc::new(AtomicUsize::default());
    let counted = lists.clone();
    let outside = Dependencies {
        list: Some(Arc::new(move |asked| {
            assert_eq!(asked, kind);
            counted.fetch_add(1, Ordering::Relaxed);
            let answer = answer.clone();
            async move { answer }.boxed()
        })),
        confirm: Some(Arc::new(|key| {
            async move { Err(format!("{key} is not asked for")) }.boxed()
        })),
        ..Dependencies::default()
    };
    let state = loaded.snapshot.with_change(Change::Deleted(policy));
    let request = json!({
        "uid": "u-1",
        "kind": {"group": "gateway.networking.k8s.io", "version": "v1", "kind": "HTTPRoute"},
        "namespace": "shop",
        "name": "new",
        "operation": "CREATE",
        "object": {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"namespace": "shop", "name": "new"},
            "spec": {"parentRefs": [{"namespace": "infra", "name": "public"}], "rules": [{}]},
        },
    });
    let response = reviewed(&config, state, outside, request).await;
    (response, lists.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_policy_that_the_cache_does_not_have_yet_is_found_by_a_live_list() {
    let (response, lists) =
        created_before_the_policy_is_cached(|policies| Ok(Arc::new(policies))).await;
    assert_eq!(
        (&response["allowed"], lists),
        (&json!(true), 1),
        "{response}"
    );
    let warnings = response["warnings"].to_string();
    assert!(!warnings.contains("guardrail"), "{warnings}");
}

#[tokio::test]
async fn a_refusal_is_confirmed_by_one_live_list() {
    let (response, lists) = created_before_the_policy_is_cached(|policies| {
        let others = policies.into_iter();
        let others = others.filter(|policy| *policy.key.name != *"public-jwt");
        Ok(Arc::new(others.collect()))
    })
    .await;
    assert_eq!(
        (&response["allowed"], lists),
        (&json!(false), 1),
        "{response}"
    );
}

#[tokio::test]
async fn a_refusal_that_cannot_be_confirmed_is_a_warning() {
    let (response, _) =
        created_before_the_policy_is_cached(|_| Err("timed out after 3 s".to_owned())).await;
    assert_eq!(response["allowed"], true, "{response}");
    let warnings = response["warnings"].to_string();
    let wanted = "unverified: guardrail could not be confirmed (timed out after 3 s): ";
    assert!(warnings.contains(wanted), "{warnings}");
}

/// The answer to the deletion of the policy on the Gateway public. The cache has a route on it; `route` is the answer of a live read.
async fn policy_deleted_after_its_route(route: Result<(), String>) -> Value {
    let config = configuration("public-routes-need-authentication.yaml");
    let rules = config.rules(testing::builtin());
    let loaded = load(&[examples().join("cluster")], &rules, "default");
    let (_, policies) = security_policies(&loaded.snapshot);
    let policies = Arc::new(policies);
    let cart = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart");
    let stored = loaded.snapshot.get(&cart).unwrap().clone();
    let outside = Dependencies {
        list: Some(Arc::new(move |_| {
            let policies = policies.clone();
            async move { Ok(policies) }.boxed()
        })),
        confirm: Some(Arc::new(move |key| {
            assert_eq!(key, cart);
            let answer = route.clone().map(|()| Some((*stored).clone()));
            // The API server knows no such object any more.
            let answer = answer.or_else(|why| if why == "gone" { Ok(None) } else { Err(why) });
            async move { answer }.boxed()
        })),
        ..Dependencies::default()
    };
    let request = json!({
        "uid": "u-1",
        "kind": {"group": "gateway.envoyproxy.io", "version": "v1alpha1", "kind": "SecurityPolicy"},
        "namespace": "infra",
        "name": "public-jwt",
        "operation": "DELETE",
        "oldObject": public_jwt(),
    });
    reviewed(&config, loaded.snapshot.clone(), outside, request).await
}

/// A release is deleted: the route first, and then its policy, before the cache knows that the route is gone.
#[tokio::test]
async fn a_route_that_is_gone_keeps_no_policy_from_being_deleted() {
    let gone = policy_deleted_after_its_route(Err("gone".to_owned())).await;
    assert_eq!(gone["allowed"], true, "{gone}");
    let there = policy_deleted_after_its_route(Ok(())).await;
    assert_eq!(there["allowed"], false, "{there}");
    // What the cache has is believed where nothing else can be read.
    let unread = policy_deleted_after_its_route(Err("timed out".to_owned())).await;
    assert_eq!(unread["allowed"], false, "{unread}");
}
