//! Rules of the routes that controllers generate from other objects.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::generated_policy::field;
use crate::model::ids::GroupKind;

/// A rule of a generated route with one match.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratedRuleFile {
    /// Its name.
    pub name: Option<String>,
    /// Only if the object has this field: `spec.securityPolicy.oauth`.
    pub when: Option<String>,
    /// The path that it matches.
    pub path: GeneratedPathFile,
    /// The field of the object with the headers that it matches: `spec.headers`.
    pub headers: Option<String>,
    /// The kind of the object that a filter of the rule names and that answers its requests; without it, the rule has the
    /// backends of the object.
    pub answered: Option<GroupKind>,
}

/// The path of a generated rule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratedPathFile {
    /// The type of the match: `Exact`.
    pub r#type: String,
    /// Its beginning.
    #[serde(default)]
    pub prefix: String,
    /// The field of the object with the rest of it: `spec.path`.
    pub field: Option<String>,
    /// The rest if the object has no such field.
    #[serde(default)]
    pub default: String,
}

// === impl GeneratedRuleFile ===

impl GeneratedRuleFile {
    /// The match of the rule, for an object with this spec; `None` if the object has no such rule.
    pub fn match_for(&self, spec: &Value) -> Option<Value> {
        if self
            .when
            .as_ref()
            .is_some_and(|when| field(spec, when).is_none())
        {
            return None;
        }
        let path = &self.path;
        let rest = path
            .field
            .as_ref()
            .and_then(|path| field(spec, path)?.as_str());
        let value = format!("{}{}", path.prefix, rest.unwrap_or(&path.default));
        let headers = self.headers.as_ref().and_then(|path| field(spec, path));
        Some(json!({"path": {"type": path.r#type, "value": value}, "headers": headers}))
    }
}
