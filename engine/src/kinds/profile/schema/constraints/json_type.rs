//! The types of JSON values.

use serde_json::Value;

use super::message::shown;
use crate::model::wording::type_name;

/// A type of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JsonType {
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// A boolean.
    Boolean,
    /// An object.
    Object,
    /// A list.
    Array,
    /// A whole number or a string.
    IntOrString,
}

// === impl JsonType ===

impl JsonType {
    /// The type that a schema names.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "array" => Self::Array,
            _ => return None,
        })
    }

    pub(super) fn takes(self, value: &Value) -> bool {
        let is_whole = || match value {
            Value::Number(number) => {
                let float = number.as_f64();
                number.is_i64() || number.is_u64() || float.is_some_and(|n| n.fract() == 0.0)
            }
            _ => false,
        };
        match self {
            Self::String => value.is_string(),
            Self::Integer => is_whole(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::IntOrString => value.is_string() || is_whole(),
        }
    }

    pub(super) fn rejects(self, value: &Value) -> String {
        let wanted = match self {
            Self::String => "a string",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Object => "an object",
            Self::Array => "a list",
            Self::IntOrString => "a whole number or a string",
        };
        match value {
            Value::Number(_) if matches!(self, Self::Integer | Self::IntOrString) => {
                format!("{} is not a whole number", shown(value))
            }
            Value::Object(_) | Value::Array(_) | Value::Null => {
                format!("it is {}; it must be {wanted}", type_name(value))
            }
            _ => format!(
                "{} is {}; it must be {wanted}",
                shown(value),
                type_name(value)
            ),
        }
    }
}
