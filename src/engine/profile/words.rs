//! The words of profiles, as people write them in YAML.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether policies of a kind reach beyond what they name (GEP-713, classes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Acts on its target alone.
    Direct,
    /// Acts on what is below its target too.
    Inherited,
}

/// Who wins between a less and a more specific policy (GEP-713, merge strategies).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The more specific.
    Defaults,
    /// The less specific.
    Overrides,
}

/// In what pieces specs are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// The whole spec.
    Atomic,
    /// Field by field (RFC 7386).
    Patch,
    /// Named rules.
    ByKey,
    /// Each field of the settings at the top, as one.
    ByField,
    /// Patch, with keys for lists.
    Strategic,
    /// By rules of the kind that the engine does not know.
    Custom,
    /// Not at all: each policy is in force whole, beside the others.
    Additive,
}

/// A merge strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The oldest wins, the rest are rejected.
    None,
    /// Merged in this direction, in these pieces.
    Merge(Direction, Op),
}

// === impl Strategy ===

impl Strategy {
    /// Whether one policy replaces the other whole.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::None | Self::Merge(_, Op::Atomic))
    }
}

/// What a policy without settings does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySpec {
    /// It takes its place like any other policy.
    Counts,
    /// Nothing: its controller passes over it.
    Ignored,
    /// Its controller passes over it where it is a default; where it overrides, it replaces what is below it.
    IgnoredAsDefault,
}

/// Whose strategy decides when two policies meet (GEP-713: the established policy's).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum With {
    /// All.
    #[default]
    AllAncestors,
    /// The nearest alone; what stands above that is overridden.
    NearestParent,
    /// The nearest that stands above the routes; what stands between is overridden too.
    NearestAboveRoutes,
}

/// Who wins on one target and section (design 9, ruling 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SameTarget {
    /// The oldest; the others are rejected.
    OldestWins,
    /// The newest; the others are rejected.
    NewestWins,
    /// They merge like levels do, the oldest as the established one.
    Merge,
    /// They merge, and where two set the same the older wins.
    MergeOldest,
    /// They merge, unless two set the same field: then the newer is rejected.
    FieldOverlap,
    /// They stand side by side, unless they differ in a field: then all are rejected.
    EqualField,
    /// Nobody: where there are two, both are rejected.
    NoneWins,
}

/// Which policies of one object meet, so that one may be rejected for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Meets {
    /// Those on the same section, and those on the whole.
    #[default]
    SameSection,
    /// Those on the same section; one on the whole meets them all.
    WholeToo,
    /// All of them.
    AnySection,
}

/// Why controllers of a kind reject a policy for what other objects say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clash {
    /// A route that the policy does not name matches a hostname and a path that one matches which it names, on one port of
    /// one Gateway. Then the whole policy is rejected.
    RoutesSharePath,
    /// A plain HTTP listener that the policy names shares its port with one that it does not name.
    PlainListenersSharePort,
    /// A rule of an `HTTPRoute` sends to a Service that the policy names and to one that it does not name.
    BackendsOfOneRule,
}

/// Whether a reference may name an object of another namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
    /// It may say one, which is not read: the target is looked for in the policy's own.
    Ignored,
}

/// The role of a Service that a policy names (design 9, ruling 22).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceAs {
    /// What routes send requests to.
    #[default]
    Backend,
    /// What clients of a mesh call.
    Frontend,
}

/// What a policy without a target acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Without {
    /// Nothing.
    #[default]
    Nothing,
    /// Its namespace; every namespace where it stands in the root namespace.
    Namespace,
}

/// Kinds of parents through which requests come to routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Parent {
    /// A Gateway, by its own listeners.
    Gateway,
    /// A `ListenerSet`.
    ListenerSet,
    /// A Service of a mesh.
    Service,
}

/// How exactly group and kind of a target are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spelled {
    /// To the letter.
    #[default]
    Exactly,
    /// To the letter, and `core` is the empty group.
    CoreToo,
    /// Without case, and `core` is the empty group.
    Loosely,
}

/// Who may name a kind as its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    /// A Namespace is named by the policies in it alone.
    OwnNamespace,
    /// Policies of the root namespace.
    RootNamespace,
}

/// How rules without a name are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SectionNaming {
    /// Not at all.
    #[default]
    Explicit,
    /// `rule-1` for the first, and so on.
    ExplicitOrIndex,
}

/// How a reference names a port of a Service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PortsBy {
    /// By its name, to the letter: a port without a name cannot be a target.
    #[default]
    Name,
    /// By its number, whether or not it has a name.
    Number,
    /// By either.
    Both,
}

/// Where the status of a policy says what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusShape {
    /// `status.ancestors`, with conditions for each (GEP-713).
    Ancestors,
    /// `status.conditions`.
    Conditions,
    /// `status.controllers`.
    Controllers,
    /// In fields of its own.
    Other,
    /// Nowhere.
    None,
}
