//! Kinds that cannot be targets of a policy kind, for policy kinds whose targets are not all known.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::ids::GroupKind;

/// Kinds that no controller takes as targets.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusedFile {
    /// The kinds.
    pub kinds: Vec<GroupKind>,
    /// The object that a policy should name instead: `a backend, such as a Service`.
    pub suggestion: String,
}

/// Kinds that no controller takes as targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// The kinds.
    pub kinds: Vec<GroupKind>,
    /// The object that a policy should name instead.
    pub suggestion: Arc<str>,
}

// === impl Refused ===

impl Refused {
    pub(super) fn read(file: &RefusedFile) -> Self {
        Self {
            kinds: file.kinds.clone(),
            suggestion: file.suggestion.as_str().into(),
        }
    }
}
