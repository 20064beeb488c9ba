//! Kinds that cannot be targets of a policy kind, for policy kinds whose targets are not all known.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::ids::GroupKind;

/// Kinds that no controller takes as targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "ExcludedTargets", deny_unknown_fields)]
pub struct ExcludedTargets {
    /// The kinds.
    pub kinds: Vec<GroupKind>,
    /// The object that a policy should name instead: `a backend, such as a Service`.
    pub suggestion: Arc<str>,
}
