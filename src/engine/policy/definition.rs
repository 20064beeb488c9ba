//! A policy as the definition of its kind has it: its version, and the fields that there are.

use std::sync::Arc;

use serde_json::Value;

use super::{Policy, spec};
use crate::engine::profile::{Unknown, VersionSchema};

// === impl Policy ===

impl Policy {
    /// The spec as the API server stores it: without the fields that the definition does not have.
    pub fn spec(&self) -> Value {
        let mut spec = spec(&self.object);
        self.prune(&mut spec);
        spec
    }

    /// Takes the fields away that the definition does not have, and tells the first of them. Of what a target may have
    /// there are rules of their own.
    pub fn prune(&self, spec: &mut Value) -> Vec<Unknown> {
        let version = self.object.meta.version.as_deref();
        self.profile.prune(version, spec)
    }

    /// What the definition says of the version that it is written in.
    pub fn schema(&self) -> Option<&VersionSchema> {
        self.profile.schema(self.object.meta.version.as_deref())
    }

    /// What it lacks, so that it is refused: `needs rules where action is DENY`.
    pub fn unmet(&self) -> Option<String> {
        let asks = self.strategies.is_none() && !self.profile.needs.is_empty();
        asks.then(|| self.profile.unmet(&self.spec())).flatten()
    }

    /// The version that it is written in, where there is no such version.
    pub fn unknown_version(&self) -> Option<&Arc<str>> {
        let version = self.object.meta.version.as_ref();
        version.filter(|version| !self.profile.has_version(version))
    }
}
