//! Built-in lists of all kinds: their versions, for use without a CRD, and their short names.

use std::sync::Arc;

use serde::Deserialize;

use super::file::Names;
use crate::model::ids::GroupKind;

/// The versions of kinds, for use without their CRDs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionsFile {
    /// Kinds of one group that have the same versions.
    pub(super) versions: Vec<KindVersions>,
}

/// Kinds of one group and their versions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindVersions {
    /// The API group.
    pub group: String,
    /// One kind or several.
    pub kind: Names,
    /// The versions, the newest first.
    pub(super) versions: Vec<Arc<str>>,
}

/// Alternative names of kinds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamesFile {
    /// One entry per kind.
    pub(super) names: Vec<KindNames>,
}

/// The short names of a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindNames {
    /// The API group.
    pub(super) group: String,
    /// Kind.
    pub(super) kind: String,
    /// The short names, as kubectl accepts them.
    pub(super) short: Vec<String>,
}

// === impl NamesFile ===

impl NamesFile {
    /// The short names of a kind.
    pub(super) fn names_of(&self, kind: &GroupKind) -> Vec<String> {
        let mut named = self.names.iter();
        let named = named.find(|named| named.group == kind.group && named.kind == kind.kind);
        named.map(|named| named.short.clone()).unwrap_or_default()
    }
}

// === impl VersionsFile ===

impl VersionsFile {
    /// The versions of a kind.
    pub(super) fn versions_of(&self, kind: &GroupKind) -> Option<Vec<Arc<str>>> {
        let is_of = |entry: &&KindVersions| {
            entry.group == kind.group && entry.kind.iter().any(|name| name == kind.kind)
        };
        let known = self.versions.iter().find(is_of)?;
        Some(known.versions.clone())
    }
}
