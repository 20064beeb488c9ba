//! Why an object cannot be read: the field, and its fault.

use std::fmt::Display;

use serde::Deserialize;
use serde_path_to_error::Segment;

use super::bounded_vec::LONG_LIST;

/// Why an object could not be read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{text}")]
pub struct Unreadable {
    part: String,
    text: String,
    is_much: bool,
}

// === impl Unreadable ===

impl Unreadable {
    /// An error whose text may be shown to anyone.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            part: text.clone(),
            text,
            is_much: false,
        }
    }

    /// An error for input that may be valid, but exceeds a limit.
    pub fn too_much(text: impl Into<String>) -> Self {
        Self {
            is_much: true,
            ..Self::new(text)
        }
    }

    /// An error in a part; `why` may quote the input.
    pub fn because(part: impl Into<String>, why: impl Display) -> Self {
        let part = part.into();
        let text = format!("{part}: {why}");
        Self {
            part,
            text,
            is_much: false,
        }
    }

    /// Whether the input may be valid, but exceeds a limit.
    pub fn is_much(&self) -> bool {
        self.is_much
    }

    /// The part that cannot be read, without its content and without keys from the input: objects do not belong in
    /// logs.
    pub fn part(&self) -> &str {
        &self.part
    }
}

/// Parses unreadable input again to find the field. It takes longer, so it is for errors only.
pub fn field<'a, T: Deserialize<'a>>(
    what: &str,
    text: &'a str,
    why: &serde_json::Error,
) -> Unreadable {
    let again: Result<T, _> =
        serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text));
    let error = again.err();
    let path = error.as_ref().map(serde_path_to_error::Error::path);
    let (part, at) = match path.map(|path| (path, path.iter().next())) {
        None | Some((_, None | Some(Segment::Unknown))) => (what.to_owned(), what.to_owned()),
        Some((path, _)) if what == "spec" || what == "metadata" => {
            (what.to_owned(), format!("{what}.{path}"))
        }
        // For a whole object the first step is a field of ours, not a key of the input.
        Some((path, Some(first))) => (first.to_string(), path.to_string()),
    };
    Unreadable {
        part: format!("{part} cannot be read"),
        text: format!("{at} cannot be read: {}", with_hint(plain(why))),
        is_much: why.to_string().starts_with(LONG_LIST),
    }
}

/// Adds a hint to the error for a value that YAML does not read as text, such as `off` or `12`.
fn with_hint(why: String) -> String {
    let mistyped = why.strip_prefix("invalid type: ");
    let mistyped = mistyped.filter(|types| types.ends_with(", expected a string"));
    let kind = match mistyped.and_then(|types| types.split([' ', ',']).next()) {
        Some("boolean") => "a boolean",
        Some("integer" | "floating") => "a number",
        _ => return why,
    };
    format!("{why}; quote it: without quotes YAML reads it as {kind}")
}

/// The fault, in words for people: without the place in the JSON.
pub fn plain(why: &serde_json::Error) -> String {
    let why = why.to_string();
    // The line number refers to JSON that programs exchange, which people do not see.
    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
    // Users do not know the names of Rust's number types.
    let numbers = ["u16", "u32", "u64", "i64"].into_iter();
    numbers.fold(why.to_owned(), |why, number| {
        why.replace(&format!("expected {number}"), "expected a whole number")
    })
}

#[cfg(test)]
mod tests {
    use super::Unreadable;
    use crate::model::ids::GroupKind;
    use crate::model::object::Object;

    fn read(kind: &str, text: &str) -> Unreadable {
        let text = serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
        Object::from_json(&GroupKind::gateway_api(kind), &text).unwrap_err()
    }

    #[test]
    fn the_field_is_named_and_a_log_hears_of_the_part_alone() {
        let route = r#"{"metadata": {"name": "r"}, "spec": {"rules": [{"backendRefs": [{"name": "b", "port": "80"}]}]}}"#;
        let why = read("HTTPRoute", route);
        assert_eq!(
            why.to_string(),
            r#"spec.rules[0].backendRefs[0].port cannot be read: invalid type: string "80", expected a whole number"#
        );
        assert_eq!(why.part(), "spec cannot be read");
        let labelled = r#"{"metadata": {"labels": {"secret": 7}}}"#;
        let why = read("HTTPRoute", labelled);
        assert!(why.to_string().starts_with("metadata.labels"), "{why}");
        assert_eq!(why.part(), "metadata cannot be read");
        // The YAML `name: off`, as JSON.
        let unquoted = r#"{"metadata": {"name": false}}"#;
        assert_eq!(
            read("HTTPRoute", unquoted).to_string(),
            "metadata.name cannot be read: invalid type: boolean `false`, expected a string; quote it: without quotes YAML reads it as a boolean"
        );
        // Regardless of the content of the key.
        let odd_key = r#"{"metadata": {"labels": {"secret: [x] cannot be read": 7}}}"#;
        assert_eq!(read("HTTPRoute", odd_key).part(), "metadata cannot be read");
        let no_object = read("HTTPRoute", "7");
        assert_eq!(no_object.part(), "the object cannot be read");
    }
}
