//! Facts about a policy kind, each with its source: configuration, built-in profile, CRD, default.
//!
//! `file` reads them from YAML and `derive` from a CRD; `resolve` chooses among the sources. The facts themselves are in `parts`,
//! `rejection`, `in_force`, `caveats` and `weakness`, with `values` for what they have in common; `controller` has those about a controller of
//! Gateways.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;

use crate::model::ids::GroupKind;
use crate::model::level::Level;
use crate::model::section::{PortsBy, SectionNames};

mod builtin;
mod caveats;
mod controller;
mod derive;
mod facts;
pub mod file;
mod gateway_labels;
mod in_force;
mod merge_rules;
mod profile_rules;
mod protection;
mod rejection;
mod resolve;
mod schema;
mod target_fields;
mod values;
mod vocabulary;
mod weakness;

pub use builtin::{Builtin, BuiltinProfiles};
pub use caveats::Caveat;
pub use controller::{
    AskedClientCertificates, AttachedKindFile, ControllerFile, DelegationFile, DelegationMerge,
    DelegationMergeFile, ExpressionPaths, GeneratedPolicyFile, GeneratedRouteFile,
    GeneratedRuleFile, GrpcCallsAsPaths, GrpcMethodAlone, ListenerIsolation, OneRouteListenersFile,
    RejectedListeners, RejectedServices, RuleLists, RuleOrder, TrailingSlash,
    UnsupportedFilterEffect, UnsupportedFiltersFile,
};
pub use derive::{Departure, Derived, MOST_TARGETS, Schemas};
pub(crate) use derive::{REF_FIELDS, labelled};
pub use facts::{Named, strategy_text};
pub use file::{NothingToApplyToCondition, PartitionBy};
pub use gateway_labels::{Classes, GatewayByLabel, GatewayPods};
pub use in_force::{
    ApplicableTo, AppliesThrough, IgnoredSettings, Ineffective, NotApplied, OnListeners, OnPath,
    OnRoutes, OutOfPlace, PortSettings, ReplacingFilter,
};
pub use merge_rules::{Merging, StanzaNames, Strategies};
pub use profile_rules::{ProfileRules, is_policy_kind};
pub use protection::Protection;
pub use rejection::{
    ExcludedTargets, Reference, RejectedIf, ReportedInvalid, Requirement, TargetCondition,
    WhenRejected,
};
pub use schema::{
    Constraints, Field, FieldDefault, JsonType, Limit, Number, Part, PathStep, Pattern, REQUIRED,
    Shape, SpecRule, Unknown, VersionSchema, Violation,
};
pub use target_fields::{Allowed, Annotation, Control, RefField};
pub(crate) use values::at_path::{ANY_VALUE, collect};
pub use values::{FieldConditions, PolicyCondition, SpecPath};
pub use vocabulary::*;
pub use weakness::{Alternatives, ObjectWeakness, OpenTarget, Weakness, WeaknessResult};

/// The source of a fact, the most trusted first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The configuration file.
    Config,
    /// A profile built into attache.
    Builtin,
    /// The custom resource definition.
    Crd,
    /// No source states it.
    #[default]
    Default,
}

/// A fact and its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact<T> {
    /// The fact.
    pub value: T,
    /// Its source.
    pub from: Source,
}

