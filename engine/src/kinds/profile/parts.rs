//! Parts of a profile: facts about target fields, allowed targets, strategies and merging.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::DelegationMergeFile;
use super::file::PartitionBy;
use super::values::paths::{read_all_within_spec, read_path, read_within_spec};
use super::{
    DictatedBy, Direction, EmptySpec, Fact, IgnoredSettings, MergeWith, NamingRestriction,
    NotApplied, OnListeners, Op, PortSettings, ReplacingFilter, SpecPath, Strategy,
};
use crate::model::ids::GroupKind;
use crate::model::level::Level;
use crate::model::object::guessed_group;
use crate::model::selector::Labels;

/// A set of classes of Gateways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "ClassesFile", rename_all = "camelCase", deny_unknown_fields)]
pub struct Classes {
    /// Names of controllers whose classes are included.
    #[serde(default)]
    pub controllers: Vec<Arc<str>>,
    /// Names of classes, whether or not their controllers are known.
    #[serde(default)]
    pub names: Vec<Arc<str>>,
}

/// The labels by which a Service, or another object that clients call, names the Gateway in front of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "GatewayByLabelFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct GatewayByLabel {
    /// The label with the name of the Gateway, on the object or on its Namespace; that of the object takes
    /// precedence.
    pub label: Arc<str>,
    /// The label with the namespace of the Gateway, next to the other one; the namespace of the object if absent.
    pub namespace_label: Arc<str>,
    /// The value of `label` by which the object declares that it has no Gateway, regardless of its Namespace.
    pub opt_out_value: Arc<str>,
    /// The listeners that decide from which namespaces objects may name the Gateway: the first listener that fits the first of
    /// these. Without one, only from its own.
    pub listeners: Vec<DecidingListenerFile>,
    /// The label of the Gateway, or of its class, with the purpose of the Gateway.
    pub purpose_label: Arc<str>,
    /// The values of that label for such objects; the first one is assumed if the label is missing.
    pub purposes: Vec<Arc<str>>,
    /// The classes of such Gateways.
    pub classes: Classes,
    /// Whether policies on such a Gateway apply only to objects of its own namespace.
    #[serde(default)]
    pub same_namespace: bool,
    /// Whether such Gateways serve only Services that have a cluster IP: neither headless ones nor those of type `ExternalName`.
    #[serde(default)]
    pub needs_cluster_ip: bool,
    /// Reasons of conditions: such a Gateway serves nothing while one that does not hold has one of these.
    #[serde(default)]
    pub unless_reported: Vec<Arc<str>>,
    /// Values of labels: such Gateways do not serve an object that has one of these.
    #[serde(default)]
    pub unless_labelled: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// Whether nothing but such Gateways applies the policies to requests for such objects: without one they have no effect there.
    #[serde(default)]
    pub required: bool,
}

/// A listener that decides from which namespaces objects may name its Gateway.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecidingListenerFile {
    /// Its protocol.
    pub protocol: Arc<str>,
    /// Its port; any if absent.
    pub port: Option<u16>,
}

/// The labels that controllers give the Pods of a Gateway, beside those of `spec.infrastructure.labels`, or those of the Gateway
/// itself if it states none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "GatewayPodsFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct GatewayPods {
    /// The label with the name of the Gateway.
    pub name_label: Arc<str>,
    /// The label with the name of its class.
    pub class_label: Arc<str>,
    /// The label with the name of the Deployment, which is made of the names of the Gateway and of its class.
    pub deployment_label: Option<Arc<str>>,
    /// Labels that all such Pods have.
    #[serde(default)]
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether policies of the root namespace select only Pods there.
    #[serde(default)]
    pub same_namespace: bool,
}

// === impl GatewayByLabel ===

impl GatewayByLabel {
    /// The labels that are read from called objects, Namespaces and Gateways.
    pub fn labels(&self) -> impl Iterator<Item = &Arc<str>> {
        let own = [&self.label, &self.namespace_label, &self.purpose_label];
        own.into_iter().chain(self.unless_labelled.keys())
    }

