//! Settings that controllers do not read because of another setting of the same policy.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kinds::profile::values::at_path;
use crate::kinds::profile::{FieldConditions, Profile, SpecPath};

/// Settings that controllers do not read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename = "IgnoredSettings", deny_unknown_fields)]
pub struct IgnoredSettings {
    /// The settings: `spec.rateLimit.local`.
    settings: Vec<SpecPath>,
    /// If each of these fields of the same policy has one of these values: `spec.rateLimit.type: [Global]`. See Conditions in
    /// docs/reference/profiles.md.
    when: FieldConditions,
}

// === impl IgnoredSettings ===

impl IgnoredSettings {
    /// Settings that controllers do not read, whatever else the policy has.
    pub(super) fn always(settings: Vec<SpecPath>) -> Self {
        Self {
            settings,
            when: FieldConditions::default(),
        }
    }
}

// === impl Profile ===

impl Profile {
    /// Removes the settings that controllers do not read from the spec of a policy.
    pub(crate) fn take_ignored_settings(&self, spec: &mut Cow<'_, Value>) {
        for unread in self.merging.ignored_settings.iter() {
            if unread.when.all_in(spec) {
                for path in &unread.settings {
                    at_path::remove(spec.to_mut(), path);
                }
            }
        }
    }
}
