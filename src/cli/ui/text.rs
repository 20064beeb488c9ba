//! The YAML of an object, as people apply it.

use serde_json::Value;

use crate::answer::graph::yaml;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::literal;

/// Whether an object is shown whole. A Secret never is.
pub(super) fn is_shown(key: &ObjectKey) -> bool {
    !key.gk.is_core("Secret")
}

/// An object as YAML, without the notes of the API server about its writers.
///
/// # Errors
/// If it is not JSON.
pub(super) fn of_json(json: &str) -> Result<String, serde_json::Error> {
    let mut object = literal::from_str(json)?;
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        metadata.remove("managedFields");
    }
    Ok(yaml(&object))
}

#[cfg(test)]
mod tests {
    use super::of_json;

    #[test]
    fn managed_fields_are_left_out() {
        let json = r#"{"metadata":{"name":"a","managedFields":[{"manager":"m"}]},"spec":{"b":1}}"#;
        let yaml = of_json(json).unwrap();
        assert_eq!(yaml, "metadata:\n  name: a\nspec:\n  b: 1\n");
    }
}
