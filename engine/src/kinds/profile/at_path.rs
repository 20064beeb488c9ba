//! The values at a path with wildcards, and whether they are as wanted.

use serde_json::Value;

/// Any key of a map, or any item of a list.
const ANY_KEY: &str = "*";
/// Any value but `null`.
pub(crate) const ANY_VALUE: &str = "<any>";

/// Adds the values at a path. Several settings may be in force at one place; then they are a list.
pub(crate) fn collect<'a>(value: &'a Value, path: &[String], values: &mut Vec<&'a Value>) {
    let Some((key, below)) = path.split_first() else {
        values.push(value);
        return;
    };
    match value {
        Value::Object(map) if key == ANY_KEY => {
            for value in map.values() {
                collect(value, below, values);
            }
        }
        Value::Object(map) => {
            if let Some(value) = map.get(key) {
                collect(value, below, values);
            }
        }
        Value::Array(items) if let Ok(index) = key.parse::<usize>() => {
            if let Some(item) = items.get(index) {
                collect(item, below, values);
            }
        }
        Value::Array(items) => {
            let deeper = if key == ANY_KEY { below } else { path };
            for item in items {
                collect(item, deeper, values);
            }
        }
        _ => {}
    }
}

/// The prefix that a text must not have: `<other than https://*>`.
fn other_than(wanted: &str) -> Option<&str> {
    wanted.strip_prefix("<other than ")?.strip_suffix("*>")
}

/// Whether a value is as wanted.
pub(super) fn matches(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::String(any), value) if any == ANY_VALUE => !value.is_null(),
        (Value::String(wanted), Value::String(value)) if let Some(prefix) = other_than(wanted) => {
            !value.starts_with(prefix)
        }
        (Value::Object(wanted), Value::Object(value)) if !wanted.is_empty() => {
            let nothing = Value::Null;
            let mut fields = wanted.iter();
            fields.all(|(key, wanted)| matches(wanted, value.get(key).unwrap_or(&nothing)))
        }
        (wanted, value) => wanted == value,
    }
}
