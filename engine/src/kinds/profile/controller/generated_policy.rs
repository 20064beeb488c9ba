//! Policies that a controller generates on the routes that it generates.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::kinds::profile::values::paths::{path, setting_path};
use crate::model::ids::GroupKind;
use crate::model::literal;

/// A policy that a controller generates from an object, on the route that it generates from the same object. It comes without
/// a strategy.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratedPolicyFile {
    /// The kind of the policy.
    pub kind: GroupKind,
    /// Its version.
    pub version: String,
    /// The prefix of the name of the policy; the name of the object follows.
    #[serde(default)]
    pub prefix: String,
    /// The suffix of the name of the policy, after the name of the object.
    #[serde(default)]
    pub suffix: String,
    /// Its settings. If two write one field, the second one counts. The policy exists if the object has at least one of the
    /// fields from which they come.
    pub settings: Vec<GeneratedSettingFile>,
}

/// A setting that comes from a field.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GeneratedSettingFile {
    /// The field of the object: `spec.securityPolicy.extAuth`.
    pub from: String,
    /// The setting: `spec.extAuth`.
    pub at: String,
    /// The value, if it is not that of the field.
    #[serde(default, deserialize_with = "literal::optional")]
    pub value: Option<Value>,
    /// Fields of the object whose values are added to each item of the value, by their place there.
    #[serde(default)]
    pub item_fields: BTreeMap<String, String>,
    /// Whether the field alone makes no policy: `mergeType`.
    #[serde(default)]
    pub only_with_others: bool,
}

// === impl GeneratedPolicyFile ===

impl GeneratedPolicyFile {
    /// The settings of the policy of an object with this spec; `None` if it has no policy.
    pub fn settings(&self, spec: &Value) -> Option<Map<String, Value>> {
        let mut all = Map::new();
        let mut exists = false;
        for setting in &self.settings {
            if let Some(value) = setting.value(spec) {
                put(&mut all, &setting_path(&setting.at), value);
                exists |= !setting.only_with_others;
            }
        }
        exists.then_some(all)
    }
}

// === impl GeneratedSettingFile ===

impl GeneratedSettingFile {
    fn value(&self, spec: &Value) -> Option<Value> {
        let own = field(spec, &self.from)?;
        let mut value = self.value.clone().unwrap_or_else(|| own.clone());
        for item in value.as_array_mut().into_iter().flatten() {
            let Some(item) = item.as_object_mut() else {
                continue;
            };
            for (name, from) in &self.item_fields {
                if let Some(value) = field(spec, from) {
                    put(item, &path(name), value.clone());
                }
            }
        }
        Some(value)
    }
}

/// The value of a field, if it is there and not null.
pub(super) fn field<'v>(spec: &'v Value, dotted: &str) -> Option<&'v Value> {
    let mut fields = setting_path(dotted).into_iter();
    let value = fields.try_fold(spec, |value, field| value.get(field));
    value.filter(|value| !value.is_null())
}

fn put(all: &mut Map<String, Value>, fields: &[String], value: Value) {
    match fields {
        [] => {}
        [last] => drop(all.insert(last.clone(), value)),
        [first, rest @ ..] => {
            let below = all.entry(first.clone());
            let below = below.or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}
