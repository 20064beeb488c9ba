//! The values at a path with wildcards, and the removal of one value.

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

/// Removes the value at a path.
pub(super) fn remove(value: &mut Value, path: &[String]) {
    let above = path.split_last();
    let map = above.and_then(|(_, above)| {
        let at = above.iter().try_fold(value, |at, key| at.get_mut(key))?;
        at.as_object_mut()
    });
    if let (Some((key, _)), Some(map)) = (above, map) {
        map.remove(key);
    }
}
