//! The value of one setting.

use std::sync::Arc;

use serde_json::Value;

/// A value as JSON text: a list of a thousand small objects takes a hundredth of what it would as values. Equal values
/// are equal texts, but for zeros with a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting(Arc<str>);

// === impl Setting ===

impl Setting {
    /// As JSON, without spaces, keys sorted.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// As it was given.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Whether it removes what others set.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// Whether it is an object without keys.
    pub fn is_empty_object(&self) -> bool {
        &*self.0 == "{}"
    }
}

impl From<&Value> for Setting {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}
