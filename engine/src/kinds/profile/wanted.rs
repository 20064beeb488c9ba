//! A value that a profile asks for.

use serde_json::Value;

use super::at_path::ANY_VALUE;
use super::schema::Pattern;

/// A value that a profile asks for, read from what people write there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `<any>`: any value but `null`.
    Any,
    /// `<matches ^https://>`: a text that the expression matches.
    Matching(Pattern),
    /// `<does not match ^https://>`: a text that the expression does not match.
    NotMatching(Pattern),
    /// An object that has at least these fields.
    Fields(Vec<(String, Wanted)>),
    /// This value.
    Equal(Value),
}

// === impl Wanted ===

impl Wanted {
    pub(super) fn read(value: &Value) -> Self {
        let expression = |text: &str, start: &str| {
            let expression = text.strip_prefix(start)?.strip_suffix('>')?;
            Some(Pattern::new(expression.into()))
        };
        match value {
            Value::String(text) if text == ANY_VALUE => Self::Any,
            Value::String(text) if let Some(pattern) = expression(text, "<matches ") => {
                Self::Matching(pattern)
            }
            Value::String(text) if let Some(pattern) = expression(text, "<does not match ") => {
                Self::NotMatching(pattern)
            }
            Value::Object(fields) if !fields.is_empty() => {
                let fields = fields.iter();
                let fields = fields.map(|(key, value)| (key.clone(), Self::read(value)));
                Self::Fields(fields.collect())
            }
            value => Self::Equal(value.clone()),
        }
    }

    /// The form in which people write it.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Any => ANY_VALUE.into(),
            Self::Matching(pattern) => format!("<matches {}>", pattern.text()).into(),
            Self::NotMatching(pattern) => format!("<does not match {}>", pattern.text()).into(),
            Self::Fields(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(key, wanted)| (key.clone(), wanted.json()));
                Value::Object(fields.collect())
            }
            Self::Equal(value) => value.clone(),
        }
    }

    /// Whether a value is as wanted. It is not where that is uncertain.
    pub(super) fn fits(&self, value: &Value) -> bool {
        let matches = |pattern: &Pattern| value.as_str().and_then(|text| pattern.matches(text));
        match self {
            Self::Any => !value.is_null(),
            Self::Matching(pattern) => matches(pattern) == Some(true),
            Self::NotMatching(pattern) => matches(pattern) == Some(false),
            Self::Fields(wanted) => value.as_object().is_some_and(|fields| {
                let mut wanted = wanted.iter();
                wanted.all(|(key, wanted)| wanted.fits(fields.get(key).unwrap_or(&Value::Null)))
            }),
            Self::Equal(wanted) => wanted == value,
        }
    }
}
