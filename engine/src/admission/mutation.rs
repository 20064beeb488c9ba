//! The mutations that can be switched on.

use schemars::JsonSchema;
use serde::Deserialize;

/// A mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mutation {
    /// Corrects the spelling of target references.
    NormalizeTargets,
    /// Writes the default strategy into policies that name none.
    DefaultStrategy,
    /// Sets `<domain>/<Kind>Affected` on targets whose status has no conditions.
    AffectedAnnotation,
    /// Moves `targetRef` to `targetRefs`.
    MigrateTargetRef,
    /// Writes settings into the fields of targets that they control.
    ProjectFields,
}

// === impl Mutation ===

impl Mutation {
    /// Every mutation, in the order in which they run.
    pub const ALL: [Self; 5] = [
        Self::NormalizeTargets,
        Self::MigrateTargetRef,
        Self::DefaultStrategy,
        Self::AffectedAnnotation,
        Self::ProjectFields,
    ];

    /// The name in the configuration and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NormalizeTargets => "normalize-targets",
            Self::DefaultStrategy => "default-strategy",
            Self::AffectedAnnotation => "affected-annotation",
            Self::MigrateTargetRef => "migrate-target-ref",
            Self::ProjectFields => "project-fields",
        }
    }
}
