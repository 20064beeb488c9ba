//! A kind as profiles name it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::ids::GroupKind;

/// A group and kind.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The API group.
    pub group: String,
    /// Kind.
    pub kind: String,
}

// === impl Match ===

impl Match {
    /// The kind.
    pub fn gk(&self) -> GroupKind {
        GroupKind::new(self.group.as_str(), self.kind.as_str())
    }
}
