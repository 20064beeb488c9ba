//! Filters of routes that controllers use in place of settings of policies.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::profile::SpecPath;

/// A filter of rules that controllers use in place of a setting of policies. On its rule the setting has the value of the filter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(
    rename = "ReplacingFilterFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct ReplacingFilter {
    /// The type of the filter: `CORS`.
    pub filter: Arc<str>,
    /// The setting that it replaces: `spec.cors`.
    pub setting: SpecPath,
    /// Whether the setting of a policy whose strategy is to override stays in force.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unless_override: bool,
}
