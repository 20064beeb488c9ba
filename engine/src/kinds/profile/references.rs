//! Fields in which settings name objects without which controllers reject a policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::paths::setting_path;
use crate::model::ids::GroupKind;

/// A field in which a policy names an object. Controllers reject the policy if the object does not exist, or if no
/// `ReferenceGrant` covers a reference into another namespace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReferenceFile {
    /// The path from the root of the object: `spec.extAuth.http.backendRefs`. `*` stands for any item of a list, or for
    /// any field of a map. The field contains one reference or a list of them.
    pub path: String,
    /// The group of a reference without one; the core group by default.
    #[serde(default)]
    pub group: String,
    /// The kind of a reference without one.
    pub kind: String,
    /// Whether a reference into another namespace needs a `ReferenceGrant`.
    #[serde(default)]
    pub grant: bool,
    /// Whether a reference to a Service must name one of its ports, by number.
    #[serde(default)]
    pub port: bool,
    /// A field that the named object must have, or it counts as missing: a `GatewayExtension` that a policy names in
    /// `spec.extAuth.extensionRef` must have `spec.extAuth`.
    pub has: Option<String>,
    /// The effect that a policy still has if the object that it names does not exist.
    pub if_missing: WhenRejected,
    /// Whether requests that the policy is for get an error then.
    #[serde(default)]
    pub requests_fail: bool,
    /// The setting that lets these requests pass if it is `true`: `spec.extAuth.failOpen`.
    pub fail_open: Option<String>,
    /// The setting that controllers leave out then, if they apply the others: `spec.extAuth`.
    pub left_out: Option<String>,
}

/// The effect that a rejected policy still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenRejected {
    /// Policies above it stay in force.
    NotAttached,
    /// It still replaces policies above it: the target has no settings of the kind.
    KeepsPlace,
    /// Policies above it stay in force, and newer ones on its target still lose to it.
    StillConflicts,
    /// Its controllers accept it and do not apply it: it has no effect on the target, policies above it stay in force, and newer
    /// ones on its target still lose to it.
    NotApplied,
}

/// A field in which a policy names an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Keys within the settings; `*` is any of them.
    pub path: Vec<String>,
    /// The kind of a reference that names none.
    pub gk: GroupKind,
    /// Whether a reference into another namespace needs a `ReferenceGrant`.
    pub grant: bool,
    /// Whether a reference to a Service must name one of its ports.
    pub port: bool,
    /// A field without which the named object does not count, as keys within its spec.
    pub has: Option<Vec<String>>,
    /// The effect that a policy still has if the object that it names does not exist.
    pub if_missing: WhenRejected,
    /// Whether requests that the policy is for get an error then.
    pub requests_fail: bool,
    /// The setting that lets these requests pass if it is `true`.
    pub fail_open: Option<Vec<String>>,
    /// The setting that controllers leave out then, as keys within the settings.
    pub left_out: Option<Vec<String>>,
}

// === impl ReferenceFile ===

impl ReferenceFile {
    /// The kind of which the spec of objects is needed, if any.
    pub(super) fn needs_spec_of(&self) -> Option<GroupKind> {
        let kind = || GroupKind::new(self.group.as_str(), self.kind.as_str());
        self.has.as_ref().map(|_| kind())
    }
}

// === impl Reference ===

impl Reference {
    pub(super) fn read(file: &ReferenceFile) -> Self {
        Self {
            path: setting_path(&file.path),
            gk: GroupKind::new(file.group.as_str(), file.kind.as_str()),
            grant: file.grant,
            port: file.port,
            has: file.has.as_deref().map(setting_path),
            if_missing: file.if_missing,
            requests_fail: file.requests_fail,
            fail_open: file.fail_open.as_deref().map(setting_path),
            left_out: file.left_out.as_deref().map(setting_path),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!(format!("spec.{}", self.path.join(".")))
    }
}
