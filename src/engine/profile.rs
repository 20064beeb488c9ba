//! Facts about a policy kind, and where each came from: configuration, built-in profile, CRD, default.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::ids::GroupKind;
use super::level::Level;
use super::object::Crd;

mod builtin;
mod derive;
pub mod file;
mod resolve;

pub use builtin::builtin;
pub use derive::is_policy_schema;

/// Whether policies of a kind reach beyond what they name (GEP-713, classes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Acts on its target alone.
    Direct,
    /// Acts on what is below its target too.
    Inherited,
}

/// Who wins between a less and a more specific policy (GEP-713, merge strategies).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The more specific.
    Defaults,
    /// The less specific.
    Overrides,
}

/// In what pieces specs are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// The whole spec.
    Atomic,
    /// Field by field (RFC 7386).
    Patch,
    /// Named rules.
    ByKey,
    /// Patch, with keys for lists.
    Strategic,
    /// By rules of the kind that the engine does not know.
    Custom,
}

/// A merge strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The oldest wins, the rest are rejected.
    None,
    /// Merged in this direction, in these pieces.
    Merge(Direction, Op),
}

/// Whose strategy decides when two policies meet (GEP-713: the established policy's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DictatedBy {
    /// The less specific one.
    #[default]
    Established,
    /// The more specific one.
    Challenger,
    /// Neither: the kind has one strategy for all.
    Fixed,
}

/// With which policies above it one merges, where the challenger decides (design 9, ruling 28).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum With {
    /// All.
    #[default]
    AllAncestors,
    /// The nearest alone; what stands above that is overridden.
    NearestParent,
}

/// Who wins on one target and section (design 9, ruling 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameTarget {
    /// The oldest; the others are rejected.
    OldestWins,
    /// The newest; the others are rejected.
    NewestWins,
    /// They merge like levels do, the oldest as the established one.
    Merge,
}

/// Whether a reference may name an object of another namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossNamespace {
    /// No.
    Forbidden,
    /// Where a `ReferenceGrant` covers it.
    Grant,
    /// Yes; the kind sees to it by other means.
    Any,
    /// Yes, for requests from the policy's own namespace alone (mesh, consumer scope; ruling 22).
    Consumer,
}

/// The role of a Service that a policy names (design 9, ruling 22).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceAs {
    /// What routes send requests to.
    #[default]
    Backend,
    /// What clients of a mesh call.
    Frontend,
}

/// A setting that controls a field of targets of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Keys within the settings.
    pub setting: Vec<String>,
    /// The kind of the target.
    pub target: GroupKind,
    /// Path of the field from `spec`.
    pub field: String,
}

/// Where a fact came from, the most trusted first (design 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The configuration file.
    Config,
    /// A profile that comes with attache.
    Builtin,
    /// The custom resource definition.
    Crd,
    /// Nothing said it.
    Default,
}

/// A fact and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact<T> {
    /// The fact.
    pub value: T,
    /// Where it came from.
    pub from: Source,
}

/// A field that holds target references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefField {
    /// Path from `spec`: `targetRef`, or `a.b`.
    pub path: String,
    /// Whether it is a list.
    pub many: bool,
    /// The group of a reference that names none, where something says so.
    pub default_group: Option<Arc<str>>,
    /// Whether entries take `sectionName`; none where nothing says so.
    pub sections: Option<bool>,
    /// Whether entries take `namespace`; none where nothing says so.
    pub namespace: Option<bool>,
    /// The most entries, where something says it.
    pub max: Option<usize>,
    /// Whether something says that no target may stand twice.
    pub unique: bool,
}

/// A kind that can be a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The kind.
    pub gk: GroupKind,
    /// Whether its sections can be targets.
    pub sections: bool,
}

/// Strategies of a kind and where the spec names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategies {
    /// Path from `spec` of the field that names one.
    pub path: Option<String>,
    /// Names as users write them.
    pub values: BTreeMap<String, Strategy>,
    /// Whether the names are all there are.
    pub complete: bool,
    /// The fields of `spec` that are strategies, where the kind has such stanzas.
    pub stanzas: Option<StanzaNames>,
    /// Whether one policy may carry both stanzas.
    pub legacy: bool,
    /// Whose strategy decides.
    pub dictated_by: DictatedBy,
    /// With which policies one merges, where the challenger decides.
    pub with: With,
    /// Fields that the operation by-key replaces as one; `*` stands for any key.
    pub units: Vec<Vec<String>>,
    /// Maps of anything by any name, which the older dialect replaces as one.
    pub maps: Vec<Vec<String>>,
    /// Lists merged entry by entry: field name to the key of its entries.
    pub list_keys: BTreeMap<String, String>,
}

/// What the stanzas of a kind are called: `defaults` and `overrides`, or the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StanzaNames {
    /// The one for defaults.
    pub defaults: &'static str,
    /// The one for overrides.
    pub overrides: &'static str,
}

