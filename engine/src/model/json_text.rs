//! The value of one setting.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use crate::model::literal;

/// A value as JSON text: a list of a thousand small objects takes a hundredth of the memory that parsed values take.
/// Equal values have equal texts, except for zeros with a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText(Text);

/// A shared string. Sharing a long one does not copy it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Short(Arc<str>),
    Long(Arc<Box<str>>),
}

/// The length in bytes from which a string is long.
const LONG: usize = 4096;

// === impl JsonText ===

impl JsonText {
    /// The JSON text, without whitespace, with sorted keys.
    pub fn text(&self) -> &str {
        match &self.0 {
            Text::Short(text) => text,
            Text::Long(text) => text,
        }
    }

    /// The parsed value.
    pub fn value(&self) -> Value {
        literal::from_str(self.text()).unwrap_or_default()
    }

    /// Whether it removes the setting of another policy.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Whether it is an empty list.
    pub fn is_empty_list(&self) -> bool {
        self.text() == "[]"
    }

    /// Whether it is an empty object.
    pub fn is_empty_object(&self) -> bool {
        self.text() == "{}"
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        // A long string that grows by doubling would briefly take three times its size.
        let mut text = String::with_capacity(room(value));
        let _ = write!(text, "{value}");
        Self(if text.len() < LONG {
            Text::Short(text.into())
        } else {
            Text::Long(Arc::new(text.into_boxed_str()))
        })
    }
}

/// The length of its text, apart from escapes, numbers of more than two digits, and `false`.
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
