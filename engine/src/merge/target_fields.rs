//! Fields that the target sets itself, which rank between overrides and defaults.

use std::sync::Arc;

use serde_json::Value;

use crate::kinds::profile::Control;
use crate::model::ids::ObjectKey;
use crate::policy::Setting;
use crate::policy::tree::Tree;
use crate::policy::value_at;

/// The fields that a target sets itself, of those that policies of a kind control.
#[derive(Clone, Debug)]
pub struct TargetFields {
    pub(super) tree: Arc<Tree>,
    /// The number of leaves; a leaf with a long path counts several times.
    pub(super) leaves: usize,
}

impl TargetFields {
    /// Reads the controlled fields from the spec of the target; unset fields are left out.
    pub fn new(target: &ObjectKey, spec: &Value, controls: &[&Control]) -> Option<Self> {
        let setting = |value: &Value| Setting {
            value: value.into(),
            policy: target.clone(),
            strategy: None,
            is_controller_default: false,
        };
        let mut settings = Value::Object(serde_json::Map::new());
        for control in controls {
            let Some(mut value) = value_at(spec, &control.field).cloned() else {
                continue;
            };
            if control.zero_is_unset {
                without_zeros(&mut value);
            }
            if !is_unset(&value, control.zero_is_unset) {
                put(&mut settings, &control.setting, value);
            }
        }
        let tree = Tree::read(settings, None, &setting);
        (!tree.is_empty()).then(|| Self {
            leaves: tree.leaves(),
            tree: Arc::new(tree),
        })
    }
}

/// Whether a value is unset: null, and empty lists and maps; `false`, 0 and the empty string only if the profile says
/// so.
pub fn is_unset(value: &Value, zero_too: bool) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(is_so) => zero_too && !is_so,
        Value::Number(number) => zero_too && number.as_f64() == Some(0.0),
        Value::String(text) => zero_too && text.is_empty(),
    }
}

/// Removes all unset values from a value, zero values included.
fn without_zeros(value: &mut Value) {
    if let Value::Object(map) = value {
        map.values_mut().for_each(without_zeros);
        map.retain(|_, inner| !is_unset(inner, true));
    }
}

fn put(at: &mut Value, path: &[String], value: Value) {
    match (path.split_first(), at) {
        (None, at) => *at = value,
        (Some((key, rest)), Value::Object(map)) => {
            let below = map
                .entry(key.clone())
                .or_insert_with(|| Value::Object(serde_json::Map::new()));
            put(below, rest, value);
        }
        (Some(_), _) => {}
    }
}