/// Everything that the engine knows about a policy kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The kind.
    pub gk: GroupKind,
    /// Whether the kind is direct or inherited.
    pub class: Fact<Class>,
    /// Fields that hold references.
    pub refs: Fact<Vec<RefField>>,
    /// The annotation of targets that names a policy, for kinds without target fields.
    pub annotation: Fact<Option<Annotation>>,
    /// Kinds of routes whose rules may name a policy in a filter.
    pub named_by_filters_of: Fact<Vec<GroupKind>>,
    /// Whether a policy must have a target.
    pub required: Fact<bool>,
    /// Whether references in both the singular and the plural field are rejected.
    pub one_form: Fact<bool>,
    /// The target of a policy that names none.
    pub on_missing: Fact<OnMissing>,
    /// Gateways to which a policy without a target does not apply.
    pub on_missing_except: Fact<Classes>,
    /// Labels of Namespaces in which a policy without a target does not apply to what clients call without a Gateway.
    pub namespaces_without_proxy: Fact<BTreeMap<Arc<str>, Arc<str>>>,
    /// The policies without a target that no proxy reads there.
    pub unread_without_proxy_if: Fact<FieldConditions>,
    /// Labels of Namespaces in which nothing in front of a Service reads policies without a target.
    pub namespaces_without_mesh: Fact<BTreeMap<Arc<str>, Arc<str>>>,
    /// Labels of Namespaces whose Pods get a proxy that reads the policies, with their values; no values mean any.
    pub namespaces_in_mesh: Fact<BTreeMap<Arc<str>, Vec<Arc<str>>>>,
    /// The labels by which a Service names the Gateway in front of it, for kinds whose policies on the Service apply only there.
    pub gateway_by_label: Fact<Option<GatewayByLabel>>,
    /// The labels of the Pods of Gateways, for kinds whose selectors of Pods apply to the Gateways.
    pub gateway_pods: Fact<Option<Arc<GatewayPods>>>,
    /// The namespace whose policies reach further than those in other namespaces.
    pub root_namespace: Fact<Option<Arc<str>>>,
    /// Kinds that can be targets; `None` if no source states them.
    pub allow: Option<Fact<Vec<Allowed>>>,
    /// Kinds that cannot be targets.
    pub excluded_targets: Fact<ExcludedTargets>,
    /// The comparison of group and kind.
    pub name_comparison: Fact<NameComparison>,
    /// The names by which references name unnamed rules.
    pub section_naming: Fact<SectionNaming>,
    /// The property by which a section names a port of a Service.
    pub ports_by: Fact<PortsBy>,
    /// Controllers for which sections name ports of Services by number, too.
    pub port_numbers_with: Fact<Vec<Arc<str>>>,
    /// Controllers for which the group of a reference may be `core`.
    pub core_group_with: Fact<Vec<Arc<str>>>,
    /// Controllers that take no reference whose group is `core`.
    pub no_core_group_with: Fact<Vec<Arc<str>>>,
    /// Whether a reference may name an object in another namespace.
    pub cross_namespace: Fact<CrossNamespace>,
    /// The role of a Service that a policy refers to.
    pub service_as: Fact<ServiceAs>,
    /// The kinds of the effective targets.
    pub effective: Fact<Vec<GroupKind>>,
    /// Whether policies apply only where a route leads.
    pub needs_route: Fact<bool>,
    /// The kinds of parents through which policies reach routes; all if empty.
    pub parents: Fact<Vec<Parent>>,
    /// Whether policies reach a route only through listeners whose hostname covers one of the route.
    pub hostnames_within_listeners: Fact<bool>,
    /// The levels that count, from the least to the most specific; all in the default order if empty.
    pub hierarchy: Fact<Vec<Level>>,
    /// The policy that wins on one target.
    pub same_target: Fact<SameTarget>,
    /// The policies of one object that conflict.
    pub conflict_scope: Fact<ConflictScope>,
    /// Whether only the oldest of the policies without a target in one namespace counts.
    pub one_with_no_target: Fact<bool>,
    /// Conditions on other objects under which controllers reject a policy.
    pub rejected_because: Fact<Vec<RejectionCause>>,
    /// The fields of the settings in which policies of one target conflict; all if empty.
    pub conflict_fields: Fact<Vec<Vec<String>>>,
    /// The annotation with the weight of a policy, which takes precedence over its age.
    pub weight: Fact<Option<Arc<str>>>,
    /// The order of policies that were created in the same second.
    pub equal_age: Fact<EqualAge>,
    /// Fields of targets that settings control.
    pub controls: Fact<Vec<Control>>,
    /// Names of the controllers that apply the kind, if any source states them.
    pub controllers: Fact<Vec<Arc<str>>>,
    /// The controllers that do not apply the kind.
    pub ignored_by: Fact<Vec<Arc<str>>>,
    /// Names of the classes on whose Gateways the kind applies too, whichever controller runs them.
    pub classes: Fact<Vec<Arc<str>>>,
    /// The domain of conditions, if any source states it.
    pub domain: Fact<Option<Arc<str>>>,
    /// The location of its status; `None` if no source states it.
    pub status: Fact<Option<StatusShape>>,
    /// The maximum number of entries in `status.ancestors`.
    pub max_ancestors: Fact<usize>,
    /// Whether its controllers write a condition `Overridden` if other policies override a policy somewhere.
    pub reports_overridden: Fact<bool>,
    /// Whether its controllers may report nothing about a policy that is in force.
    pub may_be_empty: Fact<bool>,
    /// Conditions of its own that are `True` if all is well.
    pub must_be_true: Fact<Vec<Arc<str>>>,
    /// Conditions that are `False` if an accepted policy is not in force.
    pub in_force: Fact<Vec<Arc<str>>>,
    /// Conditions by which its controllers say that a policy has nothing to apply to yet.
    pub nothing_to_apply_to: Fact<Vec<NothingToApplyToCondition>>,
    /// Its strategies.
    pub strategies: Fact<Strategies>,
    /// The rules by which policies of the kind merge.
    pub merging: Merging,
    /// The strategy of a policy that names none.
    pub default_strategy: Fact<Strategy>,
    /// Fields of `spec` that are not settings.
    pub exclude: Fact<Vec<String>>,
    /// The only fields of `spec` that are settings, unless all are.
    pub only: Option<Vec<String>>,
    /// The existing versions; empty if no source states them.
    pub versions: Fact<Vec<Arc<str>>>,
    /// The schema of each version; empty without a CRD.
    pub schemas: Arc<[VersionSchema]>,
    /// Fields and kinds of targets without which a policy is rejected.
    pub requirements: Fact<Vec<Requirement>>,
    /// The protections that its settings provide.
    pub protects: Fact<Vec<Protection>>,
    /// Fields in which a policy names an object. If the object does not exist, controllers reject the policy.
    pub references: Fact<Vec<Reference>>,
    /// Settings for which controllers reject a policy.
    pub rejected_if: Fact<Vec<RejectedIf>>,
    /// The state of a policy that its controllers report to be invalid.
    pub reported_invalid: Fact<Option<ReportedInvalid>>,
    /// Behaviour of controllers that is not modelled.
    pub caveats: Fact<Vec<Caveat>>,
    /// Settings that switch a protection off, as paths within the settings.
    pub switched_off_by: Fact<Vec<SpecPath>>,
    /// Lists that provide a protection even if they are empty, as paths within the settings.
    pub protects_if_empty: Fact<Vec<SpecPath>>,
    /// Values with which settings protect only some requests, or none.
    pub weakened_by: Fact<Vec<Weakness>>,
    /// The policies of which any may let a request pass; none if there is no condition.
    pub alternatives: Fact<Option<Alternatives>>,
    /// The policies of another kind through which it acts, if it does.
    pub applies_through: Fact<Option<AppliesThrough>>,
    /// Maps whose entries are alternatives: any of them may let a request pass.
    pub alternative_entries: Fact<Vec<SpecPath>>,
    /// Whether the API server drops every `null` in its settings.
    pub drops_nulls: Fact<bool>,
    /// Facts that differ on routes of some kinds.
    pub on_routes: Fact<Vec<OnRoutes>>,
    /// Settings that do nothing at some levels.
    pub ineffective: Fact<Vec<Ineffective>>,
}

