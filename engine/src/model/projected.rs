//! The annotation that records the values of policies written into an object.
//!
//! Without it such a value would appear to be the object's own: it would outrank later defaults and outlive the
//! policy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::literal;

/// The annotation.
pub const ANNOTATION: &str = "attache.dev/projected";

/// The maximum length of its text in bytes. All annotations of an object together may have 256 KiB.
pub const MAX_TEXT_BYTES: usize = 32 << 10;

/// The written values, by JSON pointer from the root of the object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Projected(BTreeMap<String, Written>);

/// One written value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The policies that it came from.
    pub policy: String,
    /// The value.
    #[serde(deserialize_with = "literal::value")]
    pub value: Value,
    /// The object's own value that an override replaced.
    #[serde(
        default,
        deserialize_with = "literal::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub own: Option<Value>,
}

// === impl Projected ===

impl Projected {
    /// Parses the text of the annotation; `None` if attache did not write it.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() <= MAX_TEXT_BYTES)
            .then(|| serde_json::from_str(text).ok())
            .flatten()
    }

    /// Reads the annotation of an object.
    pub fn read(object: &Value) -> Option<Self> {
        let annotations = object.get("metadata")?.get("annotations")?;
        Self::parse(annotations.get(ANNOTATION)?.as_str()?)
    }

    /// The text of the annotation; `None` if it is empty.
    pub fn text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        serde_json::to_string(self).ok()
    }

    /// Records a value.
    pub fn note(&mut self, pointer: &str, written: Written) {
        self.0.insert(pointer.to_owned(), written);
    }

    /// Restores the object's own values in a spec wherever a written value is unchanged. It does not touch the values
    /// of other fields, whatever the annotation says: users can write it.
    pub fn take_out(&self, spec: &mut Value) {
        // In reverse order, so that inner values are removed before the object around them, which is then empty.
        for (pointer, written) in self.0.iter().rev() {
            let place = pointer
                .strip_prefix("/spec")
                .and_then(|p| p.rsplit_once('/'));
            let Some((parent, key)) = place else {
                continue;
            };
            let Some(Value::Object(map)) = spec.pointer_mut(parent) else {
                continue;
            };
            let key = key.replace("~1", "/").replace("~0", "~");
            if map.get(&key) != Some(&written.value) {
                continue;
            }
            match &written.own {
                Some(own) => map.insert(key, own.clone()),
                None => map.remove(&key),
            };
        }
    }
}

/// Appends a key to a JSON pointer; returns the length to truncate it to afterwards.
pub(crate) fn descend(pointer: &mut String, key: &str) -> usize {
    let before = pointer.len();
    pointer.push('/');
    pointer.push_str(&token(key));
    before
}

/// A key as a token of a JSON pointer (RFC 6901).
pub(crate) fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Projected;

    fn taken_out(written: &Value, mut spec: Value) -> Value {
        let written = Projected::parse(&written.to_string()).unwrap();
        written.take_out(&mut spec);
        spec
    }

    #[test]
    fn unchanged_projected_values_are_removed_with_their_objects() {
        let written = json!({
            "/spec/a": {"policy": "p", "value": {}},
            "/spec/a/b": {"policy": "p", "value": 1},
            "/spec/c": {"policy": "p", "value": 2, "own": 3},
            "/spec/x~1y": {"policy": "p", "value": "z"},
        });
        let spec = json!({"a": {"b": 1}, "c": 2, "x/y": "z"});
        assert_eq!(taken_out(&written, spec), json!({"c": 3}));
        let spec = json!({"a": {"b": 9}, "c": 8, "x/y": "w"});
        assert_eq!(taken_out(&written, spec.clone()), spec);
    }

    #[test]
    fn pointers_outside_the_spec_are_ignored() {
        let written = json!({
            "/metadata/name": {"policy": "", "value": "n"},
            "/spec": {"policy": "", "value": {"a": 1}},
            "/specs/a": {"policy": "", "value": 1},
            "": {"policy": "", "value": 1},
        });
        let spec = json!({"a": 1, "name": "n"});
        assert_eq!(taken_out(&written, spec.clone()), spec);
    }
}
