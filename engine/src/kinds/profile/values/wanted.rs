//! A value that a profile asks for.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

use super::addresses::has_host_bits;
use super::at_path::ANY_VALUE;
use crate::kinds::profile::schema::Pattern;
use crate::model::expression_syntax::is_no_expression;
use crate::model::literal::Literal;

const MATCHES: &str = "<matches ";
const DOES_NOT_MATCH: &str = "<does not match ";
const HOST_BITS: &str = "<has host bits>";
const NO_EXPRESSION: &str = "<not a regular expression>";

/// A value that a profile asks for, read from what people write there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValuePattern {
    /// `<any>`: any value but `null`.
    Any,
    /// `<matches ^https://>`: a text that the expression matches.
    Matching(Pattern),
    /// `<does not match ^https://>`: a text that the expression does not match.
    NotMatching(Pattern),
    /// `<has host bits>`: a range of addresses that does not begin with the first address of its network, such as `10.0.0.1/8`.
    HostBits,
    /// `<not a regular expression>`: a text that is none in RE2, which Envoy and Go read.
    NoExpression,
    /// An object that has at least these fields.
    Fields(Vec<(String, ValuePattern)>),
    /// This value.
    Equal(Value),
}

/// The reason why a value in a profile is not one that it can ask for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ValuePatternError {
    /// A text in angle brackets that means nothing.
    #[error(
        "{0} means nothing: write <any>, <matches EXPRESSION>, <does not match EXPRESSION>, {HOST_BITS} or {NO_EXPRESSION}"
    )]
    Unknown(String),
    /// An expression that cannot be evaluated.
    #[error("{0} is no regular expression that attache can evaluate as Go does")]
    Expression(String),
}

// === impl ValuePattern ===

impl ValuePattern {
    fn read(value: Value) -> Result<Self, ValuePatternError> {
        Ok(match value {
            Value::String(text) if text.starts_with('<') && text.ends_with('>') => {
                Self::in_brackets(&text)?
            }
            Value::Object(fields) if !fields.is_empty() => {
                let fields = fields.into_iter();
                let fields = fields.map(|(key, value)| Ok((key, Self::read(value)?)));
                Self::Fields(fields.collect::<Result<_, _>>()?)
            }
            value => Self::Equal(value),
        })
    }

    fn in_brackets(text: &str) -> Result<Self, ValuePatternError> {
        let expression = |start| {
            let expression = text.strip_prefix(start)?.strip_suffix('>')?;
            Some(Pattern::new(expression.into()))
        };
        let (pattern, wanted): (_, fn(Pattern) -> Self) = if text == ANY_VALUE {
            return Ok(Self::Any);
        } else if text == HOST_BITS {
            return Ok(Self::HostBits);
        } else if text == NO_EXPRESSION {
            return Ok(Self::NoExpression);
        } else if let Some(pattern) = expression(MATCHES) {
            (pattern, Self::Matching)
        } else if let Some(pattern) = expression(DOES_NOT_MATCH) {
            (pattern, Self::NotMatching)
        } else {
            return Err(ValuePatternError::Unknown(text.into()));
        };
        if pattern.is_usable() {
            Ok(wanted(pattern))
        } else {
            Err(ValuePatternError::Expression(pattern.text().into()))
        }
    }

    /// The form in which people write it.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Any => ANY_VALUE.into(),
            Self::HostBits => HOST_BITS.into(),
            Self::NoExpression => NO_EXPRESSION.into(),
            Self::Matching(pattern) => format!("{MATCHES}{}>", pattern.text()).into(),
            Self::NotMatching(pattern) => format!("{DOES_NOT_MATCH}{}>", pattern.text()).into(),
            Self::Fields(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, wanted)| (key.clone(), wanted.json()));
                Value::Object(fields.collect())
            }
            Self::Equal(value) => value.clone(),
        }
    }

    /// Whether a value is as wanted. It is not where that is uncertain.
    pub(super) fn matches(&self, value: &Value) -> bool {
        let matches = |pattern: &Pattern| value.as_str().and_then(|text| pattern.matches(text));
        match self {
            Self::Any => !value.is_null(),
            Self::Matching(pattern) => matches(pattern) == Some(true),
            Self::NotMatching(pattern) => matches(pattern) == Some(false),
            Self::HostBits => value.as_str().is_some_and(has_host_bits),
            Self::NoExpression => value.as_str().is_some_and(is_no_expression),
            Self::Fields(wanted) => value.as_object().is_some_and(|fields| {
                let mut wanted = wanted.iter();
                wanted.all(|(key, wanted)| wanted.matches(fields.get(key).unwrap_or(&Value::Null)))
            }),
            Self::Equal(wanted) => wanted == value,
        }
    }
}

impl<'de> Deserialize<'de> for ValuePattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Literal(value) = Literal::deserialize(from)?;
        Self::read(value).map_err(D::Error::custom)
    }
}

/// For defaults in the JSON schema.
impl Serialize for ValuePattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(to)
    }
}

impl JsonSchema for ValuePattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ValuePattern, ValuePatternError};

    #[test]
    fn a_word_that_means_nothing_is_an_error() {
        for text in ["<anything>", "<match ^a>", "<>"] {
            let unknown = ValuePatternError::Unknown(text.to_owned());
            assert_eq!(ValuePattern::read(json!(text)), Err(unknown));
        }
        assert!(ValuePattern::read(json!({"issuer": {"uri": "<none>"}})).is_err());
    }

    #[test]
    fn an_expression_that_cannot_be_evaluated_is_an_error() {
        for text in ["(", "(?=a)", "[a[b]]"] {
            let wanted = format!("<matches {text}>");
            assert_eq!(
                ValuePattern::read(json!(wanted)),
                Err(ValuePatternError::Expression(text.into()))
            );
        }
        assert!(ValuePattern::read(json!("<matches ^https://>")).is_ok());
    }

    #[test]
    fn other_texts_are_what_they_say() {
        for text in ["any", "a<b", "<b", "b>", ""] {
            assert_eq!(
                ValuePattern::read(json!(text)),
                Ok(ValuePattern::Equal(json!(text)))
            );
        }
    }
}
