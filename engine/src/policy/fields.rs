//! Reads some fields of a spec. The other fields are skipped, which takes a small part of the time of reading them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::model::literal;
use crate::model::object::Object;

/// The fields at these dotted paths of an object's `spec`, if they exist; the last of several with the same name.
/// Empty if the spec cannot be read.
pub fn fields(object: &Object, paths: &[&str]) -> Value {
    let nothing = || Value::Object(Map::new());
    let spec = object.spec.as_deref();
    spec.map_or_else(nothing, |spec| picked(spec, paths).unwrap_or_else(nothing))
}

/// The values at these paths of a text, if it is an object.
fn picked(text: &str, paths: &[&str]) -> Option<Value> {
    let all: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut selected = Map::new();
    for path in paths {
        let (key, nested) = path.split_once('.').unwrap_or((path, ""));
        below.entry(key).or_default().push(nested);
    }
    for (key, paths) in below {
        let Some(text) = all.get(key) else {
            continue;
        };
        let takes_all = paths.contains(&"");
        let value = if takes_all {
            literal::from_str(text.get()).ok()
        } else {
            picked(text.get(), &paths)
        };
        selected.extend(value.map(|value| (key.to_owned(), value)));
    }
    Some(Value::Object(selected))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::model::ids::GroupKind;
    use crate::policy::{spec, value_at};

    #[test]
    fn a_picked_field_equals_the_field_of_the_whole() {
        let object = json!({"metadata": {"name": "x"}, "spec": {
            "a": {"b": {"c": 1, "d": [2]}, "e": null}, "f": "g", "a.b": 3, "h": [{"i": 4}]}});
        let text = to_raw_value(&object).unwrap();
        let object = Object::from_json(&GroupKind::new("e.com", "Policy"), &text).unwrap();
        let full_spec = spec(&object);
        let paths = ["a.b.c", "a.b", "a.e", "a.x", "f", "f.g", "h.i", "y.z"];
        let all = fields(&object, &paths);
        for path in paths {
            assert_eq!(value_at(&all, path), value_at(&full_spec, path), "{path}");
            assert_eq!(
                value_at(&fields(&object, &[path]), path),
                value_at(&full_spec, path),
                "{path}"
            );
        }
        assert_eq!(value_at(&fields(&object, &["f"]), "a"), None);
        assert_eq!(fields(&object, &[]), json!({}));
    }
}
