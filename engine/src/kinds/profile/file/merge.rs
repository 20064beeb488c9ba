//! The part `merge` of a profile: how policies of a kind merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::FieldConditions;
use super::super::{
    DelegationMergeFile, DictatedBy, Direction, EmptySpec, IgnoredSettings, MergeWith, NotApplied,
    OnListeners, Op, PortSettings, ReplacingFilter, SpecPath,
};
use super::yes;
use crate::model::level::Level;

/// The rules by which policies merge.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Merge {
    /// Whether one policy may have defaults and overrides together.
    pub gep_version: Option<GepVersion>,
    /// The field that names the strategy.
    pub strategy: Option<StrategyFile>,
    /// Whether `spec.defaults` and `spec.overrides` are strategies; `singular` if they are spelled `spec.default` and
    /// `spec.override`.
    pub stanzas: Option<StanzasFile>,
    /// Fields of `spec` that controllers do not read beside `spec.defaults` or `spec.overrides`, where the definition allows them:
    /// `spec.when`.
    pub ignored_beside_stanzas: Option<Vec<String>>,
    /// The values of `strategy` inside a stanza.
    pub nested_strategies: Option<BTreeMap<String, Op>>,
    /// The strategy of a policy that names none.
    pub default: Option<StrategyValue>,
    /// The one of two policies that decides how they merge.
    pub dictated_by: Option<DictatedBy>,
    /// The policies above it that a policy merges with, if the challenger decides.
    pub merge_with: Option<MergeWith>,
    /// Fields that are replaced as a whole, whatever the operation: `limits.*` is each entry of `limits`.
    pub atomic_fields: Option<Vec<String>>,
    /// Lists merged entry by entry under the operations strategic and by-key: field name to the key of its entries.
    pub list_keys: Option<BTreeMap<String, String>>,
    /// Lists whose entries add up under the operations strategic and by-key, because their entries have names of each
    /// policy's own: `global.rules`, the field above the list and the list.
    pub lists_by_policy: Option<Vec<String>>,
    /// Lists whose entries are combined field by field, within one policy and with those of other policies, whatever the
    /// operation: field name to the key that tells entries apart. Entries without the key are combined into one.
    pub combined_lists: Option<BTreeMap<String, String>>,
    /// Whether the controller leaves empty lists out before it merges: an empty list does not replace the list of another policy.
    pub drops_empty_lists: Option<bool>,
    /// The value that a controller assumes if the object around a setting is there and the setting is not:
    /// `spec.authorization.defaultAction: Deny`. In a merge it wins over the value of the other policy: if the policy of the
    /// Gateway has `defaultAction: Allow`, and that of the route has `authorization` without it, the result is `Deny`.
    pub assumed_when_unset: Option<BTreeMap<SpecPath, String>>,
    /// Names of list fields that add up if several policies are attached to one target; between levels they are
    /// replaced as a whole.
    pub append_lists: Option<Vec<String>>,
    /// The effect of a policy without settings. By default it replaces others if policies of the kind replace each
    /// other as a whole, and does nothing if they merge.
    pub empty_spec: Option<EmptySpec>,
    /// Fields of which a policy must have at least one, or it counts as empty: `spec.rules`.
    pub non_empty_if: Option<Vec<String>>,
    /// Fields of `spec` that are not settings, in addition to targets and strategy.
    pub exclude: Option<Vec<String>>,
    /// Routes on which only some settings are in force; a setting that a more specific policy does not have is filled in from
    /// above.
    pub on_routes: Option<Vec<OnRoutesFile>>,
    /// Settings that do nothing if a policy is attached at some levels.
    pub ineffective: Option<Vec<IneffectiveFile>>,
    /// Listeners on which only some settings are in force, or policies merge in other stages, by their protocol.
    pub on_listeners: Option<Vec<OnListeners>>,
    /// A list of settings for single ports: each entry applies only to the listeners of its port.
    pub ports: Option<PortSettings>,
    /// Settings that controllers do not read because of another setting of the same policy, even if the policies that it is
    /// merged with set them.
    pub ignored_settings: Option<Vec<IgnoredSettings>>,
    /// Values of the merged settings with which controllers apply none of them.
    pub not_applied_if: Option<Vec<NotApplied>>,
    /// Filters of rules of routes that controllers use in place of a setting of policies.
    pub replaced_by_filters: Option<Vec<ReplacingFilter>>,
    /// Levels whose policies merge by age, as if they had one target.
    pub levels_by_age: Option<Vec<Level>>,
    /// Levels that the controller merges first, before it lays the results over each other. Each level separately by
    /// default.
    pub stages: Option<Vec<Vec<Level>>>,
    /// Whether each policy is a stage of its own, also those on one target: the oldest of these wins, and settings that are in
    /// force once per stage are those of all of them.
    pub stage_per_policy: Option<bool>,
    /// Settings of a less specific stage that a more specific one does not undo: `spec.extAuth.disable` keeps
    /// `extAuth` as it is.
    pub kept_from_above: Option<Vec<SpecPath>>,
    /// Settings that are in force once per stage, in addition to those of other stages: `spec.extAuth`.
    pub accumulate_per_stage: Option<Vec<SpecPath>>,
    /// The field by whose value policies are partitioned: those with one value do not merge with those with another one.
    pub partition_by: Option<PartitionBy>,
    /// The strategies by which policies of a route that delegates merge with those of the routes that it delegates to.
    #[serde(rename = "delegation")]
    pub delegation_merge: Option<Arc<DelegationMergeFile>>,
}

