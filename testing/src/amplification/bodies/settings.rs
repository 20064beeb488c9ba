//! Settings that are expensive to parse.

use std::rc::Rc;

use super::{Hostile, LARGEST, hostile, many, on_edge};

/// Settings that are expensive to parse.
pub fn settings() -> Vec<Hostile> {
    let deep = |open: &str, close: &str| {
        on_edge(&format!(
            r#""x":{}0{}"#,
            open.repeat(500_000),
            close.repeat(500_000)
        ))
    };
    let digits = "1".repeat(LARGEST - 200);
    let specs = [
        ("lists a million deep", deep("[", "]")),
        ("maps deep", deep("{\"a\":", "}")),
        (
            "a hundred deep",
            on_edge(&format!(
                r#""x":[{}]"#,
                many(&format!("{}{}", "[".repeat(100), "]".repeat(100)))
            )),
        ),
        ("zeros", on_edge(&format!(r#""x":[{}]"#, many("0")))),
        ("empty lists", on_edge(&format!(r#""x":[{}]"#, many("[]")))),
        (
            "empty texts",
            on_edge(&format!(r#""x":[{}]"#, many("\"\""))),
        ),
        (
            "small maps",
            on_edge(&format!(r#""x":[{}]"#, many(r#"{"a":0}"#))),
        ),
        ("small keys", on_edge(&many(r##""#":0"##))),
        (
            "small keys below",
            on_edge(&format!(r#""x":{{{}}}"#, many(r##""#":0"##))),
        ),
        ("one key again and again", on_edge(&many(r#""a":0"#))),
        ("a huge number", on_edge(&format!(r#""x":{digits}"#))),
        ("a small number", on_edge(&format!(r#""x":0.{digits}e-9"#))),
        (
            "huge numbers",
            on_edge(&format!(
                r#""x":[{}]"#,
                many("123456789012345678901234567890e277")
            )),
        ),
        (
            "thousands of texts",
            on_edge(&format!(
                r#""x":[{}]"#,
                many(&format!("\"{}\"", "a".repeat(1_000)))
            )),
        ),
        (
            "a long text",
            on_edge(&format!(r#""x":"{}""#, "a".repeat(LARGEST - 200))),
        ),
        (
            "a long text of escapes",
            on_edge(&format!(r#""x":"{}""#, "\\u0001".repeat(LARGEST / 6 - 60))),
        ),
        (
            "long texts",
            on_edge(&many(&format!(r##""#":"{}""##, "\\u001b".repeat(300)))),
        ),
        (
            "a long key",
            on_edge(&format!(r#""{}":1"#, "\\u0001".repeat(LARGEST / 6 - 60))),
        ),
    ];
    let all = specs.into_iter().flat_map(|(name, object)| {
        let changed: Rc<str> = object.replacen("\"edge\"", "\"edgy\"", 1).into();
        let object: Rc<str> = object.into();
        [
            hostile(&format!("policy of {name}"), "CREATE", &object, None),
            hostile(
                &format!("direct of {name}"),
                "UPDATE",
                &object,
                Some(&changed),
            ),
            hostile(
                &format!("policy of {name}"),
                "DELETE",
                &"null".into(),
                Some(&object),
            ),
        ]
    });
    all.collect()
}
