//! The terms of profiles, as people write them in YAML.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::GroupKind;

/// Whether policies of a kind act beyond their targets (GEP-713, classes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A policy applies only to its target.
    Direct,
    /// A policy also applies to objects below its target.
    Inherited,
}

/// The policy that wins: the less or the more specific one (GEP-713, merge strategies).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The more specific policy.
    Defaults,
    /// The less specific policy.
    Overrides,
}

/// The units in which specs are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// The whole spec.
    Atomic,
    /// Field by field (RFC 7386).
    Patch,
    /// Named rules.
    ByKey,
    /// Each top-level field of the settings.
    ByField,
    /// Like patch, with keys for the entries of lists.
    Strategic,
    /// By rules of the kind that the engine does not know.
    Custom,
    /// Not merged: each policy is in force as a whole, together with the others.
    Additive,
}

/// A merge strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The oldest policy wins, the others are rejected.
    None,
    /// Merged in this direction, with this operation.
    Merge(Direction, Op),
}

// === impl Strategy ===

impl Strategy {
    /// Whether one policy replaces the other as a whole.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::None | Self::Merge(_, Op::Atomic))
    }
}

/// The effect of a policy without settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySpec {
    /// It counts like any other policy.
    Counts,
    /// Its controller implements it as any other policy: the kind needs no settings.
    Acts,
    /// None: its controller ignores it.
    Ignored,
    /// Its controller ignores it as a default; as an override it replaces the policies below it.
    IgnoredAsDefault,
}

/// The one of two policies that decides how they merge (GEP-713: the established one).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DictatedBy {
    /// The less specific policy.
    #[default]
    Established,
    /// The more specific policy.
    Challenger,
    /// Neither: the kind has one strategy for all.
    Fixed,
}

/// The policies above it that a policy merges with, if the challenger decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeWith {
    /// All of them.
    #[default]
    AllAncestors,
    /// Only the nearest one; the policies above that are overridden.
    NearestParent,
    /// Only the nearest one above the routes; the policies between are overridden as well.
    NearestAboveRoutes,
}

/// The policy that wins on one target and section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SameTarget {
    /// The oldest wins; the others are rejected.
    OldestWins,
    /// The newest wins; the others are rejected.
    NewestWins,
    /// They merge like levels, with the oldest as the established one.
    Merge,
    /// They merge, and the older one wins where two set the same field.
    MergeOldest,
    /// They merge, and where two set the same field, either may win: nothing orders them. The older one is shown.
    MergeUnsettled,
    /// They merge, unless two set the same field: then the newer one is rejected.
    FieldOverlap,
    /// Each is in force, unless they differ in a field: then all are rejected.
    EqualField,
    /// None wins: two policies are both rejected.
    NoneWins,
}

/// The order of policies that were created in the same second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EqualAge {
    /// By `namespace/name`, compared as one text (GEP-713).
    #[default]
    Text,
    /// By namespace, then by name.
    NamespaceThenName,
    /// By name, then by namespace.
    NameThenNamespace,
}

/// The policies of one object that conflict, so that one may be rejected for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictScope {
    /// Policies on the same section conflict, and policies on the whole object.
    #[default]
    Section,
    /// Policies on the same section conflict; a policy on the whole object conflicts with all of them.
    SectionAndTarget,
    /// All of them conflict.
    Target,
}

/// Why controllers of a kind reject a policy because of other objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RejectedBecause")]
pub enum RejectionCause {
    /// A route that the policy does not name matches a hostname and a path that a route which it names also matches,
    /// on one port of one Gateway. Then the whole policy is rejected.
    RoutesSharePath,
    /// A plain HTTP listener shares its port with one that the same target does not cover. A policy on the listener
    /// is then rejected and still keeps its place; one on the whole `ListenerSet` is left out on this listener alone.
    PlainListenersSharePort,
    /// A rule of an `HTTPRoute` sends requests to a Service that the policy names and to one that it does not name.
    BackendsOfOneRule,
    /// The policy names its target twice. It conflicts with itself, and is in force all the same.
    NamesTargetTwice,
    /// The policy loses the conflict with an older one at another of its targets. Then the whole policy is rejected.
    LosesAnotherTarget,
}