/// What the engine knows of a policy kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The kind.
    pub gk: GroupKind,
    /// Direct or inherited.
    pub class: Fact<Class>,
    /// Fields that hold references.
    pub refs: Fact<Vec<RefField>>,
    /// Whether a policy without target is wrong.
    pub required: Fact<bool>,
    /// Kinds that can be targets; none where nothing says so.
    pub allow: Option<Fact<Vec<Allowed>>>,
    /// How rules without a name are called.
    pub section_naming: file::SectionNaming,
    /// Whether a reference may name an object of another namespace.
    pub cross_namespace: Fact<CrossNamespace>,
    /// Which role of a Service a policy means.
    pub service_as: ServiceAs,
    /// Kinds whose behaviour changes in the end.
    pub effective: Fact<Vec<GroupKind>>,
    /// Levels that count, from the least to the most specific; all in the default order where it is
    /// empty.
    pub hierarchy: Vec<Level>,
    /// Who wins on one target.
    pub same_target: Fact<SameTarget>,
    /// Fields of targets that settings control.
    pub controls: Vec<Control>,
    /// The domain of conditions, where something says it.
    pub domain: Option<Arc<str>>,
    /// The most entries of `status.ancestors`.
    pub max_ancestors: usize,
    /// Strategies.
    pub strategies: Fact<Strategies>,
    /// What holds where a policy names none.
    pub unset: Fact<Strategy>,
    /// Fields of `spec` that are not settings.
    pub exclude: Vec<String>,
}

/// Profiles from the configuration and the built-in ones, before they meet a CRD.
#[derive(Clone, Debug, Default)]
pub struct ProfileRules {
    config: BTreeMap<GroupKind, file::ProfileFile>,
    builtin: BTreeMap<GroupKind, file::ProfileFile>,
}

// === impl ProfileRules ===

impl ProfileRules {
    /// Rules of the configuration over the built-in ones.
    pub fn new(config: Vec<file::ProfileFile>, builtin: Vec<file::ProfileFile>) -> Self {
        Self {
            config: by_kind(config),
            builtin: by_kind(builtin),
        }
    }

    /// Kinds that are policy kinds whatever their CRD says.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupKind> {
        self.config.keys().chain(self.builtin.keys())
    }

    /// Whether some policy kind controls fields of this kind.
    pub fn controls(&self, gk: &GroupKind) -> bool {
        let mut files = self.config.values().chain(self.builtin.values());
        files.any(|file| {
            let mut controls = file.controls.iter();
            controls.any(|c| *c.target.group == *gk.group && *c.target.kind == *gk.kind)
        })
    }

    /// The profile of a kind; none when it is no policy kind (design 2.1).
    pub fn profile(&self, gk: &GroupKind, crd: Option<&Crd>) -> Option<Profile> {
        let known = self.config.contains_key(gk) || self.builtin.contains_key(gk);
        if !known && !crd.is_some_and(|crd| is_policy_kind(self, crd)) {
            return None;
        }
        let explicit = [
            (self.config.get(gk), Source::Config),
            (self.builtin.get(gk), Source::Builtin),
        ];
        Some(resolve::resolve(gk, &explicit, crd))
    }
}

/// Whether a CRD defines a policy kind: named by a profile, labelled, or of the right shape
/// (design 2.1).
pub fn is_policy_kind(rules: &ProfileRules, crd: &Crd) -> bool {
    rules.config.contains_key(&crd.gk)
        || rules.builtin.contains_key(&crd.gk)
        || crd.policy_label.is_some()
        || is_policy_schema(&crd.spec_schema)
}

// === impl StanzaNames ===

impl StanzaNames {
    /// As GEP-713 writes them.
    pub const PLURAL: Self = Self {
        defaults: "defaults",
        overrides: "overrides",
    };
    /// As it wrote them first.
    pub const SINGULAR: Self = Self {
        defaults: "default",
        overrides: "override",
    };
}

// === impl Fact ===

impl<T> Fact<T> {
    /// Whether a refusal may rest on it (design 2.2): all but a default.
    pub fn is_said(&self) -> bool {
        self.from != Source::Default
    }
}

// === impl Profile ===

impl Profile {
    /// Whether policies of the kind act below what they name.
    pub fn inherits(&self) -> bool {
        self.class.value == Class::Inherited
    }

    /// The lowest level at which its paths end; the targets themselves for direct kinds.
    pub fn end(&self) -> Level {
        let levels = self.effective.value.iter().map(Level::end_for);
        levels.max().unwrap_or(Level::Rule)
    }

    /// Whether policies on a level count for the kind, and in which order.
    pub fn rank(&self, level: Level) -> Option<usize> {
        if self.hierarchy.is_empty() {
            return Some(level as usize);
        }
        self.hierarchy.iter().position(|l| *l == level)
    }

    /// Whether rules without a name may be called `rule-<i+1>`.
    pub fn indexes_rules(&self) -> bool {
        self.section_naming == file::SectionNaming::ExplicitOrIndex
    }

    /// Whether a kind is named among the allowed targets.
    pub fn allows_explicitly(&self, gk: &GroupKind) -> bool {
        let allow = self.allow.as_ref().map(|fact| &fact.value);
        allow.is_some_and(|kinds| kinds.iter().any(|allowed| allowed.gk == *gk))
    }
}

fn by_kind(files: Vec<file::ProfileFile>) -> BTreeMap<GroupKind, file::ProfileFile> {
    let key =
        |f: &file::ProfileFile| GroupKind::new(f.matches.group.as_str(), f.matches.kind.as_str());
    files.into_iter().map(|f| (key(&f), f)).collect()
}