    /// The label for which such Gateways do not serve an object.
    pub fn excluding_label(&self, labels: &Labels) -> Option<&Arc<str>> {
        let mut excluding = self.unless_labelled.iter();
        let (label, _) = excluding.find(|(label, values)| {
            let value = labels.get(label);
            value.is_some_and(|value| values.contains(value))
        })?;
        Some(label)
    }
}

/// One setting that controls a field of the target.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "ControlFile", rename_all = "camelCase", deny_unknown_fields)]
pub struct Control {
    /// The path within the settings: `retryOn`.
    #[serde(deserialize_with = "read_path")]
    #[schemars(with = "String")]
    pub setting: Vec<String>,
    /// The kind of the target.
    pub target: GroupKind,
    /// The path of the field from the root of the object: `spec.retryOn`.
    #[serde(deserialize_with = "read_within_spec")]
    pub field: String,
    /// Whether `false`, 0 and the empty string in the target count as unset, like an absent field.
    #[serde(default)]
    pub zero_is_unset: bool,
}

/// One field that holds references.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "RefFile", rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct RefField {
    /// The path from the root of the object: `spec.targetRef`.
    #[serde(deserialize_with = "read_within_spec")]
    pub path: String,
    /// Whether it is a list.
    #[serde(default)]
    pub many: bool,
    /// The group of a reference without one.
    pub default_group: Option<Arc<str>>,
    /// The kind of a reference without one.
    pub default_kind: Option<Arc<str>>,
    /// The namespace of a reference without one; the policy's own by default.
    pub default_namespace: Option<Arc<str>>,
    /// The key under which an entry has the labels that it selects by, if it is not `matchLabels`.
    pub labels: Option<String>,
    /// Whether an entry without labels selects nothing. Otherwise it selects everything.
    #[serde(default)]
    pub empty_selects_none: bool,
    /// Whether entries support `sectionName`.
    pub sections: Option<bool>,
    /// The member of an entry that names the section, if it is not `sectionName`. A number is read as a string, and an entry with a list
    /// as one entry for each item.
    pub section_field: Option<String>,
    /// A member of an entry that refers to sections by their port: the listeners of a Gateway on it, or the port of a
    /// Service.
    pub port_field: Option<String>,
    /// Whether entries must have a `group`.
    #[serde(default)]
    pub needs_group: bool,
    /// Whether entries must have a `sectionName`.
    #[serde(default)]
    pub needs_section: bool,
    /// Whether entries support `namespace`.
    pub namespace: Option<bool>,
    /// The maximum number of entries.
    pub max: Option<usize>,
    /// Whether duplicate targets are rejected.
    #[serde(default)]
    pub unique: bool,
    /// Fields that are ignored if this one is set: `spec.targetRefs`.
    #[serde(default, deserialize_with = "read_all_within_spec")]
    pub takes_precedence_over: Vec<String>,
    /// The kind of which all objects in the policy's own Namespace are targets, too, if that Namespace is one.
    pub in_namespace: Option<GroupKind>,
    /// `kind` and `name`, unless entries must have them.
    #[serde(skip)]
    pub may_lack: Vec<&'static str>,
    /// All members that entries may have, if a CRD states them.
    #[serde(skip)]
    pub members: Option<Vec<String>>,
    /// Whether a CRD treats entries as equal that differ only in members of unknown meaning.
    #[serde(skip)]
    pub keyed: bool,
    /// The kinds that a CRD allows in this field, if it lists all of them.
    #[serde(skip)]
    pub kinds: Option<Vec<GroupKind>>,
}

/// A kind that can be a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The kind.
    pub gk: GroupKind,
    /// Whether its sections can be targets.
    pub sections: bool,
    /// The policies that may name it; all if `None`.
    pub only: Option<NamingRestriction>,
    /// The names of the only objects that can be targets; all objects if empty.
    pub names: Vec<Arc<str>>,
}

// === impl Allowed ===

impl Allowed {
    /// Whether a reference may lead to objects of the kind: one by name, or one that selects.
    pub fn is_taken(&self, selects: bool) -> bool {
        selects || self.only != Some(NamingRestriction::Selectors)
    }
}

/// An annotation of targets that names a policy in their namespace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "AnnotationFile", deny_unknown_fields)]
pub struct Annotation {
    /// The kind of the targets.
    pub target: GroupKind,
    /// The key of the annotation.
    pub key: Arc<str>,
}

