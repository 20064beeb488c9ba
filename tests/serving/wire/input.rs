//! Unusual bodies: the exact status and body of each answer over a socket, without memory growth.

use super::server::{ALLOWED, on_listener, review, review_of, start};
use testing::client::Tls;

const MIB: usize = 1024 * 1024;

pub(crate) struct Case {
    name: &'static str,
    pub(crate) body: Vec<u8>,
    status: u16,
    answer: String,
}

fn case(
    name: &'static str,
    body: impl Into<Vec<u8>>,
    status: u16,
    answer: impl Into<String>,
) -> Case {
    Case {
        name,
        body: body.into(),
        status,
        answer: answer.into(),
    }
}

fn error(why: &str) -> String {
    format!(r#"{{"error":"{why}"}}"#)
}

fn with_warning(uid: &str, warning: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{uid}","allowed":true,"warnings":["{warning}"],"auditAnnotations":{{"findings":"unverified"}}}}}}"#
    )
}

fn request(fields: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1"{fields}}}}}"#
    )
}

const KIND: &str =
    r#","kind":{"group":"policies.example.com","version":"v1","kind":"RetryPolicy"}"#;

fn nested(depth: usize) -> String {
    review(&format!(
        r#"{{"targetRef":{}{}}}"#,
        "[".repeat(depth),
        "]".repeat(depth)
    ))
}

