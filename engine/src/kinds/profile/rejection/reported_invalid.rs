//! The effect of policies that their controllers report to be invalid.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::references::WhenRejected;
use crate::kinds::profile::SpecPath;

/// The effect that a policy still has if its controllers report it to be `Invalid`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "ReportedInvalidFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct ReportedInvalid {
    /// The effect that the policy still has.
    pub then: WhenRejected,
    /// Only on targets of these kinds: `HTTPRoute`. On all by default.
    #[serde(default)]
    targets: Vec<String>,
    /// Whether requests that the policy is for get an error then.
    #[serde(default)]
    pub requests_fail: bool,
    /// Settings that may let these requests pass if one of them is `true`: `spec.extAuth.failOpen`.
    #[serde(default)]
    pub fail_open: Vec<SpecPath>,
    /// Beginnings of messages with which a policy counts as absent all the same: `Invalid SecurityPolicy:`.
    #[serde(default)]
    absent_with: Vec<String>,
}

// === impl ReportedInvalid ===

impl ReportedInvalid {
    /// Whether it concerns targets of a kind.
    pub fn is_about(&self, kind: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|name| name == kind)
    }

    /// Whether a policy counts as absent if its controllers report this message.
    pub fn is_absent_with(&self, message: &str) -> bool {
        let mut beginnings = self.absent_with.iter();
        beginnings.any(|beginning| message.starts_with(beginning.as_str()))
    }

    pub(in crate::kinds::profile) fn json(&self) -> Value {
        let then = json!(self.then);
        let then = then.as_str().unwrap_or_default();
        if self.requests_fail {
            json!(format!("{then}, and its requests get an error"))
        } else {
            json!(then)
        }
    }
}