// === impl Fact ===

impl<T> Deref for Fact<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Fact<T> {
    /// Converts the value and keeps the source.
    fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        Fact {
            value: f(self.value),
            from: self.from,
        }
    }

    /// Whether a refusal may depend on it: it is not a default.
    pub fn is_stated(&self) -> bool {
        self.from != Source::Default
    }
}

// === impl Profile ===

impl Profile {
    /// The protection of this name that policies of the kind may provide.
    pub fn protection(&self, name: &str) -> Option<&Protection> {
        let mut protections = self.protects.iter();
        protections.find(|protection| *protection.name == *name)
    }

    /// Whether a parent of a route is an object of the project's own that policies of the kind may target, too: a Server of
    /// Linkerd.
    pub fn is_parent_and_target(&self, parent: &GroupKind) -> bool {
        let mut allowed = self.allow.iter().flat_map(|allow| &allow.value);
        Parent::of_kind(parent) == Parent::Other && allowed.any(|allowed| allowed.gk == *parent)
    }

    /// Whether a controller does not apply the kind, if those that do are known.
    pub fn is_ignored_by(&self, controller: &Arc<str>) -> bool {
        self.ignored_by.contains(controller)
            || !self.controllers.is_empty() && !self.controllers.contains(controller)
    }

    /// Whether it is known of a controller that it applies the kind, or that it does not.
    pub fn names_controller(&self, controller: &Arc<str>) -> bool {
        self.controllers.contains(controller) || self.ignored_by.contains(controller)
    }

