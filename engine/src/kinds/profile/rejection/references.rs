//! Fields in which settings name objects: controllers reject the policy without them, or the objects decide how much the settings
//! protect.

use arcstr::ArcStr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kinds::profile::{ObjectWeakness, SpecPath};
use crate::model::ids::GroupKind;

/// A field in which a policy names an object. With `ifMissing`, controllers reject the policy if the object does not exist, or if no
/// `ReferenceGrant` covers a reference into another namespace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "ReferenceFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct Reference {
    /// The path from the root of the object: `spec.extAuth.http.backendRefs`. `*` stands for any item of a list, or for
    /// any field of a map. The field contains one reference or a list of them.
    pub path: SpecPath,
    /// The group of a reference without one; the core group by default.
    #[serde(default)]
    #[schemars(with = "String")]
    pub group: ArcStr,
    /// The kind of a reference without one.
    #[schemars(with = "String")]
    pub kind: ArcStr,
    /// Whether a reference into another namespace needs a `ReferenceGrant`.
    #[serde(default)]
    pub grant: bool,
    /// Whether a reference to a Service must name one of its TCP ports, by number.
    #[serde(default)]
    pub port: bool,
    /// Whether controllers cannot use Services of type `ExternalName` there.
    #[serde(default)]
    pub no_external_names: bool,
    /// A field that the named object must have, or it counts as missing: a `GatewayExtension` that a policy names in
    /// `spec.extAuth.extensionRef` must have `spec.extAuth`.
    pub has: Option<SpecPath>,
    /// Fields in which the named object names Services in turn: `spec.extAuth.grpcService.backendRef`. The reference counts as
    /// missing, too, if such a Service does not exist or no `ReferenceGrant` covers it.
    #[serde(default)]
    pub services: Vec<SpecPath>,
    /// The effect that a policy still has if the object that it names does not exist. Without it, nothing is said about that.
    pub if_missing: Option<WhenRejected>,
    /// Whether requests that the policy is for get an error then.
    #[serde(default)]
    pub requests_fail: bool,
    /// The setting that lets these requests pass if it is `true` or `FailOpen`: `spec.extAuth.failOpen`.
    pub fail_open: Option<SpecPath>,
    /// The setting that controllers leave out then, if they apply the others: `spec.extAuth`.
    pub left_out: Option<SpecPath>,
    /// Values of the named object with which settings of the policy protect less than they seem to.
    #[serde(default)]
    pub weakened_by: Vec<ObjectWeakness>,
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

// === impl Reference ===

impl Reference {
    /// The kind of which the spec of objects is needed, if any.
    pub(in crate::kinds::profile) fn needs_spec_of(&self) -> Option<GroupKind> {
        let kind = || GroupKind::new(self.group.clone(), self.kind.clone());
        let reads_fields =
            self.has.is_some() || !self.services.is_empty() || !self.weakened_by.is_empty();
        reads_fields.then(kind)
    }

    /// Whether a policy may still be attached if controllers reject it because the object is missing.
    pub fn may_leave_attached(&self) -> bool {
        let effect = self.if_missing;
        effect.is_some_and(|effect| effect != WhenRejected::NotAttached)
    }

    pub(in crate::kinds::profile) fn json(&self) -> Value {
        json!(self.path)
    }
}
