//! Kinds whose policies act through a policy of another kind, which their controller writes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::profile::SpecPath;
use crate::model::ids::GroupKind;

/// The policies of another kind by which a controller carries out policies of the kind: where other policies replace these, the
/// policies of the kind do nothing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "AppliesThroughFile", deny_unknown_fields)]
pub struct AppliesThrough {
    /// The kind of these policies.
    pub kind: GroupKind,
    /// The beginning of their names: `kuadrant-`.
    pub prefix: Arc<str>,
    /// The setting that must be theirs: `spec.wasm`.
    pub setting: SpecPath,
    /// Why policies of the kind do nothing then: one sentence for users.
    pub text: Arc<str>,
}

// === impl AppliesThrough ===

impl AppliesThrough {
    pub(in crate::kinds::profile) fn json(&self) -> Value {
        json!(format!("{} {}*", self.kind, self.prefix))
    }
}
