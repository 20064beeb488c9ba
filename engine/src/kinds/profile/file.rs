//! The format of profiles in the built-in files and under `profiles:` in the configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FieldConditions;
use super::controller::ControllerFile;
use super::{
    Alternatives, Annotation, AppliesThrough, Caveat, Class, Classes, ConflictScope, Control,
    CrossNamespace, EqualAge, ExcludedTargets, GatewayByLabel, GatewayPods, NameComparison,
    NamingRestriction, OnMissing, Parent, RefField, Reference, RejectedIf, RejectionCause,
    ReportedInvalid, Requirement, SameTarget, SectionNaming, ServiceAs, SpecPath, StatusShape,
    Weakness,
};
use crate::model::ids::GroupKind;
use crate::model::level::Level;
use crate::model::object::status::Condition;
use crate::model::section::PortsBy;

pub(super) mod lists;
mod merge;
pub(super) mod read;

pub use merge::{
    GepVersion, IneffectiveFile, Merge, OnRoutesFile, PartitionBy, StanzaSpelling, StanzasFile,
    StrategyFile, StrategyValue,
};

/// A file of profiles.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The profiles, one per kind.
    #[serde(default)]
    pub profiles: Vec<ProfileFile>,
    /// Facts about controllers of Gateways.
    #[serde(default)]
    pub controllers: Vec<ControllerFile>,
}

/// One profile. Every field is optional: facts that are left out come from the CRD.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProfileFile {
    /// The kind, in any version.
    #[serde(rename = "match")]
    pub matches: GroupKind,
    /// Its versions. Those of its CRD take precedence, if there is one.
    pub versions: Option<Vec<Arc<str>>>,
    /// Its short names, as kubectl accepts them; those of built-in profiles only.
    #[serde(skip)]
    pub short_names: Vec<String>,
    /// Whether it is a policy kind at all; it is by default.
    pub policy: Option<bool>,
    /// Whether the kind is direct or inherited.
    pub class: Option<Class>,
    /// The fields of the spec that name targets, and the targets that are allowed.
    #[serde(default)]
    pub targets: Targets,
    /// The rules by which policies of the kind merge.
    #[serde(default)]
    pub merge: Merge,
    /// The rules by which two policies on one target conflict.
    #[serde(default)]
    pub conflict: Conflict,
    /// The kinds of objects that behave differently because of a policy: `HTTPRoute` for a policy on a Gateway with a timeout
    /// for requests, `Gateway` for one with the TLS versions of clients. By default `HTTPRoute`, or the allowed targets if all
    /// of them are below routes, such as Services. If kinds of routes are among them, policies apply to no other kind of route.
    pub effective: Option<Vec<GroupKind>>,
    /// Whether policies apply only where a route leads. Those of a mesh also apply to Gateways and Services without a
    /// route.
    pub needs_route: Option<bool>,
    /// The kinds of parents through which policies of the kind reach routes: those that its controllers follow. All
    /// by default.
    pub parents: Option<Vec<Parent>>,
    /// Whether policies reach a route only through listeners whose hostname covers one of the route: not where the route has
    /// `*.example.com` and the listener `api.example.com`.
    pub hostnames_within_listeners: Option<bool>,
    /// The levels that count, from the least to the most specific. All by default.
    pub hierarchy: Option<Vec<Level>>,
    /// Fields of targets that settings of the policy control.
    #[serde(default)]
    pub controls: Vec<Control>,
    /// The protections that policies of the kind provide: for each name as users know it, the settings that provide
    /// it. A path that loses the last of these settings is reported as a finding of its own. `spec` alone means any
    /// policy of the kind.
    pub protects: Option<BTreeMap<Arc<str>, Vec<SpecPath>>>,
    /// Fields and kinds of targets that a policy must have, or else its CRD or the admission of its controllers
    /// rejects it.
    pub requirements: Option<Vec<Requirement>>,
    /// Settings that switch such a protection off: `spec.extAuth.disable`.
    pub switched_off_by: Option<Vec<SpecPath>>,
    /// Values with which settings protect only some requests, or none.
    pub weakened_by: Option<Vec<Weakness>>,
    /// Lists that provide a protection even if they are empty: `spec.authorization.rules`, if no rule means that
    /// nothing passes. Other empty lists provide none.
    pub protects_if_empty: Option<Vec<SpecPath>>,
    /// Policies of which any may let a request pass: if one of them lets all requests pass, the others protect nothing.
    pub alternatives: Option<Alternatives>,
    /// Maps whose entries are alternatives: any of them may let a request pass; a policy that adds an entry by merging lets more
    /// requests pass: `spec.rules.authentication`.
    pub alternative_entries: Option<Vec<SpecPath>>,
    /// The policies of another kind by which a controller carries out policies of this kind: an `AuthPolicy` of Kuadrant
    /// applies to Envoy Gateway through an `EnvoyExtensionPolicy` with the name `kuadrant-<Gateway>`. Where another `EnvoyExtensionPolicy`
    /// replaces that one, the `AuthPolicy` does nothing.
    pub applies_through: Option<AppliesThrough>,
    /// Whether no field of the settings may be `null`, so that the API server drops every `null`. A CRD takes
    /// precedence.
    pub drops_nulls: Option<bool>,
    /// Fields in which a policy names an object: controllers reject the policy without it, or its values decide how much the settings protect.
    pub references: Option<Vec<Reference>>,
    /// Settings for which controllers reject a policy, beyond the rules of its CRD. With `merge.mergeWith: nearest-above-routes`
    /// also those that result from the merge of the policy of a route with the one above it.
    pub rejected_if: Option<Vec<RejectedIf>>,
    /// The effect that a policy with one target still has if its controllers report it to be `Invalid`; none by default.
    pub reported_invalid: Option<ReportedInvalid>,
    /// Behaviour of the controllers of the kind that attache does not model.
    pub caveats: Option<Vec<Caveat>>,
    /// Names of the controllers that implement the kind, as in `controllerName` of a `GatewayClass`.
    pub controllers: Option<Vec<Arc<str>>>,
    /// Controllers that are known not to implement the kind. For kinds of which attache does not know all controllers that do.
    pub ignored_by: Option<Vec<Arc<str>>>,
    /// Names of `GatewayClass`es on whose Gateways the kind applies too, whichever controller runs them.
    pub classes: Option<Vec<Arc<str>>>,
    /// The domain in the type of conditions: `<domain>/<Kind>Affected`.
    pub domain: Option<Arc<str>>,
    /// The status of policies.
    #[serde(default)]
    pub status: StatusFile,
}

