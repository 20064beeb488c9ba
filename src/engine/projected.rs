//! What was written into an object from policies, as an annotation of the object says it (ruling 18).
//!
//! Without it a value of a policy would pass for the object's own: it would outrank later defaults and
//! outlive the policy.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::literal;

/// The annotation.
pub const ANNOTATION: &str = "attache.dev/projected";

/// The longest text of it, in bytes. All annotations of an object together may have 256 KiB.
pub const LONGEST: usize = 32 << 10;

/// Values that were written, by JSON pointer from the object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Projected(BTreeMap<String, Written>);

/// One value that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The policies that it came from.
    pub policy: String,
    /// The value.
    #[serde(deserialize_with = "literal::value")]
    pub value: Value,
    /// The object's own value, which gave way to an override.
    #[serde(
        default,
        deserialize_with = "literal::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub own: Option<Value>,
}

// === impl Projected ===

impl Projected {
    /// Reads the text of the annotation; none where it is not ours.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() <= LONGEST)
            .then(|| serde_json::from_str(text).ok())
            .flatten()
    }

    /// Reads it from an object.
    pub fn of(object: &Value) -> Option<Self> {
        let annotations = object.get("metadata")?.get("annotations")?;
        Self::parse(annotations.get(ANNOTATION)?.as_str()?)
    }

    /// The text of the annotation; none where there is nothing to say.
    pub fn text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        serde_json::to_string(self).ok()
    }

    /// Notes a value.
    pub fn note(&mut self, pointer: &str, written: Written) {
        self.0.insert(pointer.to_owned(), written);
    }

    /// Gives a spec back what it had of its own, wherever what was written stands unchanged. Values of
    /// other fields are not touched, whatever the annotation says: users can write it.
    pub fn take_out(&self, spec: &mut Value) {
        // What stands inside comes after what it stands in: an object that was made for others is
        // empty by the time it is looked at.
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

/// Goes down one key in a JSON pointer; gives the length to cut it back to.
pub(crate) fn descend(pointer: &mut String, key: &str) -> usize {
    let before = pointer.len();
    pointer.push('/');
    pointer.push_str(&token(key));
    before
}

/// A key as it stands in a JSON pointer (RFC 6901).
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
    fn what_stands_unchanged_is_taken_out_with_what_was_made_for_it() {
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
    fn pointers_to_elsewhere_are_passed_over() {
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