/// The strategies of a kind, and where the spec names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategies {
    /// The path from `spec` of the field that names one.
    pub path: Option<String>,
    /// The strategies by the names that users write.
    pub values: BTreeMap<String, Strategy>,
    /// Whether these are all names.
    pub complete: bool,
    /// The fields of `spec` that are strategies, if the kind has such stanzas.
    pub stanzas: Option<StanzaNames>,
    /// The values of `strategy` inside a stanza, if known.
    pub nested: BTreeMap<String, Op>,
    /// Whether one policy may have both stanzas, which then merge field by field.
    pub legacy: bool,
    /// Whether nothing excludes both stanzas together, although the kind is not known to follow GEP-713 of 2021: a
    /// single stanza is atomic, and two in one policy merge field by field.
    pub takes_both: bool,
    /// The name that the API server fills in by default.
    pub default: Option<String>,
    /// Fields of `spec` that neither stanza contains: next to a stanza they are not settings.
    pub apart: Vec<String>,
    /// Maps with arbitrary keys, which GEP-713 of 2021 replaces as a whole; paths within the settings.
    pub maps: Vec<Vec<String>>,
}

/// A protection, and the settings that provide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The name for users: `authentication`.
    pub name: Arc<str>,
    /// Paths within the settings, each of which provides it; the empty path means any policy.
    pub settings: Vec<SpecPath>,
}

/// The rules by which the policies of a kind merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merging {
    /// The policy whose strategy decides.
    pub dictated_by: Fact<DictatedBy>,
    /// The policies that one merges with, if the challenger decides.
    pub merge_with: Fact<MergeWith>,
    /// Fields that are replaced as a whole; `*` matches any key.
    pub atomic_fields: Fact<Vec<Vec<String>>>,
    /// The units that are replaced as a whole when policies merge by key, if any are given.
    pub units_by_key: Vec<Vec<String>>,
    /// Whether a policy first merges with the nearest one above the routes, if its strategy says so, and its missing
    /// settings are filled in then.
    pub parent_first: bool,
    /// Lists merged entry by entry: field name to the key of its entries.
    pub list_keys: Fact<BTreeMap<String, String>>,
    /// Lists whose entries are always combined: field name to the key that tells entries apart.
    pub combined_lists: Fact<BTreeMap<String, String>>,
    /// Lists that add up between levels under the operation strategic: the names of the field above them and of their
    /// own.
    pub lists_by_policy: Fact<Vec<[String; 2]>>,
    /// Whether empty lists are left out before policies merge.
    pub drops_empty_lists: Fact<bool>,
    /// The values that unset settings count as when policies merge, by paths within the settings.
    /// They count only where the policy has the object around the setting.
    pub unset_is: Fact<BTreeMap<SpecPath, String>>,
    /// Names of lists that add up on one target.
    pub append_lists: Fact<Vec<String>>,
    /// The effect of a policy without settings, if any source states it.
    pub empty_spec: Fact<Option<EmptySpec>>,
    /// Fields of the settings: a policy without any of them counts as empty; any field suffices if there are none.
    pub non_empty_if: Fact<Vec<String>>,
    /// Listeners to which only some settings apply.
    pub on_listeners: Fact<Vec<OnListeners>>,
    /// The settings for single ports.
    pub ports: Fact<Option<PortSettings>>,
    /// Settings that controllers do not read because of another setting of the same policy.
    pub unread: Fact<Vec<IgnoredSettings>>,
    /// Values of the merged settings with which controllers apply none of them.
    pub not_applied_if: Fact<Vec<NotApplied>>,
    /// Filters of rules that controllers use in place of settings.
    pub replaced_by_filters: Fact<Vec<ReplacingFilter>>,
    /// Levels whose policies merge by age.
    pub levels_by_age: Fact<Vec<Level>>,
    /// Levels that are merged first.
    pub stages: Fact<Vec<Vec<Level>>>,
    /// Whether each policy is a stage of its own.
    pub stage_per_policy: Fact<bool>,
    /// Settings of one stage that more specific stages do not undo, as paths within the settings.
    pub kept_from_above: Fact<Vec<SpecPath>>,
    /// Settings that are in force once per stage, in addition to those of other stages, as paths within the settings.
    pub accumulate_per_stage: Fact<Vec<SpecPath>>,
    /// The field by whose value policies are partitioned, if there is one.
    pub partition_by: Fact<Option<PartitionBy>>,
    /// The strategies by which policies of a route that delegates merge with those of the routes that it delegates to, if it may
    /// say so.
    pub delegation_merge: Fact<Option<Arc<DelegationMergeFile>>>,
}

