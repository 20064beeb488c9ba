//! Reviews with unusual data around the object: known fields are read, the rest is ignored.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::settings::ReviewSettings;
use attache::http::admission::{App, respond};
use attache::http::call::Endpoint;
use attache::http::dependencies::Dependencies;
use attache::http::limits::Limits;
use attache::http::router::router;
use attache::metrics::Metrics;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::server::{ALLOWED, allows, on_listener, review_of, snapshot, start};

/// The answer to a body, as text.
fn answer(body: &str) -> Result<String, String> {
    let answer = respond(
        &snapshot(),
        &ReviewSettings::default(),
        &Evidence::Authoritative,
        Endpoint::Validate,
        body.as_bytes(),
    );
    let answer = answer.map_err(|why| why.to_string())?;
    Ok(String::from_utf8(answer).unwrap())
}

fn response(body: &str) -> Value {
    let answer: Value = serde_json::from_str(&answer(body).unwrap()).unwrap();
    answer["response"].clone()
}

/// A review with more fields in its request.
fn with(body: &str, fields: &str) -> String {
    body.replacen(r#""uid":"u-1""#, &format!(r#""uid":"u-1",{fields}"#), 1)
}

#[tokio::test]
async fn other_methods_and_paths_are_rejected() {
    let server = start().await;
    let mut client = server.connect().await;
    for path in ["/validate", "/mutate"] {
        for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] {
            let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n");
            client.send(head.as_bytes()).await;
            let answer = client.answer().await;
            assert_eq!(
                (answer.status, &*answer.body),
                (405, r#"{"error":"only POST is allowed"}"#),
                "{method} {path}"
            );
        }
    }
    for path in ["/", "/validate/", "/Validate", "//validate", "/livez"] {
        for answer in [client.get(path).await, client.post(path, b"{}").await] {
            let status_and_body = (answer.status, &*answer.body);
            assert_eq!(
                status_and_body,
                (404, r#"{"error":"no such path"}"#),
                "{path}"
            );
        }
    }
    // The same connection stays usable.
    allows(&mut client).await;
}

#[test]
fn the_uid_is_returned_unchanged() {
    for uid in [
        r"0df28fbd-5f5f-11e8-bc74-36e6bb280816",
        r#"\"\\\/\b\f\n\r\t"#,
        r"\u0000\u001b[31m",
        r"\ud83e\udd80 é \u202e",
        "</script>",
    ] {
        let body = on_listener("http").replace("u-1", uid);
        let sent: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(response(&body)["uid"], sent["request"]["uid"], "{uid}");
    }
    for uid in ["", &"u".repeat(257), &"u".repeat(1 << 20)] {
        let body = on_listener("http").replace("u-1", uid);
        let why = answer(&body).unwrap_err();
        assert_eq!(why, "request.uid must have 1 to 256 bytes");
    }
}

#[test]
fn an_unknown_operation_warns() {
    for operation in [r#""create""#, r#""FROB""#, r#""""#, r#""CREATE ""#, "null"] {
        let body = on_listener("htpp").replace(r#""CREATE""#, operation);
        assert_eq!(
            response(&body),
            json!({
                "uid": "u-1", "allowed": true,
                "warnings": ["unverified: not checked: the operation is not known"],
                "auditAnnotations": {"findings": "unverified"},
            }),
            "{operation}"
        );
    }
}

#[test]
fn null_is_as_absent() {
    let body = on_listener("htpp");
    let absent = body.replace(
        r#""namespace":"infra","name":"retries","object""#,
        r#""object""#,
    );
    assert_ne!(absent, body);
    let null = with(
        &absent,
        r#""name":null,"namespace":null,"subResource":null,"dryRun":null,"options":null,"userInfo":null,"oldObject":null,"requestKind":null,"resource":null"#,
    );
    assert_eq!(answer(&null), answer(&absent));
    assert_eq!(response(&null)["uid"], "u-1");
}

#[test]
fn unknown_fields_are_ignored() {
    let body = on_listener("http");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for fields in [
        r#""response":{"uid":"x","allowed":false}"#,
        r#""status":{"code":500},"spec":7"#,
        r#""resource":"x","requestResource":[],"requestSubResource":7,"new":1e400"#,
        &format!(r#""future":{deep}"#),
    ] {
        assert_eq!(
            answer(&with(&body, fields)).unwrap(),
            ALLOWED,
            "{fields:.60}"
        );
        let around = body.replacen('{', &format!("{{{fields},"), 1);
        assert_eq!(answer(&around).unwrap(), ALLOWED, "{fields:.60}");
    }
}

/// The user's data does not influence the verdict, not even many groups.
#[test]
fn the_verdict_does_not_depend_on_the_user() {
    let refused = answer(&on_listener("htpp")).unwrap();
    assert!(refused.contains(r#""allowed":false"#), "{refused}");
    let groups: Vec<String> = (0..10_000).map(|i| format!("group-{i}")).collect();
    let extra = json!({"a": ["b".repeat(1 << 20)], "many": groups});
    let users = [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!({"username": "jane", "groups": groups}),
        json!({"username": "jane", "extra": extra}),
        json!({"username": "j".repeat(1 << 20), "groups": null, "extra": {"a": null}}),
    ];
    for user in users {
        let body = with(&on_listener("htpp"), &format!(r#""userInfo":{user}"#));
        let shown = user.to_string();
        assert_eq!(answer(&body).unwrap(), refused, "{shown:.80}");
    }
}

/// An allowed finding is noted for the policy's owner; a dry run has no side effects.
#[tokio::test]
async fn a_dry_run_is_judged_the_same_and_leaves_nothing_behind() {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let handed = noted.clone();
    let reads = Arc::new(AtomicUsize::new(0));
    let read = reads.clone();
    let outside = Dependencies {
        note: Some(Arc::new(move |policy, code, _| {
            handed.lock().unwrap().push((policy.to_string(), code));
        })),
        confirm: Some(Arc::new(move |_| {
            read.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(Some(super::server::edge())) })
        })),
        ..Dependencies::default()
    };
    let state = Arc::new(arc_swap::ArcSwap::from_pointee(snapshot()));
    let metrics = Arc::new(Metrics::new().unwrap());
    let app = App::new(state, Arc::default(), outside, metrics, Limits::default());
    let router = router(app);
    let ask = async |body: &str| {
        let request = Request::post("/validate?timeout=5s")
            .header("content-type", "application/json")
            .body(Body::from(body.to_owned()))
            .unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    };
    let pending = on_listener("htpp").replace(
        r#""name":"retries"},"#,
        r#""name":"retries","annotations":{"attache.dev/pending":"true"}},"#,
    );
    for body in [&pending, &on_listener("htpp"), &on_listener("http")] {
        let before = noted.lock().unwrap().len();
        let dry = ask(&with(body, r#""dryRun":true"#)).await;
        assert_eq!(noted.lock().unwrap().len(), before, "{dry}");
        assert_eq!(dry, ask(body).await);
        assert_eq!(dry, ask(&with(body, r#""dryRun":false"#)).await);
    }
    let policy = "RetryPolicy.policies.example.com infra/retries".to_owned();
    assert_eq!(
        *noted.lock().unwrap(),
        vec![(policy, "section-unknown"); 2],
        "the one that is let through, each time but for the dry run"
    );
    assert_eq!(reads.load(Ordering::Relaxed), 6, "confirmed each time");
}

/// A patch of a missing field would fail the request whatever the failure policy.
#[test]
fn only_creates_and_updates_are_mutated() {
    let text = "{apiVersion: attache.dev/v1, kind: Configuration, mutations: {normalize-targets: true, default-strategy: true, affected-annotation: true, migrate-target-ref: true, project-fields: true}}";
    let review_settings = serde_saphyr::from_str::<attache::config::Configuration>(text)
        .unwrap()
        .review_settings();
    let patched = |body: &str| {
        let evidence = Evidence::Authoritative;
        let (state, body) = (snapshot(), body.as_bytes());
        let answer = respond(&state, &review_settings, &evidence, Endpoint::Mutate, body).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let response = &answer["response"];
        assert_eq!(
            (&response["uid"], &response["allowed"]),
            (&json!("u-1"), &json!(true))
        );
        assert_eq!(response["patch"].is_null(), response["patchType"].is_null());
        !response["patch"].is_null()
    };
    let spec = r#"{"targetRef":{"group":"gateway.networking.k8s.io/v1","kind":"gateway","name":"edge"},"retries":3}"#;
    let object =
        format!(r#"{{"metadata":{{"name":"retries","namespace":"infra"}},"spec":{spec}}}"#);
    let create = review_of(&object);
    assert!(patched(&create));
    assert!(patched(&create.replace("CREATE", "UPDATE")));
    let gone = create.replace("CREATE", "DELETE");
    assert!(!patched(&gone));
    assert!(!patched(&gone.replace(r#""object":"#, r#""oldObject":"#)));
    assert!(!patched(&create.replace("CREATE", "CONNECT")));
    assert!(!patched(&create.replace("CREATE", "FROB")));
    let status = create.replace("CREATE", "UPDATE");
    assert!(!patched(&with(&status, r#""subResource":"status""#)));
    let leaving = create.replace(
        r#""namespace":"infra"},"#,
        r#""namespace":"infra","deletionTimestamp":"2026-01-01T00:00:00Z"},"#,
    );
    assert_ne!(leaving, create);
    assert!(!patched(&leaving));
}
