//! A policy under the CRD of its kind: its version, and its fields.

use std::sync::Arc;

use serde_json::Value;

use super::{Policy, spec};
use crate::kinds::profile::{Unknown, VersionSchema, Violation};
use crate::model::object::Object;

// === impl Policy ===

impl Policy {
    /// The spec as the API server stores it: without the fields that the CRD does not have and the
    /// nulls that cannot be stored, and with its defaults. Settings that do not apply to the
    /// listeners of this variant are left out.
    pub fn spec(&self) -> Value {
        let mut spec = spec(&self.object);
        self.as_stored(&mut spec);
        self.variant.at.take_out(&mut spec, &self.profile);
        spec
    }

    /// Changes a spec to the one that the API server stores: removes the fields that the CRD does
    /// not have and the nulls that cannot be stored, and fills in the defaults. Returns the first
    /// of the removed fields. Fields of targets have their own rules.
    pub fn as_stored(&self, spec: &mut Value) -> Vec<Unknown> {
        let version = self.object.meta.version.as_deref();
        self.profile.as_stored(version, spec)
    }

    /// The schema of the version that it is written in.
    pub fn schema(&self) -> Option<&VersionSchema> {
        self.profile.schema(self.object.meta.version.as_deref())
    }

    /// The missing fields for which it is rejected: `needs rules where action is DENY`.
    pub fn unmet(&self) -> Option<String> {
        let asks = self.strategies.is_none() && !self.profile.requirements.is_empty();
        asks.then(|| self.profile.unmet(&self.spec())).flatten()
    }

    /// The version that it is written in, if that does not exist.
    pub fn unknown_version(&self) -> Option<&Arc<str>> {
        let version = self.object.meta.version.as_ref();
        version.filter(|version| !self.profile.has_version(version))
    }

    /// Whether it comes from a manifest that no API server has accepted yet.
    pub fn is_unseen(&self) -> bool {
        is_unseen(&self.object)
    }

    /// The first constraint or rule of the CRD for which the API server refuses it.
    pub fn violation(&self) -> Option<Violation> {
        let schema = self.schema()?;
        let asks = self.strategies.is_none() && self.is_unseen();
        let mut violations = asks.then(|| schema.violations(&self.spec()).into_iter())?;
        violations.next()
    }
}

/// Whether an object comes from a manifest that no API server has accepted yet: the API server
/// gives each object a UID. An accepted object stays in force, even if the CRD is stricter today.
pub(super) fn is_unseen(object: &Object) -> bool {
    object.meta.version.is_some() && object.meta.uid.is_none()
}
