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

// === impl UnsupportedFiltersFile ===

impl UnsupportedFiltersFile {
    /// The first of these filters of a rule that the controller does not support.
    pub(crate) fn in_rule<'t, T: AsRef<str>>(&self, types: &'t [T]) -> Option<&'t T> {
        first(types, &self.of_rules)
    }

    /// The first of these filters of a backend that it does not support.
    pub(crate) fn on_backend<'t, T: AsRef<str>>(&self, types: &'t [T]) -> Option<&'t T> {
        first(types, &self.of_backends)
    }

    /// Filters among these that it does not support together, in words: `RequestMirror and RequestRedirect`.
    pub(crate) fn combined<T: AsRef<str>>(&self, types: &[T]) -> Option<String> {
        let has = |name: &String| types.iter().any(|one| one.as_ref() == name);
        let mut combinations = self.together.iter();
        let found = combinations.find(|names| names.iter().all(has))?;
        Some(found.join(" and "))
    }
}

fn first<'t, T: AsRef<str>>(types: &'t [T], unsupported: &[String]) -> Option<&'t T> {
    let is_unsupported = |one: &&T| unsupported.iter().any(|name| name == (*one).as_ref());
    types.iter().find(is_unsupported)
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
