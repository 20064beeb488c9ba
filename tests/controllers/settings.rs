//! Where a policy has the settings that were recorded, and which of them protect.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// By kind of policy.
pub(crate) type Settings = BTreeMap<String, OfKind>;

/// The settings of a kind that were recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfKind {
    /// They are recorded on listeners, not on rules.
    #[serde(default)]
    pub(crate) listeners: bool,
    pub(crate) settings: BTreeMap<String, Setting>,
}

/// One setting.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Setting {
    /// Pointers into the spec; `*` is every item of a list.
    at: Vec<String>,
    /// Whether somebody is kept out by it.
    #[serde(default)]
    pub(crate) protects: bool,
    /// Where this is set it protects only as long as something else works, and nobody can tell that from objects.
    #[serde(default)]
    may_fail_open: Option<String>,
    /// The controller writes its values without this at the start.
    #[serde(default)]
    without: String,
}

pub(crate) fn read(dir: &Path) -> Settings {
    let text = fs::read_to_string(dir.join("settings.yaml")).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

// === impl OfKind ===

impl OfKind {
    /// Whether a setting of a spec keeps somebody out.
    pub(crate) fn protects(&self, name: &str, spec: &Value) -> bool {
        let setting = &self.settings[name];
        let open = setting.may_fail_open.as_ref();
        let open = open.and_then(|pointer| spec.pointer(pointer));
        setting.protects && open != Some(&Value::Bool(true))
    }

    /// The recorded settings that a spec has.
    pub(crate) fn of(&self, spec: &Value) -> BTreeMap<String, Vec<String>> {
        let found = self.settings.iter().filter_map(|(name, setting)| {
            let mut values = Vec::new();
            for pointer in &setting.at {
                let tokens: Vec<&str> = pointer.split('/').skip(1).collect();
                collect(spec, &tokens, &mut values);
            }
            let cut = |value: &String| value.strip_prefix(&setting.without).map(str::to_owned);
            let values: Vec<String> = values.iter().map(|v| cut(v).unwrap_or(v.clone())).collect();
            (!values.is_empty()).then(|| (name.clone(), values))
        });
        found.collect()
    }

    /// Those of this kind out of what was recorded at one place.
    pub(crate) fn among(
        &self,
        recorded: &BTreeMap<String, Value>,
    ) -> BTreeMap<String, Vec<String>> {
        let own = |name: &&String| self.settings.contains_key(*name);
        let own = recorded.keys().filter(own);
        own.map(|name| (name.clone(), texts(&recorded[name])))
            .collect()
    }
}

fn collect(value: &Value, tokens: &[&str], into: &mut Vec<String>) {
    match tokens.split_first() {
        None => into.extend(texts(value)),
        Some((&"*", rest)) => {
            for item in value.as_array().into_iter().flatten() {
                collect(item, rest, into);
            }
        }
        Some((token, rest)) => {
            if let Some(below) = value.get(token) {
                collect(below, rest, into);
            }
        }
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Null => Vec::new(),
        other => vec![other.to_string()],
    }
}
