//! Objects with unusual data: judged by what can be read, and never refused for what cannot.

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::settings::ReviewSettings;
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use serde_json::{Value, json};

use super::input::odd_objects;
use super::server::{ALLOWED, on_listener, review, review_of, snapshot};

const GOOD: &str =
    r#"{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"http"}"#;

fn response(body: &str) -> Value {
    let (review_settings, evidence) = (ReviewSettings::default(), Evidence::Authoritative);
    let body = body.as_bytes();
    let answer = respond(
        &snapshot(),
        &review_settings,
        &evidence,
        Endpoint::Validate,
        body,
    );
    let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
    let response = answer["response"].clone();
    assert_eq!(response["uid"], "u-1", "{response}");
    response
}

/// Allowed, without warnings.
fn silent() -> Value {
    json!({"uid": "u-1", "allowed": true})
}

#[track_caller]
fn is_refused(body: &str) {
    let response = response(body);
    assert_eq!(response["allowed"], false, "{response}");
    let findings = &response["auditAnnotations"]["findings"];
    assert_eq!(findings, "section-unknown", "{response}");
}

#[track_caller]
fn is_not_checked(body: &str, why: &str) {
    let response = response(body);
    assert_eq!(response["allowed"], true, "{response}");
    let warnings = response["warnings"].as_array().unwrap();
    let start = format!("unverified: RetryPolicy.policies.example.com was not checked: {why}");
    let [warning] = &warnings[..] else {
        panic!("{response}");
    };
    assert!(warning.as_str().unwrap().starts_with(&start), "{warning}");
}

/// A policy with this metadata on a listener.
fn with_metadata(metadata: &str, listener: &str) -> String {
    let target = GOOD.replace("\"http\"", &format!("{listener:?}"));
    review_of(&format!(
        r#"{{"metadata":{metadata},"spec":{{"targetRef":{target},"retries":3}}}}"#
    ))
}

