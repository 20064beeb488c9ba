//! Built-in lists of all kinds: their versions, for use without a CRD, and their short names.

use std::sync::Arc;

use serde::Deserialize;

use super::Names;
use crate::model::ids::GroupKind;

/// The versions of kinds, for use without their CRDs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kinds::profile) struct VersionsFile {
    /// Kinds of one group that have the same versions.
    pub(in crate::kinds::profile) versions: Vec<KindVersions>,
}

/// Kinds of one group and their versions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kinds::profile) struct KindVersions {
    /// The API group.
    pub group: String,
    /// One kind or several.
    pub kind: Names,
    /// The versions, the newest first.
    pub(in crate::kinds::profile) versions: Vec<Arc<str>>,
}

/// Alternative names of kinds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kinds::profile) struct NamesFile {
    /// One entry per kind.
    pub(in crate::kinds::profile) names: Vec<KindNames>,
}

/// The short names of a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kinds::profile) struct KindNames {
    /// The API group.
    pub(in crate::kinds::profile) group: String,
    /// Kind.
    pub(in crate::kinds::profile) kind: String,
    /// The short names, as kubectl accepts them.
    pub(in crate::kinds::profile) short: Vec<String>,
}

// === impl NamesFile ===

impl NamesFile {
    /// The short names of a kind.
    pub(in crate::kinds::profile) fn names_of(&self, kind: &GroupKind) -> Vec<String> {
        let mut named = self.names.iter();
        let named = named.find(|named| named.group == kind.group && named.kind == kind.kind);
        named.map(|named| named.short.clone()).unwrap_or_default()
    }
}

// === impl VersionsFile ===

impl VersionsFile {
    /// The versions of a kind.
    pub(in crate::kinds::profile) fn versions_of(&self, kind: &GroupKind) -> Option<Vec<Arc<str>>> {
        let is_of = |entry: &&KindVersions| {
            entry.group == kind.group && entry.kind.iter().any(|name| name == kind.kind)
        };
        let known = self.versions.iter().find(is_of)?;
        Some(known.versions.clone())
    }
}
