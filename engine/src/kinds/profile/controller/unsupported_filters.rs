//! Facts about filters of routes that a controller does not support.

use schemars::JsonSchema;
use serde::Deserialize;

/// Filters of routes that a controller does not support.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnsupportedFiltersFile {
    /// Types of filters of rules: `ExternalAuth`.
    #[serde(default)]
    pub of_rules: Vec<String>,
    /// Types of filters of backends.
    #[serde(default)]
    pub of_backends: Vec<String>,
    /// Types of filters that it does not support together in one rule.
    #[serde(default)]
    pub together: Vec<Vec<String>>,
    /// What becomes of the requests.
    pub then: UnsupportedFilterEffect,
}

/// What becomes of requests for which a controller does not support a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnsupportedFilterEffect {
    /// Those of the rule, or of the backend, get an error.
    RequestsFail,
    /// They are served as if the filter were not there.
    Ignored,
    /// No rule of the route takes requests.
    RouteNotServed,
}
