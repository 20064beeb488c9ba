//! An answer shows users the policies that they may read; of the others it shows only that there are some.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use attache::engine::admission::disclosure::Subject;
use attache::engine::model::ids::{GroupKind, ObjectKey};
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::dependencies::MayGet;
use futures::FutureExt;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::server::{Running, Setup, snapshot, start_with};

const LISTENERS: usize = 30;

/// Gateway infra/edge, with a policy on each of its first listeners.
pub(crate) fn state(policies: usize) -> Snapshot {
    let listeners: Vec<_> = (0..LISTENERS)
        .map(|i| {
            json!({
                "name": format!("l{i}"), "port": 8000 + i, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}},
            })
        })
        .collect();
    let gateway = json!({
        "metadata": {"namespace": "infra", "name": "edge"},
        "spec": {"gatewayClassName": "c", "listeners": listeners},
    });
    let gateways = GroupKind::gateway_api("Gateway");
    let retries = GroupKind::new("policies.example.com", "RetryPolicy");
    let objects = (0..policies).map(|i| {
        let target = json!({
            "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge",
            "sectionName": format!("l{i}"),
        });
        let policy = json!({
            "metadata": {"namespace": "infra", "name": format!("p{i}")},
            "spec": {"targetRef": target, "retries": i},
        });
        object(&retries, &policy)
    });
    let all = objects.chain([object(&gateways, &gateway)]);
    all.fold(snapshot(), |state, object| {
        state.apply(Change::Applied(Arc::new(object)))
    })
}

fn object(gk: &GroupKind, value: &serde_json::Value) -> Object {
    Object::from_json(gk, &to_raw_value(value).unwrap()).unwrap()
}

/// A route in another namespace that is attached to all listeners, sent by alice.
pub(crate) fn route() -> String {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u-1",
            "kind": {"group": "gateway.networking.k8s.io", "version": "v1", "kind": "HTTPRoute"},
            "operation": "CREATE",
            "namespace": "shop",
            "name": "cart",
            "userInfo": {
                "username": "alice",
                "uid": "7",
                "groups": ["bakers", "system:authenticated"],
                "extra": {"scopes": ["read"]},
            },
            "object": {
                "metadata": {"namespace": "shop", "name": "cart"},
                "spec": {"parentRefs": [{"namespace": "infra", "name": "edge"}], "rules": [{}]},
            },
        },
    });
    review.to_string()
}

/// A server with this many policies; `may_get` decides who may read them.
async fn serving(policies: usize, may_get: MayGet) -> Running {
    start_with(Setup {
        state: Some(state(policies)),
        may_get: Some(may_get),
        ..Setup::default()
    })
    .await
}