#[allow(clippy::too_many_lines)]
pub(crate) fn cases() -> Vec<Case> {
    let version =
        error("the body must have apiVersion admission.k8s.io/v1 and kind AdmissionReview");
    let no_uid = error("request.uid must have 1 to 256 bytes");
    let json = |column: usize| error(&format!("the body is not JSON: line 1, column {column}"));
    let object_with = |column: usize| {
        error(&format!(
            "the body is not an AdmissionReview: line 1, column {column}"
        ))
    };
    let long_uid = "u".repeat(257);
    let policy = |rest: &str| request(&format!("{KIND}{rest}"));
    let named = r#","namespace":"infra","name":"retries""#;
    vec![
        case("empty", "", 400, error("the body is empty")),
        case("not JSON", "kind: Pod", 400, json(1)),
        case("cut short", r#"{"apiVersion":"#, 400, json(14)),
        case(
            "trailing bytes",
            format!("{} x", on_listener("http")),
            400,
            json(on_listener("http").len() + 2),
        ),
        case("byte order mark", "\u{feff}{}", 400, json(1)),
        case(
            "invalid UTF-8",
            b"{\"kind\":\"\xff\"}".to_vec(),
            400,
            error("the body is not UTF-8"),
        ),
        case("null", "null", 400, object_with(4)),
        case("a list", "[]", 400, object_with(0)),
        case(
            "a list of the fields",
            r#"["admission.k8s.io/v1","AdmissionReview",{"uid":"u"}]"#,
            400,
            object_with(0),
        ),
        case("a string", "\"x\"", 400, object_with(3)),
        case("nothing named", "{}", 400, version.clone()),
        case(
            "another version",
            on_listener("http").replace("k8s.io/v1\"", "k8s.io/v1beta1\""),
            400,
            version.clone(),
        ),
        case(
            "another kind",
            r#"{"apiVersion":"v1","kind":"Pod","request":{"uid":"u"}}"#,
            400,
            version,
        ),
        case(
            "no request",
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#,
            400,
            error("the AdmissionReview has no request"),
        ),
        case(
            "request null",
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}"#,
            400,
            error("the AdmissionReview has no request"),
        ),
        case(
            "request twice",
            r#"{"request":{"uid":"a"},"request":{"uid":"b"}}"#,
            400,
            object_with(32),
        ),
        case(
            "uid twice",
            r#"{"request":{"uid":"a","uid":"b"}}"#,
            400,
            object_with(27),
        ),
        case(
            "uid missing",
            request("").replace(r#""uid":"u-1""#, ""),
            400,
            no_uid.clone(),
        ),
        case(
            "uid empty",
            request("").replace("u-1", ""),
            400,
            no_uid.clone(),
        ),
        case(
            "uid null",
            request("").replace(r#""u-1""#, "null"),
            400,
            no_uid.clone(),
        ),
        case(
            "uid too long",
            request("").replace("u-1", &long_uid),
            400,
            no_uid,
        ),
        case(
            "uid as long as may be",
            request("").replace("u-1", &long_uid[1..]),
            200,
            with_warning(
                &long_uid[1..],
                "unverified: not checked: the operation is not known",
            ),
        ),
        case(
            "unknown operation",
            policy(r#","operation":"FROB","object":{}"#),
            200,
            with_warning("u-1", "unverified: not checked: the operation is not known"),
        ),
        case(
            "no kind",
            request(r#","operation":"CREATE","object":{}"#),
            200,
            with_warning("u-1", "unverified: not checked: the request names no kind"),
        ),
        case(
            "DELETE of nothing",
            policy(r#","operation":"DELETE","object":null,"oldObject":null"#),
            200,
            with_warning(
                "u-1",
                "unverified: not checked: the request does not say what is deleted",
            ),
        ),
        case(
            "DELETE by name",
            policy(&format!(r#","operation":"DELETE"{named},"object":null"#)),
            200,
            ALLOWED,
        ),
        case(
            "CONNECT",
            policy(&format!(r#","operation":"CONNECT"{named},"object":{{}}"#)),
            200,
            ALLOWED,
        ),
        case(
            "a subresource",
            policy(&format!(
                r#","operation":"UPDATE"{named},"subResource":"status","object":[]"#
            )),
            200,
            ALLOWED,
        ),
        case(
            "null for optional fields, fields from the future, a response in the request",
            policy(&format!(
                r#","operation":"DELETE"{named},"subResource":null,"dryRun":null,"userInfo":7,"new":{{"a":[1]}},"response":{{"uid":"x"}}"#
            )),
            200,
            ALLOWED,
        ),
        case(
            "object null",
            review_of("null"),
            200,
            with_warning(
                "u-1",
                "unverified: RetryPolicy.policies.example.com was not checked: the request has no object",
            ),
        ),
        case(
            "unknown kind",
            on_listener("nope").replace("RetryPolicy", "Teapot"),
            200,
            ALLOWED,
        ),
        case("a good policy", on_listener("http"), 200, ALLOWED),
        case(
            "a listener that is not there",
            on_listener("htpp"),
            200,
            refused(
                "section-unknown",
                "spec.targetRef.sectionName",
                r#"Gateway infra/edge has no listener \"htpp\"; did you mean \"http\"?"#,
            ),
        ),
        case(
            "targetRef is a string",
            review(r#"{"targetRef":"edge","retries":3}"#),
            200,
            refused(
                "target-missing-ref",
                "spec.targetRef",
                "a target is an object with group, kind and name, not a string",
            ),
        ),
    ]
}

fn refused(code: &str, field: &str, message: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"u-1","allowed":false,"status":{{"status":"Failure","message":"{code}: {field}: {message}","reason":"Invalid","code":422,"details":{{"name":"retries","group":"policies.example.com","kind":"RetryPolicy","causes":[{{"reason":"{code}","message":"{code}: {message}","field":"{field}"}}]}}}},"auditAnnotations":{{"findings":"{code}"}}}}}}"#
    )
}

/// Objects that cannot be understood: allowed with a warning; the uid is always returned.
pub(crate) fn odd_objects() -> Vec<(&'static str, String)> {
    vec![
        ("nested 128 deep", nested(128)),
        ("nested 10,000 deep", nested(10_000)),
        ("nested 1,000,000 deep", nested(1_000_000)),
        ("an array", review_of("[]")),
        ("a string", review_of("\"x\"")),
        ("a number", review_of("1e400")),
        ("metadata null", review_of(r#"{"metadata":null,"spec":{}}"#)),
        (
            "metadata twice",
            review_of(r#"{"metadata":{},"metadata":{},"spec":{}}"#),
        ),
        (
            "labels of numbers",
            review_of(r#"{"metadata":{"labels":{"a":1}},"spec":{}}"#),
        ),
        ("a lone surrogate", review(r#"{"targetRef":"\ud800"}"#)),
        ("a huge number", review(r#"{"targetRef":1e400}"#)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_body_has_one_answer() {
    let server = start().await;
    let mut client = server.connect().await;
    for case in cases() {
        let answer = client.post("/validate?timeout=10s", &case.body).await;
        assert_eq!(
            (answer.status, &answer.body),
            (case.status, &case.answer),
            "{}",
            case.name
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{}",
            case.name
        );
    }
    assert_eq!(server.metrics.panics.get(), 0);
    assert_eq!(server.metrics.in_flight.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_objects_pass_with_a_warning() {
    let server = start().await;
    let mut client = server.connect().await;
    for (name, body) in odd_objects() {
        let answer = client.post("/validate", body.as_bytes()).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        let response = &answer.json()["response"];
        assert_eq!(response["uid"], "u-1", "{name}");
        assert_eq!(response["allowed"], true, "{name}: {response}");
        let warnings = response["warnings"]
            .as_array()
            .unwrap_or_else(|| panic!("{name}: {response}"));
        assert_eq!(warnings.len(), 1, "{name}: {response}");
        let warning = warnings[0].as_str().unwrap();
        assert!(
            warning.starts_with("unverified: RetryPolicy.policies.example.com was not checked: "),
            "{name}: {warning}"
        );
        assert!(
            warning.chars().count() <= 256 && !warning.contains(char::is_control),
            "{name}: {warning}"
        );
    }
    assert_eq!(server.metrics.panics.get(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mutate_patches_nothing() {
    let server = start().await;
    let mut client = server.connect().await;
    let answer = client.post("/mutate", on_listener("htpp").as_bytes()).await;
    assert_eq!((answer.status, &*answer.body), (200, ALLOWED));
    let answer = client.post("/mutate", b"{}").await;
    assert_eq!(answer.status, 400);
}

pub(crate) async fn too_large_by_length(mut client: Tls) {
    let answer = client.post("/validate", &vec![b' '; 8 * MIB]).await;
    assert_eq!(
        (answer.status, &*answer.body),
        (413, r#"{"error":"the body is larger than 7340032 bytes"}"#)
    );
    assert_eq!(answer.header("connection"), Some("close"));
}

pub(crate) async fn too_large_in_chunks(mut client: Tls) {
    client
        .send(b"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    // A body without an end: the server must not wait for one.
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; MIB], b"\r\n"].concat();
    for _ in 0..8 {
        client.send(&chunk).await;
    }
    let answer = client.answer().await;
    assert_eq!(
        (answer.status, &*answer.body),
        (413, r#"{"error":"the body is larger than 7340032 bytes"}"#)
    );
    assert_eq!(answer.header("connection"), Some("close"));
}