/// The rules by which policies conflict.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Conflict {
    /// The policy that wins on one target and section.
    pub same_target: Option<SameTarget>,
    /// Whether only one of the policies without a target in one namespace counts: the oldest.
    pub one_with_no_target: Option<bool>,
    /// The policies of one object that may conflict at all.
    pub scope: Option<ConflictScope>,
    /// Conditions on other objects under which controllers reject a policy.
    #[serde(rename = "rejectedBecause")]
    pub rejected_because: Option<Vec<RejectionCause>>,
    /// The fields in which policies conflict, as paths within the settings; all by default.
    pub fields: Option<Vec<String>>,
    /// The annotation with the weight of a policy, a whole number: of two policies on one level, the heavier one
    /// counts as the older. 0 if absent.
    pub weight: Option<Arc<str>>,
    /// The order of policies that were created in the same second; `text` by default.
    pub equal_age: Option<EqualAge>,
}

/// The status of policies.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusFile {
    /// The part of the status that reports the outcome of a policy.
    pub shape: Option<StatusShape>,
    /// The maximum number of entries in `status.ancestors`.
    pub max_ancestors: Option<usize>,
    /// Whether controllers write a condition `Overridden` with status `True` if other policies override a policy
    /// somewhere.
    pub overridden: Option<bool>,
    /// Whether controllers may report nothing about a policy that is in force.
    pub may_be_empty: Option<bool>,
    /// Conditions that are `False` if an accepted policy is not in force: `Enforced` and `Programmed` by default.
    pub in_force: Option<Vec<Arc<str>>>,
    /// Conditions with names of the project's own that are `True` if all is well, and a fault if they are `False`.
    pub must_be_true: Option<Vec<Arc<str>>>,
    /// Conditions by which controllers say that a policy is accepted and has nothing to apply to yet, or is overridden somewhere.
    pub nothing_to_apply_to: Option<Vec<NothingToApplyToCondition>>,
}

/// A condition by which controllers say that a policy has nothing to apply to yet, or is overridden somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NothingToApplyToCondition")]
pub struct NothingToApplyToCondition {
    /// The type of the condition; its status is `False`.
    pub r#type: String,
    /// Its reason.
    pub reason: String,
    /// Its message.
    pub message: String,
    /// Whether `message` is only the beginning of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub message_is_prefix: bool,
}

// === impl NothingToApplyToCondition ===

