//! Kinds whose policies act through a policy of another kind, which their controller writes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::paths::setting_path;
use crate::model::ids::GroupKind;

/// The policies of another kind by which a controller carries out policies of the kind: where other policies replace these, the
/// policies of the kind do nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActsThroughFile {
    /// The kind of these policies.
    pub kind: GroupKind,
    /// The beginning of their names: `kuadrant-`.
    pub prefix: String,
    /// The setting that must be theirs: `spec.wasm`.
    pub setting: String,
    /// Why policies of the kind do nothing then: one sentence for users.
    pub text: String,
}

/// The policies through which policies of a kind act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActsThrough {
    /// The kind of these policies.
    pub kind: GroupKind,
    /// The beginning of their names.
    pub prefix: Arc<str>,
    /// The setting that must be theirs, as a path within the settings.
    pub setting: Vec<String>,
    /// Why policies of the kind do nothing if it is not.
    pub text: Arc<str>,
}

// === impl ActsThrough ===

impl ActsThrough {
    pub(super) fn read(file: &ActsThroughFile) -> Self {
        Self {
            kind: file.kind.clone(),
            prefix: file.prefix.as_str().into(),
            setting: setting_path(&file.setting),
            text: file.text.as_str().into(),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!(format!("{} {}*", self.kind, self.prefix))
    }
}
