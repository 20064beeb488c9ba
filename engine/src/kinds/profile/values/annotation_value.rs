//! A value of an annotation that a profile asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// Values by annotation.
pub(in crate::kinds::profile) type AnnotationsFile = BTreeMap<String, Vec<AnnotationValue>>;

const NOT_AN_INTEGER: &str = "<not an integer>";

/// A value of an annotation that a profile asks for, read from what people write there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::kinds::profile) enum AnnotationValue {
    /// `<not an integer>`: anything but a whole number of 32 bits.
    NotAnInteger,
    /// This text.
    Equal(Arc<str>),
}

// === impl AnnotationValue ===

impl AnnotationValue {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            NOT_AN_INTEGER => Ok(Self::NotAnInteger),
            other if other.starts_with('<') && other.ends_with('>') => Err(format!(
                "{other} means nothing: write {NOT_AN_INTEGER}, or the value that the annotation has"
            )),
            other => Ok(Self::Equal(other.into())),
        }
    }

    /// Whether a value is as wanted.
    pub(super) fn matches(&self, value: &str) -> bool {
        match self {
            Self::NotAnInteger => value.parse::<i32>().is_err(),
            Self::Equal(wanted) => **wanted == *value,
        }
    }
}

impl TryFrom<String> for AnnotationValue {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::read(&text)
    }
}

/// The schema of a text, without a description of its own.
impl JsonSchema for AnnotationValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::AnnotationValue;

    #[test]
    fn a_value_may_be_no_integer() {
        let wanted = AnnotationValue::read("<not an integer>").unwrap();
        for (value, expected) in [
            ("high", true),
            ("", true),
            ("3000000000", true),
            ("-5", false),
        ] {
            assert_eq!(wanted.matches(value), expected, "{value}");
        }
    }

    #[test]
    fn a_word_that_means_nothing_is_an_error() {
        for text in ["<any>", "<not an int>", "<>"] {
            assert!(AnnotationValue::read(text).is_err(), "{text}");
        }
        for text in ["true", "<", "a>", ""] {
            let wanted = AnnotationValue::read(text).unwrap();
            assert!(wanted.matches(text) && !wanted.matches("other"), "{text}");
        }
    }
}
