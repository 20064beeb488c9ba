//! The values at a path with wildcards, and their removal.

use serde_json::{Map, Value};

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

/// Removes the values at a path, and objects that are empty then; items of lists stay.
pub(in crate::kinds::profile) fn remove(value: &mut Value, path: &[String]) {
    let Some((key, below)) = path.split_first() else {
        return;
    };
    match value {
        Value::Object(fields) => fields.retain(|name, field| {
            let is_named = name == key || key == ANY_KEY;
            !(is_named && is_removed(field, below))
        }),
        Value::Array(items) => {
            let deeper = if key == ANY_KEY { below } else { path };
            for item in items {
                remove(item, deeper);
            }
        }
        _ => {}
    }
}

/// Removes what lies below a field. Whether the field goes too.
fn is_removed(field: &mut Value, below: &[String]) -> bool {
    let is_empty = |field: &Value| field.as_object().is_some_and(Map::is_empty);
    let was_empty = is_empty(field);
    remove(field, below);
    below.is_empty() || !was_empty && is_empty(field)
}
