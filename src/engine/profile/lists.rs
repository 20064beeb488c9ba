//! Lists of all kinds that come with attache: their versions where no definition is at hand, and their short names.

use serde::Deserialize;

use super::file::{Match, Names};

/// The versions of kinds, where the definitions are not at hand.
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
    /// API group.
    pub group: String,
    /// Kind, or several.
    pub kind: Names,
    /// The versions, the newest first.
    pub(super) versions: Vec<String>,
}

/// What kinds are called beside their own names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamesFile {
    /// One entry a kind.
    pub(super) names: Vec<KindNames>,
}

/// The short names of a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindNames {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Short names, as kubectl takes them.
    pub short: Vec<String>,
}

// === impl VersionsFile ===

impl VersionsFile {
    /// The versions of a kind.
    pub(super) fn of(&self, kind: &Match) -> Option<Vec<String>> {
        let is_of = |said: &&KindVersions| {
            said.group == kind.group && said.kind.iter().any(|name| name == kind.kind)
        };
        let said = self.versions.iter().find(is_of)?;
        Some(said.versions.clone())
    }
}
