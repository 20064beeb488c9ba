//! Why an object cannot be read: which field it is, and what is wrong with it.

use std::fmt::Display;

use serde::Deserialize;
use serde_path_to_error::Segment;

use super::few::LONG_LIST;

/// Why an object could not be read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{told}")]
pub struct Unreadable {
    part: String,
    told: String,
    is_much: bool,
}

// === impl Unreadable ===

impl Unreadable {
    /// What may be said to anybody.
    pub fn new(told: impl Into<String>) -> Self {
        let told = told.into();
        Self {
            part: told.clone(),
            told,
            is_much: false,
        }
    }

    /// The same of what is right as it is, and more than is read.
    pub fn too_much(told: impl Into<String>) -> Self {
        Self {
            is_much: true,
            ..Self::new(told)
        }
    }

    /// What is wrong with a part; `why` may repeat what stands there.
    pub fn because(part: impl Into<String>, why: impl Display) -> Self {
        let part = part.into();
        let told = format!("{part}: {why}");
        Self {
            part,
            told,
            is_much: false,
        }
    }

    /// Whether it may be right as it is, and is more than is read.
    pub fn is_much(&self) -> bool {
        self.is_much
    }

    /// Which part cannot be read, without what stands there and the keys on the way to it: objects are not for logs.
    pub fn part(&self) -> &str {
        &self.part
    }
}

/// Reads what cannot be read once more, to say which field it is. That is for errors alone: it takes longer.
pub(super) fn field<'a, T: Deserialize<'a>>(
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
        // Of an object as a whole the first step is a field that is asked for: no key of its own.
        Some((path, Some(first))) => (first.to_string(), path.to_string()),
    };
    Unreadable {
        part: format!("{part} cannot be read"),
        told: format!("{at} cannot be read: {}", plain(why)),
        is_much: why.to_string().starts_with(LONG_LIST),
    }
}

/// What is wrong, in words for people.
pub(super) fn plain(why: &serde_json::Error) -> String {
    let why = why.to_string();
    // The line is one of the JSON between machines: nobody sees it.
    let why = why.rsplit_once(" at line ").map_or(&*why, |(why, _)| why);
    // Names of Rust's numbers are nobody's words.
    let numbers = ["u16", "u32", "u64", "i64"].into_iter();
    numbers.fold(why.to_owned(), |why, number| {
        why.replace(&format!("expected {number}"), "expected a whole number")
    })
}

#[cfg(test)]
mod tests {
    use super::Unreadable;
    use crate::engine::ids::GroupKind;
    use crate::engine::object::Object;

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
        // Whatever the key has in it.
        let odd_key = r#"{"metadata": {"labels": {"secret: [x] cannot be read": 7}}}"#;
        assert_eq!(read("HTTPRoute", odd_key).part(), "metadata cannot be read");
        let no_object = read("HTTPRoute", "7");
        assert_eq!(no_object.part(), "the object cannot be read");
    }
}