// === impl RejectionCause ===

impl RejectionCause {
    /// Whether another route may be the reason.
    pub fn is_by_routes(self) -> bool {
        matches!(self, Self::RoutesSharePath | Self::BackendsOfOneRule)
    }

    /// Whether a policy that is rejected for this is still in force in part, or still replaces
    /// others.
    pub fn leaves_attached(self) -> bool {
        matches!(
            self,
            Self::PlainListenersSharePort | Self::NamesTargetTwice | Self::BackendsOfOneRule
        )
    }
}

/// Whether a reference may name an object in another namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CrossNamespace {
    /// It may not.
    Forbidden,
    /// It may if a `ReferenceGrant` covers it.
    Grant,
    /// It may; the kind controls access by other means.
    Any,
    /// It may, for requests from the policy's own namespace only (mesh, consumer scope).
    Consumer,
    /// It may name a namespace, which is ignored: the target is in the policy's own.
    Ignored,
    /// It may if an object of that kind and name is in the policy's own namespace, too.
    Namesake,
}

/// The role of a Service that a policy names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceAs {
    /// A backend that routes send requests to.
    #[default]
    Backend,
    /// A Service that clients of a mesh call.
    Frontend,
}

/// The target of a policy that names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnMissing {
    /// Nothing.
    #[default]
    Nothing,
    /// Its namespace; every namespace if it is in the root namespace.
    Namespace,
}

/// Kinds of parents through which requests reach routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Parent {
    /// A Gateway, through its own listeners.
    Gateway,
    /// A `ListenerSet`.
    ListenerSet,
    /// A Service of a mesh.
    Service,
    /// An object of the project's own that its policies may target, too: a Server of Linkerd. A route names it in its own namespace,
    /// without port and section.
    Other,
}

// === impl Parent ===

impl Parent {
    /// The type of parent that objects of a kind are.
    pub fn of_kind(gk: &GroupKind) -> Self {
        match gk {
            gk if gk.is_gateway_api("Gateway") => Self::Gateway,
            gk if gk.is_listener_set() => Self::ListenerSet,
            gk if gk.is_core("Service") => Self::Service,
            _ => Self::Other,
        }
    }
}

/// The comparison of group and kind of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameComparison {
    /// Exactly.
    #[default]
    Exact,
    /// Exactly, and `core` means the empty group.
    CoreAlias,
    /// Ignoring case, and `core` means the empty group.
    IgnoreCase,
    /// The kind alone: a kind of `allow` may be written with any group.
    AnyGroup,
}

/// The policies that may name a kind as their target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Only")]
pub enum NamingRestriction {
    /// Only policies in a Namespace may name it.
    OwnNamespace,
    /// Only policies in the root namespace.
    RootNamespace,
    /// Policies select objects of the kind by labels and cannot name one.
    Selectors,
}

/// The names by which references name unnamed rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SectionNaming {
    /// They cannot.
    #[default]
    Explicit,
    /// `rule-1` for the first, and so on.
    ExplicitOrIndex,
}

/// The part of the status of a policy that reports its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusShape {
    /// In `status.ancestors`, with conditions for each (GEP-713).
    Ancestors,
    /// In `status.conditions`.
    Conditions,
    /// In `status.controllers`.
    Controllers,
    /// In fields of its own.
    Other,
    /// Nowhere.
    None,
}

/// The operation for a name inside a stanza (Kuadrant and GEP-713 use these spellings).
pub(crate) fn op_named(name: &str) -> Option<Op> {
    match name {
        "atomic" => Some(Op::Atomic),
        "patch" => Some(Op::Patch),
        "merge" => Some(Op::ByKey),
        _ => None,
    }
}
