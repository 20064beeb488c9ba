//! Fields without which a policy of a kind is rejected, by its definition or by the admission of its controllers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::condition::ANY_VALUE;
use super::read::setting_path;
use super::{Fact, Profile};
use crate::policy::{Entry, entries};

/// Fields of which a policy needs at least one, or the kinds of its targets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NeedFile {
    /// The fields, as paths from the root of the object: `spec.rules`.
    #[serde(default)]
    pub any_of: Vec<String>,
    /// The kinds of which each target must be one: `HTTPRoute`.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Only for policies with one of these values in each of these fields: `spec.action: [DENY]`. `<any>` is any value.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
}

/// Fields of which a policy needs at least one, or the kinds of its targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    any_of: Vec<Vec<String>>,
    targets: Vec<String>,
    when: Vec<(Vec<String>, Vec<String>)>,
}

// === impl Need ===

impl Need {
    pub(super) fn read(file: &NeedFile) -> Self {
        let when = file.when.iter();
        Self {
            any_of: file.any_of.iter().map(|path| setting_path(path)).collect(),
            targets: file.targets.clone(),
            when: when
                .map(|(path, texts)| (setting_path(path), texts.clone()))
                .collect(),
        }
    }

    fn is_met(&self, spec: &Value, profile: &Profile) -> bool {
        let asked = self.when.iter().all(|(path, texts)| {
            let value = value_at(spec, path);
            let is = |text: &String| value.and_then(Value::as_str) == Some(text);
            texts
                .iter()
                .any(|text| is(text) || (text == ANY_VALUE && is_set(value)))
        });
        let any_of = || self.any_of.iter().any(|path| is_set(value_at(spec, path)));
        let is_target = |entry: &Entry<'_>| {
            let target = entry.target.as_ref().ok();
            target.is_none_or(|target| self.targets.iter().any(|kind| **kind == *target.gk.kind))
        };
        let targets = || self.targets.is_empty() || entries(spec, profile).iter().all(is_target);
        !asked || ((self.any_of.is_empty() || any_of()) && targets())
    }

    /// `needs rules where action is DENY`.
    fn words(&self) -> String {
        let fields: Vec<String> = self.any_of.iter().map(|path| path.join(".")).collect();
        let mut needs = fields.join(" or ");
        if !self.targets.is_empty() {
            let and = if needs.is_empty() { "" } else { " and " };
            needs = format!("{needs}{and}targets of kind {}", self.targets.join(", "));
        }
        let when = self.when.iter();
        let when: Vec<String> = when
            .map(|(path, texts)| match texts.as_slice() {
                [any] if any == ANY_VALUE => format!("{} is set", path.join(".")),
                texts => format!("{} is {}", path.join("."), texts.join(" or ")),
            })
            .collect();
        if when.is_empty() {
            format!("needs {needs}")
        } else {
            format!("needs {needs} where {}", when.join(" and "))
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
        let need = self.needs.iter().find(|need| !need.is_met(spec, self));
        need.map(Need::words)
    }
}

/// The form that users see.
pub(super) fn shown(needs: &Fact<Vec<Need>>) -> Option<Vec<String>> {
    let words = needs.iter().map(Need::words);
    (!needs.is_empty()).then(|| words.collect())
}
