//! Fields and kinds of targets without which a policy of a kind is rejected, by its CRD or by the
//! admission of its controllers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::kinds::profile::{ANY_VALUE, Fact, SpecPath};

/// Fields of which a policy needs at least one, or the kinds of its targets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "RequirementFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct Requirement {
    /// The fields, as paths from the root of the object: `spec.rules`.
    #[serde(default)]
    pub(crate) any_of: Vec<SpecPath>,
    /// The kinds of which each target must be one: `HTTPRoute`.
    #[serde(default)]
    pub(crate) targets: Vec<String>,
    /// Only for policies with one of these values in each of these fields: `spec.action: [DENY]`. `<any>` is any value.
    #[serde(default)]
    pub(crate) when: BTreeMap<SpecPath, Vec<String>>,
}

// === impl Requirement ===

impl Requirement {
    /// `needs rules where action is DENY`.
    pub(crate) fn text(&self) -> String {
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
pub(in crate::kinds::profile) fn shown(
    requirements: &Fact<Vec<Requirement>>,
) -> Option<Vec<String>> {
    let words = requirements.iter().map(Requirement::text);
    (!requirements.is_empty()).then(|| words.collect())
}
