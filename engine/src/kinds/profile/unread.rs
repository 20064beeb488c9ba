//! Settings that controllers do not read because of another setting of the same policy.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::condition::{Condition, ValuesFile};
use super::paths::{setting_paths, spec_path};
use super::{Profile, at_path};

/// Settings that controllers do not read.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnreadFile {
    /// The settings: `spec.rateLimit.local`.
    pub settings: Vec<String>,
    /// If each of these fields of the same policy has one of these values: `spec.rateLimit.type: [Global]`. The values are
    /// those of `weakenedBy`.
    pub when: ValuesFile,
}

/// Settings that controllers do not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The settings, as paths within the spec.
    settings: Vec<Vec<String>>,
    condition: Condition,
}

// === impl Unread ===

impl Unread {
    pub(super) fn read(file: &UnreadFile) -> Self {
        Self {
            settings: setting_paths(&file.settings),
            condition: Condition::read(&file.when, &ValuesFile::new()),
        }
    }

    /// The form that users see.
    pub(super) fn json(&self) -> Value {
        let settings: Vec<String> = self.settings.iter().map(|path| spec_path(path)).collect();
        json!({"settings": settings, "when": self.condition.json()})
    }
}

// === impl Profile ===

impl Profile {
    /// Removes the settings that controllers do not read from the spec of a policy.
    pub(crate) fn take_unread(&self, spec: &mut Cow<'_, Value>) {
        for unread in self.merging.unread.iter() {
            if unread.condition.holds_in(spec) {
                for path in &unread.settings {
                    at_path::remove(spec.to_mut(), path);
                }
            }
        }
    }
}
