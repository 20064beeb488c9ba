//! Metadata, envelopes, and data that attache does not read.

use std::rc::Rc;

use super::{Hostile, LARGEST, TARGET, hostile, many};

/// Metadata, and data that attache does not read.
pub fn metadata() -> Vec<Hostile> {
    let meta = |more: &str| {
        format!(
            r#"{{"metadata":{{"name":"x","namespace":"infra",{more}}},"spec":{{{TARGET},"retries":1}}}}"#
        )
    };
    let objects = [
        (
            "policy with many labels",
            meta(&format!(r#""labels":{{{}}}"#, many(r##""#":"""##))),
        ),
        (
            "policy with many annotations",
            meta(&format!(r#""annotations":{{{}}}"#, many(r##""#":"""##))),
        ),
        (
            "policy with a long annotation",
            meta(&format!(
                r#""annotations":{{"a":"{}"}}"#,
                "a".repeat(LARGEST - 300)
            )),
        ),
        (
            "policy with a long label",
            meta(&format!(
                r#""labels":{{"a":"{}"}}"#,
                "a".repeat(LARGEST - 300)
            )),
        ),
        (
            "policy with many managers",
            meta(&format!(
                r#""managedFields":[{}]"#,
                many(r#"{"f:spec":{"f:x":{}}}"#)
            )),
        ),
        (
            "policy with many owners",
            meta(&format!(r#""ownerReferences":[{}]"#, many(r#"{"a":0}"#))),
        ),
        (
            "policy of a long time",
            meta(&format!(
                r#""creationTimestamp":"{}""#,
                "2026-01-01T00:00:00Z".repeat(LARGEST / 21)
            )),
        ),
        (
            "namespace with many labels",
            meta(&format!(r#""labels":{{{}}}"#, many(r##""#":"""##))),
        ),
        (
            "policy with a large status",
            format!(
                r#"{{"metadata":{{}},"spec":{{{TARGET},"a":1}},"status":[{}]}}"#,
                many(r#"{"a":0}"#)
            ),
        ),
        ("policy that is a list", format!("[{}]", many(r#"{"a":0}"#))),
    ];
    let mut bodies: Vec<Hostile> = objects
        .into_iter()
        .flat_map(|(name, object)| {
            let other: Rc<str> = object.replacen("\"retries\":1", "\"retries\":2", 1).into();
            let object = object.into();
            [
                hostile(name, "CREATE", &object, None),
                hostile(name, "UPDATE", &object, Some(&other)),
            ]
        })
        .collect();
    bodies.extend(requests());
    bodies
}

/// Large envelopes.
fn requests() -> Vec<Hostile> {
    let bad: Rc<str> = r#"{"metadata":{"name":"x","namespace":"infra"},"spec":{"targetRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"htpp"},"retries":1}}"#.into();
    let long = "\\u0001".repeat(LARGEST / 6 - 100);
    let replaced = |name: &str, what: &'static str, by: &str| Hostile {
        replacement: Some((what, by.into())),
        ..hostile(&format!("policy {name}"), "CREATE", &bad, None)
    };
    vec![
        replaced(
            "of a user in many groups",
            r#""username":"jane""#,
            &format!(r#""username":"jane","groups":[{}]"#, many("\"\"")),
        ),
        replaced(
            "of a user with much else",
            r#""username":"jane""#,
            &format!(r#""username":"jane","extra":{{{}}}"#, many(r##""#":[""]"##)),
        ),
        replaced("of a user of a long name", "jane", &long),
        replaced(
            "of a long name",
            r#""name":"x""#,
            &format!(r#""name":"{long}""#),
        ),
        replaced(
            "of a long namespace",
            r#""namespace":"infra""#,
            &format!(r#""namespace":"{long}""#),
        ),
        replaced(
            "of a long version",
            r#""version":"v1""#,
            &format!(r#""version":"{long}""#),
        ),
        replaced(
            "of a long operation",
            r#""operation":"CREATE""#,
            &format!(r#""operation":"{long}""#),
        ),
        replaced("of a long kind", "RetryPolicy", &long),
        replaced(
            "by a long manager",
            r#""oldObject":null"#,
            &format!(r#""options":{{"fieldManager":"{long}"}}"#),
        ),
        replaced(
            "with many options",
            r#""oldObject":null"#,
            &format!(r#""options":{{{}}}"#, many(r##""#":0"##)),
        ),
        replaced(
            "with other fields",
            r#""oldObject":null"#,
            &format!(r#""other":{{{}}}"#, many(r##""#":0"##)),
        ),
    ]
}
