//! Values in words, and values that repeat.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::wording::type_name;

/// The number of characters that are shown of a value.
const MAX_VALUE_CHARACTERS: usize = 60;

/// A value as JSON, cut if it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        // A long list is not written in full to be cut.
        Value::Array(_) | Value::Object(_) => return type_name(value).to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE_CHARACTERS) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text,
    }
}

/// `it has 17 items; it must have at most 16`.
pub(super) fn counted(has: u64, noun: &str, bound: &str, limit: u64) -> String {
    let plural = if has == 1 { "" } else { "s" };
    format!("it has {has} {noun}{plural}; it must have {bound} {limit}")
}

/// The first item that repeats an earlier one in the values of these fields, or as a whole: the
/// index of the earlier one, and its own.
pub(super) fn repeated(items: &[Value], keys: &[Arc<str>]) -> Option<(usize, usize)> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        let identity = if keys.is_empty() {
            item.to_string()
        } else {
            let key_and_value =
                |key: &Arc<str>| Some(((**key).to_owned(), item.get(&**key)?.clone()));
            let values: Map<String, Value> = keys.iter().filter_map(key_and_value).collect();
            Value::Object(values).to_string()
        };
        if let Some(first) = known.insert(identity, place) {
            return Some((first, place));
        }
    }
    None
}
