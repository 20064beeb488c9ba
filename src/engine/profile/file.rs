//! Profiles as people write them: the form of the built-in files and of `profiles:` in the configuration.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Class, CrossNamespace, DictatedBy, Direction, Op, SameTarget, ServiceAs, With};
use crate::engine::level::Level;

/// One profile. Every field is optional: what is left out is taken from the CRD.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileFile {
    /// The kind that it is about, in any version.
    #[serde(rename = "match")]
    pub matches: Match,
    /// Direct or inherited.
    pub class: Option<Class>,
    /// Where the spec names targets, and which are allowed.
    #[serde(default)]
    pub targets: Targets,
    /// How policies of the kind merge.
    #[serde(default)]
    pub merge: Merge,
    /// Two policies on one target.
    #[serde(default)]
    pub conflict: Conflict,
    /// Kinds whose behaviour changes in the end. Where it is left out: the target itself for direct
    /// kinds, the rule of the route or the lowest allowed target for inherited ones.
    pub effective: Option<Vec<Match>>,
    /// Levels from the least to the most specific; the others do not count. All where it is left out.
    pub hierarchy: Option<Vec<Level>>,
    /// Fields of targets that settings of the policy control.
    #[serde(default)]
    pub controls: Vec<ControlFile>,
    /// The domain in the type of conditions: `<domain>/<Kind>Affected`.
    pub domain: Option<String>,
    /// Status.
    #[serde(default)]
    pub status: StatusFile,
}

/// Conflicts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conflict {
    /// Who wins on one target and section.
    pub same_target: Option<SameTarget>,
}

/// One setting that controls a field of the target.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlFile {
    /// Path within the settings: `retryOn`.
    pub setting: String,
    /// The kind of the target.
    pub target: Match,
    /// Path of the field from the object: `spec.retryOn`.
    pub field: String,
}

/// Status.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusFile {
    /// The most entries that `status.ancestors` takes.
    pub max_ancestors: Option<usize>,
}

/// Group and kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
}

/// Targets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Targets {
    /// Fields that hold references.
    pub refs: Option<Vec<RefFile>>,
    /// Whether a policy without target is wrong.
    pub required: Option<bool>,
    /// Kinds that can be targets; all where it is left out.
    pub allow: Option<Vec<AllowFile>>,
    /// Whether unnamed rule *i* of a route may be called `rule-<i+1>`.
    pub section_naming: Option<SectionNaming>,
    /// Whether a reference may name an object of another namespace.
    pub cross_namespace: Option<CrossNamespace>,
    /// Which of its two roles a policy on a Service means.
    pub service_as: Option<ServiceAs>,
}

/// One field that holds references.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefFile {
    /// Path from the object: `spec.targetRef`.
    pub path: String,
    /// Whether it is a list.
    #[serde(default)]
    pub many: bool,
    /// The group of a reference that names none.
    pub default_group: Option<String>,
    /// Whether entries take `sectionName`.
    pub sections: Option<bool>,
    /// Whether entries take `namespace`.
    pub namespace: Option<bool>,
    /// The most entries.
    pub max: Option<usize>,
    /// Whether no target may stand twice.
    #[serde(default)]
    pub unique: bool,
}

/// One kind that can be a target.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowFile {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Whether sections of it can be targets.
    #[serde(default = "yes")]
    pub sections: bool,
}

/// How rules without a name are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SectionNaming {
    /// Not at all.
    #[default]
    Explicit,
    /// `rule-1` for the first, and so on.
    ExplicitOrIndex,
}

/// Merging.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Merge {
    /// One policy may carry defaults and overrides at once (design 2.5).
    pub dialect: Option<Dialect>,
    /// A field that names the strategy.
    pub strategy: Option<StrategyFile>,
    /// Whether `spec.defaults` and `spec.overrides` are strategies.
    pub stanzas: Option<bool>,
    /// What holds where nothing is named.
    pub unset: Option<StrategyValue>,
    /// Whose strategy decides when two policies meet.
    pub dictated_by: Option<DictatedBy>,
    /// With which policies above it one merges, where the challenger decides.
    pub with: Option<With>,
    /// Fields that are replaced as one: `limits.*` is each entry of `limits`.
    pub units: Option<Vec<String>>,
    /// Lists merged entry by entry under the strategic operation: field name to the key of its entries.
    pub list_keys: Option<BTreeMap<String, String>>,
    /// Fields of `spec` that are not settings, beside targets and strategy.
    #[serde(default)]
    pub exclude: Vec<String>,
}

/// Which generation of the pattern a kind follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Both stanzas in one policy.
    Legacy,
}

/// A field that names the strategy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyFile {
    /// Path from the object: `spec.mergeStrategy`.
    pub path: String,
    /// What each name means.
    pub values: BTreeMap<String, StrategyValue>,
}

/// A strategy in two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyValue {
    /// Who wins.
    pub direction: Direction,
    /// In what pieces.
    pub op: Op,
}

fn yes() -> bool {
    true
}
