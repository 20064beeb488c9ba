//! Why an object cannot be read: which field it is, and what is wrong with it.

use serde::Deserialize;

/// Why an object could not be read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Unreadable(pub String);

/// What stands between a field and what is wrong with it.
const BETWEEN: &str = " cannot be read";

// === impl Unreadable ===

impl Unreadable {
    /// Which part cannot be read, without what stands there and the keys on the way to it: objects are not for logs.
    pub fn part(&self) -> String {
        let told = self.0.split(": ").next().unwrap_or_default();
        match told.split_once(BETWEEN) {
            Some((field, _)) => {
                let part = field.split(['.', '[']).next().unwrap_or_default();
                format!("{part}{BETWEEN}")
            }
            None => told.to_owned(),
        }
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
    let path = again.err().map(|error| error.path().to_string());
    let at = match path.as_deref() {
        None | Some("." | "?") => what.to_owned(),
        Some(path) if what == "spec" || what == "metadata" => format!("{what}.{path}"),
        Some(path) => path.to_owned(),
    };
    Unreadable(format!("{at}{BETWEEN}: {}", plain(why)))
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
        let no_object = read("HTTPRoute", "7");
        assert_eq!(no_object.part(), "the object cannot be read");
    }
}