/// An UPDATE in place of a CREATE.
fn update(create: &str, old: &str) -> String {
    let update = create.replacen(r#""CREATE""#, r#""UPDATE""#, 1);
    update.replacen(
        r#""object":"#,
        &format!(r#""oldObject":{old},"object":"#),
        1,
    )
}

#[test]
fn an_update_without_the_old_object_is_judged_as_new() {
    let bad = on_listener("htpp");
    is_refused(&bad.replacen(r#""CREATE""#, r#""UPDATE""#, 1));
    for none in ["null", "[]", r#"{"metadata":null}"#, "7"] {
        is_refused(&update(&bad, none));
    }
    // With the old object, the fault is not new.
    let target = GOOD.replace("\"http\"", "\"htpp\"");
    let old = format!(
        r#"{{"metadata":{{"name":"retries"}},"spec":{{"targetRef":{target},"retries":4}}}}"#
    );
    let response = response(&update(&bad, &old));
    assert_eq!(response["allowed"], true, "{response}");
    assert!(
        response["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("section-unknown: ")
    );
}

/// As in the API server.
#[test]
fn the_last_of_a_repeated_key_counts() {
    let bad = GOOD.replace("\"http\"", "\"htpp\"");
    let both = |one: &str, two: &str| {
        review(&format!(
            r#"{{"targetRef":{one},"targetRef":{two},"retries":3}}"#
        ))
    };
    assert_eq!(response(&both(&bad, GOOD)), silent());
    is_refused(&both(GOOD, &bad));
    let name = |one: &str, two: &str| {
        let target = GOOD.replace(r#""http""#, &format!(r#""{one}","sectionName":"{two}""#));
        review(&format!(r#"{{"targetRef":{target},"retries":3}}"#))
    };
    assert_eq!(response(&name("htpp", "http")), silent());
    is_refused(&name("http", "htpp"));
}

#[test]
fn numbers_beyond_64_bits_are_ordinary_settings() {
    for number in [
        "18446744073709551617",
        "-9223372036854775809",
        "1e308",
        "1e-400",
        "-0",
        "0.1",
    ] {
        let spec = |target: &str| format!(r#"{{"targetRef":{target},"retries":{number}}}"#);
        assert_eq!(response(&review(&spec(GOOD))), silent(), "{number}");
        is_refused(&review(&spec(&GOOD.replace("\"http\"", "\"htpp\""))));
    }
    let out = format!(r#"{{"targetRef":{GOOD},"retries":1e400}}"#);
    is_not_checked(&review(&out), "spec cannot be read: number out of range");
}

#[test]
fn unreadable_metadata_warns() {
    for (metadata, why) in [
        (
            r#"{"creationTimestamp":"yesterday"}"#,
            "metadata.creationTimestamp is not a time",
        ),
        (
            r#"{"creationTimestamp":""}"#,
            "metadata.creationTimestamp is not a time",
        ),
        (
            r#"{"creationTimestamp":5}"#,
            "metadata.creationTimestamp cannot be read: ",
        ),
        (
            r#"{"generation":"1"}"#,
            "metadata.generation cannot be read: ",
        ),
        (r#"{"labels":{"a":1}}"#, "metadata.labels"),
        (r#"{"labels":[]}"#, "metadata.labels cannot be read: "),
        (
            r#"{"labels":{},"labels":{}}"#,
            "metadata cannot be read: duplicate field",
        ),
        ("null", "metadata cannot be read: "),
    ] {
        is_not_checked(&with_metadata(metadata, "htpp"), why);
    }
    // Null counts as absent; fields that attache does not read are ignored.
    for metadata in [
        "{}",
        r#"{"creationTimestamp":null,"labels":null,"annotations":null,"generation":null,"deletionTimestamp":null}"#,
        r#"{"finalizers":7,"ownerReferences":"x","managedFields":{},"uid":[],"future":{}}"#,
    ] {
        is_refused(&with_metadata(metadata, "htpp"));
        assert_eq!(
            response(&with_metadata(metadata, "http")),
            silent(),
            "{metadata}"
        );
    }
}

/// The request names the object, whatever the object itself says.
#[test]
fn the_request_identifies_the_object() {
    let body = with_metadata(r#"{"namespace":"elsewhere","name":"other"}"#, "htpp").replacen(
        r#"{"metadata":"#,
        r#"{"apiVersion":"v1","kind":"Pod","metadata":"#,
        1,
    );
    let response = response(&body);
    assert_eq!(response["allowed"], false, "{response}");
    let details = &response["status"]["details"];
    assert_eq!(
        (&details["name"], &details["group"], &details["kind"]),
        (
            &json!("retries"),
            &json!("policies.example.com"),
            &json!("RetryPolicy")
        )
    );
    let message = response["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("Gateway infra/edge has no listener"),
        "{message}"
    );
}

#[test]
fn an_object_with_generate_name_is_reviewed() {
    let nameless = |listener: &str| {
        with_metadata(
            r#"{"namespace":"infra","generateName":"retries-"}"#,
            listener,
        )
        .replacen(r#""name":"retries","object""#, r#""name":"","object""#, 1)
    };
    assert_eq!(response(&nameless("http")), silent());
    is_refused(&nameless("htpp"));
    assert_eq!(response(&nameless("htpp"))["status"]["details"]["name"], "");
}

/// Future values in the fields of objects that attache has to follow.
#[test]
fn values_newer_than_attache_are_never_refused() {
    let objects = [
        (
            "Gateway",
            json!({"gatewayClassName": "c", "infrastructure": {"orbit": "low"}, "listeners": [
                {"name": "a", "port": 80, "protocol": "QUANTUM", "hostname": "***"},
                {"name": "b", "port": 70_000, "protocol": "HTTP", "tls": {"mode": "Entangled"},
                 "allowedRoutes": {"namespaces": {"from": "Cousins"}, "kinds": [{"kind": "BeamRoute"}]}}]}),
        ),
        (
            "HTTPRoute",
            json!({"parentRefs": [{"name": "edge", "kind": "Starship"}, {"name": "edge", "port": 80}],
                "rules": [{"filters": [{"type": "Teleport", "teleport": {}}], "when": "full moon",
                "matches": [{"path": {"type": "Intuition", "value": "~"}}]}]}),
        ),
        ("BeamRoute", json!({"anything": [1, 2, {"a": null}]})),
        (
            "ListenerSet",
            json!({"parentRef": {"name": "edge"}, "listeners": [{"name": "x"}]}),
        ),
        (
            "ReferenceGrant",
            json!({"from": [], "to": [], "through": []}),
        ),
    ];
    for (kind, spec) in objects {
        let object = json!({"apiVersion": "gateway.networking.k8s.io/v9", "kind": kind,
            "metadata": {"namespace": "infra", "name": "x"}, "spec": spec});
        let body = review_of(&object.to_string())
            .replacen("policies.example.com", "gateway.networking.k8s.io", 1)
            .replacen("RetryPolicy", kind, 1)
            .replacen(r#""version":"v1""#, r#""version":"v9""#, 1);
        for body in [body.replacen("CREATE", "UPDATE", 1), body] {
            let response = response(&body);
            assert_eq!(response["allowed"], true, "{kind}: {response}");
        }
    }
    // An unknown version of a policy kind, with unknown fields.
    let policy = |listener: &str| {
        let target = GOOD.replace("\"http\"", &format!("{listener:?}"));
        let spec = format!(r#"{{"targetRef":{target},"retries":3,"future":{{"a":[1]}}}}"#);
        review(&spec).replacen(r#""version":"v1""#, r#""version":"v9""#, 1)
    };
    assert_eq!(response(&policy("http"))["allowed"], true);
    is_refused(&policy("htpp"));
}

#[test]
fn hostile_names_break_no_line_and_no_terminal() {
    let odd = "x\n\r\u{1b}[31m\u{0}\u{7f}\u{85}\u{202e}\u{200b}\"'\\";
    let target = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge", "sectionName": odd});
    let refused = response(&review(
        &json!({"targetRef": target, "retries": 3}).to_string(),
    ));
    assert_eq!(refused["allowed"], false, "{refused}");
    let missing = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": odd});
    let warned = response(&review(
        &json!({"targetRef": missing, "retries": 3}).to_string(),
    ));
    assert_eq!(warned["allowed"], true, "{warned}");
    let status = &refused["status"];
    let texts = [
        &status["message"],
        &status["details"]["causes"][0]["message"],
        &status["details"]["causes"][0]["field"],
        &warned["warnings"][0],
    ];
    for text in texts {
        let text = text.as_str().unwrap();
        let is_odd = |c: char| c.is_control() || "\u{202e}\u{200b}".contains(c);
        assert!(!text.is_empty() && !text.contains(is_odd), "{text:?}");
    }
}

/// Server-side apply updates them with each change; they are as large as the object.
#[test]
fn a_megabyte_of_managed_fields_changes_nothing() {
    let managed = |manager: &str| {
        let fields = format!(r#"{{"manager":"{manager}","fieldsV1":{{"f:spec":{{}}}}}}"#);
        let all = vec![fields; (1 << 20) / 40].join(",");
        format!(r#"{{"name":"retries","managedFields":[{all}]}}"#)
    };
    let target = GOOD.replace("\"http\"", "\"htpp\"");
    let old = format!(
        r#"{{"metadata":{},"spec":{{"targetRef":{target},"retries":3}}}}"#,
        managed("a")
    );
    let body = update(&with_metadata(&managed("b"), "htpp"), &old);
    assert!(body.len() > 2 << 20);
    assert_eq!(response(&body), silent());
}

/// For users who would rather stop an apply than accept an unchecked object.
#[test]
fn an_unreadable_object_is_refused_where_configured() {
    let text = "{apiVersion: attache.dev/v1, kind: Configuration, findings: {unverified: deny}}";
    let review_settings = serde_saphyr::from_str::<attache::config::Configuration>(text)
        .unwrap()
        .review_settings();
    let ask = |body: &str| {
        let (endpoint, evidence) = (Endpoint::Validate, Evidence::Authoritative);
        let answer = respond(
            &snapshot(),
            &review_settings,
            &evidence,
            endpoint,
            body.as_bytes(),
        );
        String::from_utf8(answer.unwrap()).unwrap()
    };
    assert_eq!(ask(&on_listener("http")), ALLOWED);
    for (name, body) in odd_objects() {
        let answer: Value = serde_json::from_str(&ask(&body)).unwrap();
        let response = &answer["response"];
        assert_eq!(response["uid"], "u-1", "{name}");
        assert_eq!(response["allowed"], false, "{name}: {response}");
        let status = &response["status"];
        assert_eq!(
            (&status["code"], &status["reason"]),
            (&json!(422), &json!("Invalid"))
        );
        let message = status["message"].as_str().unwrap();
        assert!(message.starts_with("unverified: "), "{name}: {message}");
    }
}