impl NothingToApplyToCondition {
    /// Whether a condition of a policy is this one.
    pub(crate) fn covers(&self, condition: &Condition) -> bool {
        let is_message = if self.message_is_prefix {
            condition.message.starts_with(&self.message)
        } else {
            *condition.message == *self.message
        };
        is_message && *self.r#type == *condition.name && *self.reason == *condition.reason
    }
}

/// The targets of policies.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Targets {
    /// Fields that hold references.
    pub refs: Option<Vec<RefField>>,
    /// The annotation of targets that names a policy, for kinds without target fields.
    pub annotation: Option<Annotation>,
    /// Whether a policy must have a target.
    pub required: Option<bool>,
    /// Kinds of routes whose rules may name a policy in a filter (`ExtensionRef`). It applies to such a rule, and precedes
    /// the policies that target the rule.
    pub named_by_filters_of: Option<Vec<GroupKind>>,
    /// The target of a policy that names none.
    pub on_missing: Option<OnMissing>,
    /// Gateways to which policies without a target do not apply, by their `GatewayClass`.
    pub on_missing_except: Option<Classes>,
    /// Labels of Namespaces in which no proxy in front of a Service reads policies without a target, unless a Gateway is there.
    pub namespaces_without_proxy: Option<BTreeMap<Arc<str>, Arc<str>>>,
    /// Only if each of these fields of the policy has one of these values: `spec.action: [CUSTOM]`. See Conditions in
    /// docs/reference/profiles.md.
    pub unread_without_proxy_if: Option<FieldConditions>,
    /// Labels of Namespaces in which nothing in front of a Service reads policies without a target, whatever they say. One of
    /// `namespacesWithoutProxy` beside them takes precedence.
    pub namespaces_without_mesh: Option<BTreeMap<Arc<str>, Arc<str>>>,
    /// Labels of Namespaces whose Pods get a proxy that reads the policies, each with its values; an empty list means any value. A
    /// Namespace that gives up the last of them takes the protections by these policies away.
    pub namespaces_in_mesh: Option<BTreeMap<Arc<str>, Vec<Arc<str>>>>,
    /// The Gateway in front of a Service, if labels name it: policies on the Service apply only at that Gateway.
    pub gateway_by_label: Option<GatewayByLabel>,
    /// The labels of the Pods of a Gateway. A policy that selects Pods by them applies to the Gateway.
    pub gateway_pods: Option<Arc<GatewayPods>>,
    /// The namespace whose policies reach further than those in other namespaces.
    pub root_namespace: Option<Arc<str>>,
    /// Kinds that can be targets; all by default.
    pub allow: Option<Vec<AllowFile>>,
    /// Kinds that no controller accepts as targets. For policy kinds without `allow`.
    pub excluded: Option<ExcludedTargets>,
    /// The comparison of group and kind.
    pub name_comparison: Option<NameComparison>,
    /// Whether unnamed rule *i* of a route may be called `rule-<i+1>`.
    pub section_naming: Option<SectionNaming>,
    /// The property by which a section names a port of a Service; its name by default.
    pub ports_by: Option<PortsBy>,
    /// Controllers for which a section names a port of a Service by its number, too, whether or not the port has a name.
    pub port_numbers_with: Option<Vec<Arc<str>>>,
    /// Controllers that take `core` for the empty group, if others do not.
    pub core_group_with: Option<Vec<Arc<str>>>,
    /// Controllers that take no target whose group is `core`, if others may.
    pub no_core_group_with: Option<Vec<Arc<str>>>,
    /// Whether a reference may name an object in another namespace.
    pub cross_namespace: Option<CrossNamespace>,
    /// The role of a Service that a policy on it refers to.
    pub service_as: Option<ServiceAs>,
}

/// One kind that can be a target.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowFile {
    /// The API group.
    pub group: String,
    /// One kind, or several of one group.
    pub kind: Names,
    /// Whether its sections can be targets.
    #[serde(default = "yes")]
    pub sections: bool,
    /// The policies that may name it; all by default.
    pub only: Option<NamingRestriction>,
    /// The names of the only objects of the kind that can be targets; all objects by default.
    #[serde(default)]
    pub names: Vec<Arc<str>>,
}

/// One name or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Names {
    /// One name.
    One(String),
    /// Several names.
    Many(Vec<String>),
}

// === impl Names ===

impl Names {
    /// Each of the names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        };
        names.iter().map(String::as_str)
    }
}

pub(super) fn yes() -> bool {
    true
}
