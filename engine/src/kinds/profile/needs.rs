//! Fields without which a policy of a kind is rejected, by its definition or by the admission of its controllers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::read::setting_path;
use super::{Fact, Profile};

/// Fields of which a policy needs at least one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NeedFile {
    /// The fields, as paths from the root of the object: `spec.rules`.
    pub any_of: Vec<String>,
    /// Only for policies with one of these values in each of these fields: `spec.action: [DENY]`.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
}

/// Fields of which a policy needs at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    any_of: Vec<Vec<String>>,
    when: Vec<(Vec<String>, Vec<String>)>,
}

// === impl Need ===

impl Need {
    pub(super) fn read(file: &NeedFile) -> Self {
        let when = file.when.iter();
        Self {
            any_of: file.any_of.iter().map(|path| setting_path(path)).collect(),
            when: when
                .map(|(path, texts)| (setting_path(path), texts.clone()))
                .collect(),
        }
    }

    fn is_met(&self, spec: &Value) -> bool {
        let asked = self.when.iter().all(|(path, texts)| {
            let said = value_at(spec, path).and_then(Value::as_str);
            said.is_some_and(|said| texts.iter().any(|text| text == said))
        });
        !asked || self.any_of.iter().any(|path| is_set(value_at(spec, path)))
    }

    /// `needs rules where action is DENY`.
    fn words(&self) -> String {
        let fields: Vec<String> = self.any_of.iter().map(|path| path.join(".")).collect();
        let when = self.when.iter();
        let when: Vec<String> = when
            .map(|(path, texts)| format!("{} is {}", path.join("."), texts.join(" or ")))
            .collect();
        let fields = fields.join(" or ");
        if when.is_empty() {
            format!("needs {fields}")
        } else {
            format!("needs {fields} where {}", when.join(" and "))
        }
    }
}

fn value_at<'a>(spec: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(spec, |value, name| value.get(name))
}

fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

// === impl Profile ===

impl Profile {
    /// The missing fields for which a policy with this spec is rejected: `needs rules where action is DENY`.
    pub fn unmet(&self, spec: &Value) -> Option<String> {
        let need = self.needs.iter().find(|need| !need.is_met(spec));
        need.map(Need::words)
    }
}

/// The form that users see.
pub(super) fn shown(needs: &Fact<Vec<Need>>) -> Option<Vec<String>> {
    let words = needs.iter().map(Need::words);
    (!needs.is_empty()).then(|| words.collect())
}
