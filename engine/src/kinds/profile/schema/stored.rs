//! Specs as the API server stores them, by the CRD of their kind.

use serde_json::Value;

use super::nulls::{drop_all_nulls, has_null};
use super::{Unknown, VersionSchema};
use crate::kinds::profile::Profile;

// === impl Profile ===

impl Profile {
    /// The schema of a version; that of all versions together if the version is unknown.
    pub fn schema(&self, version: Option<&str>) -> Option<&VersionSchema> {
        let named = |schema: &&VersionSchema| version == Some(&*schema.name);
        let mut schemas = self.schemas.iter();
        schemas.find(named).or(self.schemas.last())
    }

    /// Whether the API server stores another spec than this one.
    pub fn is_stored_differently(&self, version: Option<&str>, spec: &Value) -> bool {
        match self.schema(version) {
            Some(schema) => schema.spec.stores_differently(spec),
            None => *self.drops_nulls && has_null(spec),
        }
    }

    /// Changes a spec to the one that the API server stores: removes the fields that a version does
    /// not have, and each `null` that cannot be stored, and fills in the defaults. Returns the
    /// first of the removed fields. Target fields remain unchanged.
    pub fn as_stored(&self, version: Option<&str>, spec: &mut Value) -> Vec<Unknown> {
        if !self.is_stored_differently(version, spec) {
            return Vec::new();
        }
        let refs = self.refs.iter().map(|field| &*field.path);
        let refs: Vec<&str> = refs.collect();
        let Some(schema) = self.schema(version) else {
            drop_all_nulls(spec, &refs);
            return Vec::new();
        };
        let unknown = schema.spec.prune(spec, &refs);
        schema.spec.drop_nulls(spec, &refs);
        schema.spec.fill(spec, &refs);
        unknown
    }

    /// Whether the API server takes a spec in a version, as far as its CRD is known. `spec` is what
    /// it stores.
    pub fn is_valid(&self, version: Option<&str>, spec: &Value) -> bool {
        let schema = self.schema(version);
        schema.is_none_or(|schema| schema.violations(spec).is_empty())
    }

    /// Whether a version exists, as far as the versions are known.
    pub fn has_version(&self, version: &str) -> bool {
        self.versions.is_empty() || self.versions.iter().any(|known| **known == *version)
    }
}
