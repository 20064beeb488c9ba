//! Fields and kinds of targets without which a policy of a kind is rejected, by its CRD or by the
//! admission of its controllers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Fact;
use super::at_path::ANY_VALUE;
use super::paths::setting_path;

/// Fields of which a policy needs at least one, or the kinds of its targets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequirementFile {
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
pub struct Requirement {
    pub(crate) any_of: Vec<Vec<String>>,
    pub(crate) targets: Vec<String>,
    pub(crate) when: Vec<(Vec<String>, Vec<String>)>,
}

// === impl Requirement ===

impl Requirement {
    pub(super) fn read(file: &RequirementFile) -> Self {
        let when = file.when.iter();
        Self {
            any_of: file.any_of.iter().map(|path| setting_path(path)).collect(),
            targets: file.targets.clone(),
            when: when
                .map(|(path, texts)| (setting_path(path), texts.clone()))
                .collect(),
        }
    }

    /// `needs rules where action is DENY`.
    pub(crate) fn words(&self) -> String {
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

/// The form that users see.
pub(super) fn shown(requirements: &Fact<Vec<Requirement>>) -> Option<Vec<String>> {
    let words = requirements.iter().map(Requirement::words);
    (!requirements.is_empty()).then(|| words.collect())
}