    /// Whether a controller that applies the kind has a name in the same domain.
    pub fn has_controller_of_domain(&self, controller: &str) -> bool {
        let domain = |name| str::split(name, '/').next();
        let mut known = self.controllers.iter();
        known.any(|known| domain(&**known) == domain(controller))
    }

    /// Whether it is known of some controllers that they do not apply the kind.
    pub fn knows_controllers(&self) -> bool {
        !self.controllers.is_empty() || !self.ignored_by.is_empty()
    }

    /// The profile of a kind of which nothing is known.
    pub(crate) fn default_of(gk: &GroupKind) -> Self {
        resolve::resolve(gk, &[], None)
    }

    /// Whether policies of the kind on a Service refer to its role at this level: as clients call it, or as a backend.
    pub fn applies_in_role(&self, level: Level) -> bool {
        match level {
            Level::Frontend => *self.service_as == ServiceAs::Frontend,
            Level::Backend | Level::Port => *self.service_as == ServiceAs::Backend,
            _ => true,
        }
    }

    /// Whether policies of the kind apply below their targets.
    pub fn is_inherited(&self) -> bool {
        self.class.value == Class::Inherited
    }

    /// Whether several policies of the kind can be in force on one path, each as a whole.
    pub fn is_side_by_side(&self) -> bool {
        matches!(
            self.default_strategy.value,
            Strategy::Merge(_, Op::Additive)
        ) || self.merging.partition_by.is_some()
    }

    /// Whether some targets may themselves let every request pass.
    pub fn has_open_targets(&self) -> bool {
        let alternatives = self.alternatives.as_ref();
        alternatives.is_some_and(|alternatives| !alternatives.open_targets.is_empty())
    }

    /// The lowest level at which its paths end; for direct kinds the targets themselves.
    pub fn end(&self) -> Level {
        let levels = self.effective.value.iter().map(Level::end_for);
        levels.max().unwrap_or(Level::Rule)
    }

    /// The position of a level in the hierarchy of the kind; `None` if policies at this level do not count.
    pub fn rank(&self, level: Level) -> Option<usize> {
        if self.hierarchy.is_empty() {
            return Some(level as usize);
        }
        self.hierarchy.iter().position(|l| *l == level)
    }

    /// The names by which its references name sections.
    pub fn section_names(&self) -> SectionNames {
        SectionNames {
            indexed: *self.section_naming == SectionNaming::ExplicitOrIndex,
            ports_by: *self.ports_by,
        }
    }

    /// Whether a kind can be a target, as far as the allowed kinds are known.
    pub fn takes_kind(&self, gk: &GroupKind) -> bool {
        let fits = |pattern: &str, text: &str| pattern == "*" || pattern == text;
        let fits = |a: &Allowed| fits(&a.gk.group, &gk.group) && fits(&a.gk.kind, &gk.kind);
        let allow = self.allow.as_ref().map(|allow| &allow.value);
        let is_refused = self.excluded_targets.kinds.contains(gk);
        !is_refused && allow.is_none_or(|allow| allow.is_empty() || allow.iter().any(fits))
    }

    /// Whether a kind can be the target of an entry in this field. The rules of a CRD about
    /// references by name do not apply to selectors.
    pub fn takes(&self, field: &RefField, gk: &GroupKind, selects: bool) -> bool {
        let from_crd = self
            .allow
            .as_ref()
            .is_some_and(|allow| allow.from == Source::Crd);
        match &field.kinds {
            Some(kinds) if from_crd && selects => kinds.iter().any(|kind| {
                let same_group = match &*kind.group {
                    "*" => true,
                    "core" => gk.group.is_empty(),
                    group => *gk.group == *group,
                };
                same_group && kind.kind == gk.kind
            }),
            _ => {
                let allowed = self.allowed(gk);
                self.takes_kind(gk) && allowed.is_none_or(|allowed| allowed.is_taken(selects))
            }
        }
    }

    /// Whether a section of a kind can be a target, as far as this is known.
    pub fn takes_section_of(&self, gk: &GroupKind) -> bool {
        self.allowed(gk).is_none_or(|allowed| allowed.sections)
    }

    /// The facts about a kind as a target, if it is among the allowed ones.
    pub fn allowed(&self, gk: &GroupKind) -> Option<&Allowed> {
        let allow = self.allow.as_ref()?;
        allow.iter().find(|allowed| allowed.gk == *gk)
    }
}
