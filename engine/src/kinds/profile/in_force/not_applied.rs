//! Values of merged settings with which controllers apply none of them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::profile::FieldConditions;

/// Values of merged settings with which controllers ignore all policies that were merged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "NotAppliedFile", deny_unknown_fields)]
pub struct NotApplied {
    /// If each of these fields has one of these values: `spec.when.*.predicate: ["<matches ^$>"]`. See Conditions in
    /// docs/reference/profiles.md.
    when: FieldConditions,
    /// Only if none of these fields has one of these values.
    #[serde(default)]
    unless: FieldConditions,
    /// One sentence for users.
    pub text: Arc<str>,
}

// === impl NotApplied ===

impl NotApplied {
    /// Whether controllers apply none of these settings.
    pub fn is_about(&self, settings: &Value) -> bool {
        self.when.all_in(settings) && !self.unless.any_in(settings)
    }

    /// As people write it.
    pub(in crate::kinds::profile) fn json(&self) -> Value {
        json!({"when": self.when, "text": &*self.text})
    }
}
