//! The value of one setting.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::literal;

/// A value as JSON text: a list of a thousand small objects takes a hundredth of what it would as values. Equal values
/// are equal texts, but for zeros with a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting(Text);

/// A text that many have. To share a long one it is not copied.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Short(Arc<str>),
    Long(Arc<Box<str>>),
}

/// Bytes from which on a text is long.
const LONG: usize = 4096;

// === impl Setting ===

impl Setting {
    /// As JSON, without spaces, keys sorted.
    pub fn text(&self) -> &str {
        match &self.0 {
            Text::Short(text) => text,
            Text::Long(text) => text,
        }
    }

    /// As it was given.
    pub fn value(&self) -> Value {
        literal::from_str(self.text()).unwrap_or_default()
    }

    /// Whether it removes what others set.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Whether it is an object without keys.
    pub fn is_empty_object(&self) -> bool {
        self.text() == "{}"
    }
}

impl From<&Value> for Setting {
    fn from(value: &Value) -> Self {
        // A long text that grows by doubling would take three times as much for a moment.
        let mut text = String::with_capacity(room(value));
        let _ = write!(text, "{value}");
        Self(if text.len() < LONG {
            Text::Short(text.into())
        } else {
            Text::Long(Arc::new(text.into_boxed_str()))
        })
    }
}

/// How long its text is without escapes, numbers beyond two digits, and `false`.
fn room(value: &Value) -> usize {
    let list = |items: usize, within: usize| 2 + items.saturating_sub(1) + within;
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 2,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => list(items.len(), items.iter().map(room).sum()),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| key.len() + 3 + room(value));
            list(map.len(), fields.sum())
        }
    }
}