/// The names of the stanzas of a kind: `defaults` and `overrides`, or the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StanzaNames {
    /// The stanza of defaults.
    pub defaults: &'static str,
    /// The stanza of overrides.
    pub overrides: &'static str,
}

// === impl Merging ===

impl Merging {
    /// Whether a policy without settings counts like any other under this strategy.
    ///
    /// If policies replace each other as a whole, it does, unless the kind states otherwise. If policies merge, it
    /// adds nothing; but if it merges only with its nearest parent, it overrides the policies above that.
    pub fn counts_empty(&self, strategy: Strategy) -> bool {
        let defaults = Strategy::Merge(Direction::Defaults, Op::Atomic);
        match *self.empty_spec {
            Some(EmptySpec::Counts | EmptySpec::Acts) => true,
            Some(EmptySpec::Ignored) => {
                // It still brings in the settings of the policy that it merges with.
                self.parent_first && matches!(strategy, Strategy::Merge(_, op) if op != Op::ByKey)
            }
            Some(EmptySpec::IgnoredAsDefault) => strategy != defaults && strategy.is_whole(),
            None => strategy.is_whole() || self.merges_with_nearest_only(),
        }
    }

    /// The stage of a level: the levels of one stage are merged before others.
    pub fn stage(&self, level: Level) -> (usize, Option<Level>) {
        let mut stages = self.stages.iter();
        match stages.position(|levels| levels.contains(&level)) {
            Some(stage) => (stage, None),
            None => (usize::MAX, Some(level)),
        }
    }

    /// Whether a policy overrides others because it merges with only one of the policies above it.
    fn merges_with_nearest_only(&self) -> bool {
        *self.dictated_by == DictatedBy::Challenger && *self.merge_with != MergeWith::AllAncestors
    }
}

// === impl RefField ===

impl RefField {
    /// The member that names the section.
    pub fn section_member(&self) -> &str {
        self.section_field.as_deref().unwrap_or("sectionName")
    }

    /// Whether a CRD states the members of entries without this one. The API server prunes it then.
    pub fn lacks_member(&self, member: &str) -> bool {
        let members = self.members.as_ref();
        members.is_some_and(|members| members.iter().all(|known| known != member))
    }

    /// Whether entries may have a name. Those of `targetSelectors` may not, unless a CRD says
    /// otherwise.
    pub fn takes_name(&self) -> bool {
        let member = |members: &Vec<String>| members.iter().any(|member| member == "name");
        self.members
            .as_ref()
            .map_or(self.path != "targetSelectors", member)
    }

    /// Whether the meaning of a member of an entry is known.
    pub fn knows(&self, member: &str) -> bool {
        const KNOWN: [&str; 8] = [
            "group",
            "kind",
            "name",
            "namespace",
            "namespaces",
            "selector",
            "matchLabels",
            "matchExpressions",
        ];
        let of_the_kind = [&self.port_field, &self.labels];
        KNOWN.contains(&member)
            || member == self.section_member()
            || of_the_kind
                .into_iter()
                .flatten()
                .any(|known| known == member)
    }
}

// === impl StanzaNames ===

impl StanzaNames {
    /// The current names of GEP-713.
    pub const PLURAL: Self = Self {
        defaults: "defaults",
        overrides: "overrides",
    };
    /// The earlier names of GEP-713.
    pub const SINGULAR: Self = Self {
        defaults: "default",
        overrides: "override",
    };
}

// === impl Allowed ===

impl Allowed {
    /// The kind. If no group is given, the group of the Gateway API or core kind with this name.
    pub fn meant(&self) -> GroupKind {
        if &*self.gk.group == "*" {
            GroupKind::new(guessed_group(&self.gk.kind), self.gk.kind.clone())
        } else {
            self.gk.clone()
        }
    }
}
