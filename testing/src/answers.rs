//! Properties of every answer, whatever the request.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most bytes of an answer without its patch: people read it, and it goes into the audit log.
const LONGEST: usize = 32 * 1024;

/// The parts of a review that decide whether it must be answered, parsed without attache's own code.
#[derive(Deserialize)]
struct Review {
    #[serde(rename = "apiVersion")]
    api_version: String,
    kind: String,
    request: Asked,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "that they can be read is what is asked")]
struct Asked {
    uid: String,
    kind: Option<Kind>,
    operation: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    sub_resource: Option<String>,
    dry_run: Option<bool>,
    object: Option<IgnoredAny>,
    old_object: Option<IgnoredAny>,
    user_info: Option<IgnoredAny>,
    options: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "that they can be read is what is asked")]
struct Kind {
    group: Option<String>,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    request: Object<'a>,
}

#[derive(Deserialize)]
struct Object<'a> {
    operation: Option<String>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
}

/// The uid that the answer must have; `None` if the body is not a review and need not be answered.
pub fn uid(body: &[u8]) -> Option<String> {
    // serde also reads structs from arrays of their fields. The API server sends none, and attache refuses them.
    let text = std::str::from_utf8(body).ok()?;
    let review: Review = serde_json::from_str(text).ok()?;
    let answer: &RawValue = serde_json::from_str(text).ok()?;
    let is_list = |text: &str| text.trim_start().starts_with('[');
    let parts: Parts<'_> = serde_json::from_str(answer.get()).ok()?;
    let inner: Inner<'_> = serde_json::from_str(parts.request.get()).ok()?;
    let kind_is_list = inner.kind.is_some_and(|kind| is_list(kind.get()));
    if is_list(text) || is_list(parts.request.get()) || kind_is_list {
        return None;
    }
    let fits = review.api_version == "admission.k8s.io/v1" && review.kind == "AdmissionReview";
    let uid = review.request.uid;
    (fits && (1..=256).contains(&uid.len())).then_some(uid)
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
}

#[derive(Deserialize)]
struct Inner<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
}

/// Checks the answer to a body, and returns its patch.
pub fn check(body: &[u8], answer: &[u8], mutates: bool) -> Option<json_patch::Patch> {
    let uid = uid(body).expect("only a review is answered");
    checked(&uid, answer, mutates)
}

/// Like [`check`], if the uid is known.
pub fn checked(uid: &str, answer: &[u8], mutates: bool) -> Option<json_patch::Patch> {
    let text = std::str::from_utf8(answer).expect("an answer is UTF-8");
    let answer: Value = serde_json::from_str(text).expect("an answer is JSON");
    assert_eq!(answer["apiVersion"], "admission.k8s.io/v1", "{text}");
    assert_eq!(answer["kind"], "AdmissionReview", "{text}");
    let response = answer["response"].as_object().expect("a response");
    assert_eq!(response["uid"], uid, "{text}");
    let known = [
        "uid",
        "allowed",
        "status",
        "patch",
        "patchType",
        "warnings",
        "auditAnnotations",
    ];
    let odd: Vec<&String> = response
        .keys()
        .filter(|key| !known.contains(&&***key))
        .collect();
    assert!(odd.is_empty(), "{odd:?} in {text}");
    let allowed = response["allowed"].as_bool().expect("allowed is a boolean");
    match (allowed, response.get("status")) {
        (true, status) => assert!(status.is_none(), "{text}"),
        (false, status) => refusal(status.expect("a refusal says why")),
    }
    warnings(response.get("warnings"));
    for (key, value) in response
        .get("auditAnnotations")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        assert!(key.len() <= 63 && key.chars().all(plain), "{key:?}");
        line(value.as_str().expect("a text"));
    }
    let patch = response
        .get("patch")
        .map(|patch| patch.as_str().expect("base64").to_owned());
    assert!(
        text.len() - patch.as_ref().map_or(0, String::len) <= LONGEST,
        "{} bytes",
        text.len()
    );
    assert_eq!(
        response.get("patchType").and_then(Value::as_str),
        patch.is_some().then_some("JSONPatch")
    );
    let patch = patch?;
    assert!(mutates && allowed, "a patch that nobody asked for: {text}");
    let patch = BASE64.decode(patch).expect("base64");
    let patch: json_patch::Patch = serde_json::from_slice(&patch).expect("a JSON patch");
    assert!(!patch.is_empty(), "an empty patch");
    Some(patch)
}

/// A refusal has a code and causes.
fn refusal(status: &Value) {
    let code = status["code"].as_u64().expect("a code");
    assert!((400..600).contains(&code), "{status}");
    assert_eq!(status["status"], "Failure", "{status}");
    assert!(
        !status["reason"].as_str().expect("a reason").is_empty(),
        "{status}"
    );
    let message = status["message"].as_str().expect("a message");
    assert!(!message.is_empty(), "{status}");
    message.lines().for_each(line);
    let causes = status["details"]["causes"].as_array().expect("causes");
    assert!(!causes.is_empty(), "{status}");
    for cause in causes {
        for part in ["reason", "message"] {
            let part = cause[part].as_str().expect("a text");
            assert!(!part.is_empty(), "{status}");
            line(part);
        }
        line(cause["field"].as_str().expect("a field"));
    }
}

/// Warnings keep to the limits on lines and their length.
fn warnings(warnings: Option<&Value>) {
    let Some(warnings) = warnings else {
        return;
    };
    let lines: Vec<&str> = warnings
        .as_array()
        .expect("a list")
        .iter()
        .map(|w| w.as_str().expect("a text"))
        .collect();
    assert!((1..=10).contains(&lines.len()), "{} warnings", lines.len());
    let total: usize = lines.iter().map(|line| line.chars().count()).sum();
    assert!(total <= 2_000, "{total} characters");
    let different: BTreeSet<&&str> = lines.iter().collect();
    assert_eq!(
        different.len(),
        lines.len(),
        "a warning twice: the API server drops one: {lines:#?}"
    );
    for text in lines {
        assert!(
            (1..=256).contains(&text.chars().count()),
            "{} characters: {text}",
            text.chars().count()
        );
        assert!(!text.starts_with("Warning:"), "{text}");
        line(text);
    }
}

/// A single line, without control or invisible characters.
pub fn line(text: &str) {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' | '\u{feff}')
    };
    assert!(!text.contains(odd), "{text:?}");
}

/// The body with its object patched.
pub fn patched(body: &[u8], patch: &json_patch::Patch) -> Vec<u8> {
    let text = std::str::from_utf8(body).expect("UTF-8");
    let Request { request } = serde_json::from_str(text).expect("a request");
    assert!(
        matches!(request.operation.as_deref(), Some("CREATE" | "UPDATE")),
        "a patch of what is not written"
    );
    let raw = request.object.expect("a patch of an object");
    let mut object: Value =
        serde_json::from_str(raw.get()).expect("a patch of an object that can be read");
    json_patch::patch(&mut object, patch).expect("a patch applies");
    // The raw object borrows from the body, so its offset is known.
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    let end = start + raw.get().len();
    [&text[..start], &object.to_string(), &text[end..]]
        .concat()
        .into_bytes()
}

/// Checks an answer. If it has a patch, the patched object must not need another one.
pub fn settled(body: &[u8], answer: &[u8], mutates: bool, ask: impl Fn(&[u8]) -> Vec<u8>) {
    let Some(patch) = check(body, answer, mutates) else {
        return;
    };
    let mended = patched(body, &patch);
    assert_eq!(
        check(&mended, &ask(&mended), true),
        None,
        "a patch after {patch}"
    );
}