/// A field by whose value policies are partitioned: those with one value do not merge with those with another one, and both
/// are in force.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionBy {
    /// The field, as a path within the settings.
    pub field: Vec<String>,
    /// The value of a policy without one.
    pub default: String,
}

/// Settings that do nothing at some levels.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "IneffectiveFile")]
pub struct IneffectiveFile {
    /// The levels.
    pub levels: Vec<Level>,
    /// The settings: `spec.timeouts`, `spec.timeouts.request`.
    pub settings: Vec<String>,
    /// Only for requests through listeners with these protocols, of those in `onListeners`.
    #[serde(default)]
    pub protocols: Vec<Arc<str>>,
    /// Only on routes of these kinds, of the group `gateway.networking.k8s.io`.
    #[serde(default)]
    pub routes: Vec<String>,
    /// Only for policies with one of these values in each of these fields: `spec.action: [CUSTOM]`. See Conditions in
    /// docs/reference/profiles.md.
    #[serde(default)]
    pub when: FieldConditions,
    /// Whether the settings are in force all the same where the policy of a route names a strategy by which it merges with this policy:
    /// `spec.connection` of the policy of a Gateway does nothing on a `TCPRoute`, unless the policy of the route has
    /// `mergeType: StrategicMerge`.
    #[serde(default)]
    pub unless_merged: bool,
    /// Only for requests that a rule answers without a backend: it redirects them, or none of its backends can be used. With such an
    /// entry, the other settings of the kind are in force for these requests; without one, nothing of a kind is whose paths end at
    /// backends.
    #[serde(default)]
    pub without_backend: bool,
}

/// Facts that differ on routes of some kinds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnRoutesFile {
    /// Kinds of routes, of the group `gateway.networking.k8s.io`.
    pub kinds: Vec<String>,
    /// The settings that are in force there: `spec.timeout`.
    pub settings: Vec<String>,
    /// Whether policies on a rule are in force.
    #[serde(default = "yes")]
    pub sections: bool,
}

/// Whether a kind has stanzas, and how they are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StanzasFile {
    /// Whether it has them, spelled as in its CRD or in the plural.
    Has(bool),
    /// It has them with this spelling.
    Written(StanzaSpelling),
}

/// The spelling of the names of stanzas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Number")]
pub enum StanzaSpelling {
    /// `default` and `override`.
    Singular,
    /// `defaults` and `overrides`.
    Plural,
}

/// The generation of the pattern that a kind follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GepVersion")]
pub enum GepVersion {
    /// Both stanzas in one policy.
    #[serde(rename = "of-2021")]
    Of2021,
}

/// The field that names the strategy.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyFile {
    /// The path from the root of the object: `spec.mergeStrategy`.
    pub path: String,
    /// The strategy for each name.
    pub values: BTreeMap<String, StrategyValue>,
}

/// A strategy as direction and operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyValue {
    /// The one of two policies that wins.
    pub direction: Direction,
    /// The units of merging.
    pub op: Op,
}
