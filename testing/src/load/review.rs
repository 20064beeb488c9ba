//! Admission reviews as the API server sends them.

use serde_json::{Value, json};

/// A uid as long as the API server's.
pub const UID: &str = "00000000-0000-0000-0000-000000000000";

/// The review of a write: the new object, the stored one, or both.
pub fn review(
    operation: &str,
    dry_run: bool,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Value {
    let subject = object.or(old).unwrap();
    let kind = subject["kind"].as_str().unwrap();
    let (group, version) = subject["apiVersion"]
        .as_str()
        .unwrap()
        .split_once('/')
        .unwrap();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{}ies", stem.to_lowercase()),
        None => format!("{}s", kind.to_lowercase()),
    };
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": UID,
            "kind": {"group": group, "version": version, "kind": kind},
            "resource": {"group": group, "version": version, "resource": plural},
            "name": subject["metadata"]["name"], "namespace": subject["metadata"]["namespace"],
            "operation": operation, "dryRun": dry_run,
            "userInfo": {"username": "dev", "groups": ["system:authenticated"]},
            "object": object, "oldObject": old,
        },
    })
}

/// The object with a value set at a JSON pointer, which may be new.
pub fn with(object: &Value, at: &str, value: Value) -> Value {
    let mut object = object.clone();
    let (parent, name) = at.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap();
    parent[name] = value;
    object
}