/// The answer to alice if `may_get` decides what she may read.
async fn answer(policies: usize, may_get: MayGet) -> String {
    let server = serving(policies, may_get).await;
    let mut client = server.connect().await;
    let answer = client
        .post("/validate?timeout=2s", route().as_bytes())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

fn may_get(f: impl Fn(&Subject, &ObjectKey) -> bool + Send + Sync + 'static) -> MayGet {
    Arc::new(move |subject, policy| {
        let may = f(&subject, &policy);
        async move { may }.boxed()
    })
}

#[tokio::test]
async fn the_number_of_hidden_policies_is_not_shown() {
    let one = answer(1, may_get(|_, _| false)).await;
    let line = "affected-by: a policy that you may not read applies to this object";
    assert!(one.contains(&format!(r#""warnings":["{line}"]"#)), "{one}");
    for (secret, known) in [("p0", "shop"), ("retries", "edge"), ("RetryPolicy", "l0")] {
        assert!(!one.contains(secret) && !one.contains(known), "{one}");
    }
    // One for each warning, and more than attache asks access reviews for.
    for policies in [5, 11, LISTENERS] {
        assert_eq!(answer(policies, may_get(|_, _| false)).await, one);
    }
}

#[tokio::test]
async fn readable_policies_are_named_beside_hidden_ones() {
    let readable = || may_get(|_, policy| &*policy.name == "p1");
    let two = answer(2, readable()).await;
    let named = "affected-by: RetryPolicy.policies.example.com infra/p1 sets retries=1";
    let hidden = "affected-by: a policy that you may not read applies to this object";
    assert!(two.contains(named) && two.contains(hidden), "{two}");
    assert_eq!(answer(9, readable()).await, two);
}

#[tokio::test]
async fn the_access_review_has_the_whole_user() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let note = may_get(move |subject, policy| {
        seen.lock().unwrap().push((subject.clone(), policy.clone()));
        true
    });
    let shown = answer(1, note).await;
    assert!(shown.contains("infra/p0 sets retries=0"), "{shown}");
    let policy = ObjectKey::new(
        GroupKind::new("policies.example.com", "RetryPolicy"),
        "infra",
        "p0",
    );
    let alice = Subject {
        user: "alice".to_owned(),
        uid: "7".to_owned(),
        groups: vec!["bakers".to_owned(), "system:authenticated".to_owned()],
        extra: BTreeMap::from([("scopes".to_owned(), vec!["read".to_owned()])]),
    };
    assert_eq!(*asked.lock().unwrap(), [(alice, policy)]);
}

/// The review does not wait longer for access reviews than the API server waits for the review.
#[tokio::test]
async fn no_answer_shows_nothing() {
    let never: MayGet = Arc::new(|_, _| futures::future::pending().boxed());
    let shown = answer(3, never).await;
    assert_eq!(shown, answer(1, may_get(|_, _| false)).await);
}

/// A request without a readable user has no rights.
#[tokio::test]
async fn a_request_without_a_user_sees_what_a_user_without_rights_sees() {
    let hidden = answer(3, may_get(|_, _| false)).await;
    let mut review: serde_json::Value = serde_json::from_str(&route()).unwrap();
    let server = serving(3, may_get(|_, _| true)).await;
    let mut client = server.connect().await;
    let nobody = [
        json!(null),
        json!(7),
        json!({"username": ["alice"]}),
        json!({"groups": "system:masters"}),
        json!({"username": "", "groups": ["system:masters"]}),
    ];
    for user_info in nobody {
        review["request"]["userInfo"] = user_info;
        let body = review.to_string();
        let answer = client.post("/validate?timeout=2s", body.as_bytes()).await;
        assert_eq!(answer.body, hidden, "{body}");
    }
}

/// A patch contains settings of policies regardless of the user's rights; in the default configuration there is none.
#[tokio::test]
async fn the_mutating_endpoint_shows_nothing_by_default() {
    let server = serving(3, may_get(|_, _| true)).await;
    let mut client = server.connect().await;
    let answer = client.post("/mutate?timeout=2s", route().as_bytes()).await;
    let answer: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer["response"], json!({"uid": "u-1", "allowed": true}));
}

/// A request that is not a review is answered without the state.
#[tokio::test]
async fn a_refusal_shows_nothing_of_the_state() {
    let server = start_with(Setup {
        state: Some(state(3)),
        ..Setup::default()
    })
    .await;
    let cut = &route()[..200];
    let bodies = ["", "{}", "infra/edge", r#"{"request":{"name":"p0"}}"#, cut];
    for path in [
        "/validate",
        "/mutate",
        "/",
        "/infra/edge",
        "/readyz?verbose",
        "/metrics",
    ] {
        for body in bodies {
            let mut client = server.connect().await;
            let answer = client.post(path, body.as_bytes()).await;
            assert!(
                (400..500).contains(&answer.status),
                "{path}: {}",
                answer.body
            );
            for secret in ["infra", "edge", "p0", "RetryPolicy", "attache"] {
                assert!(!answer.body.contains(secret), "{path}: {}", answer.body);
                assert!(!answer.head.contains(secret), "{path}: {}", answer.head);
            }
        }
    }
}

/// Labels come from closed sets; otherwise a sender could fill the memory of the server and of the metrics collector.
#[tokio::test]
async fn metrics_name_nobody() {
    let server = start_with(Setup {
        state: Some(state(1)),
        ..Setup::default()
    })
    .await;
    let mut client = server.connect().await;
    let strange = route()
        .replace("HTTPRoute", "Teapot")
        .replace("CREATE", "BREW");
    for body in [route(), strange] {
        let answer = client.post("/validate?timeout=2s", body.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let text = server.metrics.text().unwrap();
    assert!(
        text.contains("kind=\"HTTPRoute\"") && text.contains("kind=\"other\""),
        "{text}"
    );
    for name in [
        "Teapot", "BREW", "shop", "cart", "alice", "bakers", "infra", "edge", "p0",
    ] {
        assert!(!text.contains(&format!("\"{name}\"")), "{name}: {text}");
    }
}

/// A policy of shop on a Gateway that is in infra alone.
fn misplaced() -> String {
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"});
    let mut review: serde_json::Value = serde_json::from_str(&route()).unwrap();
    let request = &mut review["request"];
    request["kind"] =
        json!({"group": "policies.example.com", "version": "v1", "kind": "RetryPolicy"});
    request["name"] = json!("p");
    request["object"] = json!({
        "metadata": {"namespace": "shop", "name": "p"},
        "spec": {"targetRef": target, "retries": 1},
    });
    review.to_string()
}

/// A refusal names another namespace with a Gateway of the name only if the user may read that Gateway.
#[tokio::test]
async fn a_hint_names_other_namespaces_only_to_users_who_may_read_them() {
    let hints = |may: bool| async move {
        let only = move |_: &Subject, object: &ObjectKey| {
            assert_eq!(object.to_string(), "Gateway infra/edge");
            may
        };
        let server = serving(0, may_get(only)).await;
        let mut client = server.connect().await;
        let answer = client
            .post("/validate?timeout=2s", misplaced().as_bytes())
            .await;
        let answer: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        answer["response"]["warnings"][0]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let hidden = hints(false).await;
    assert_eq!(
        hidden,
        "target-not-found: spec.targetRef: Gateway shop/edge does not exist"
    );
    let shown = hints(true).await;
    assert!(
        shown.starts_with(&format!("{hidden}; there is one in namespace \"infra\", ")),
        "{shown}"
    );
}
