//! Values of merged settings with which controllers apply none of them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::condition::{Condition, ValuesFile};

/// Values of merged settings with which controllers apply none of them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotAppliedFile {
    /// If each of these fields has one of these values: `spec.when.*.predicate: ["<matches ^$>"]`. The values are those of
    /// `weakenedBy`.
    pub when: ValuesFile,
    /// Only if none of these fields has one of these values.
    #[serde(default)]
    pub unless: ValuesFile,
    /// One sentence for users.
    pub text: String,
}

/// Values of merged settings with which controllers apply none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplied {
    /// When they apply none.
    pub condition: Condition,
    /// One sentence for users.
    pub text: Arc<str>,
}

// === impl NotApplied ===

impl NotApplied {
    pub(super) fn read(file: &NotAppliedFile) -> Self {
        Self {
            condition: Condition::read(&file.when, &file.unless),
            text: file.text.as_str().into(),
        }
    }

    /// As people write it.
    pub(super) fn json(&self) -> Value {
        json!({"when": self.condition.json(), "text": &*self.text})
    }
}
