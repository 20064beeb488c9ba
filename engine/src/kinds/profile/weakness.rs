//! Values with which settings protect less than they seem to: an authentication that is optional, a rule that allows
//! everything, a limit that is only counted.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::values::{AnnotationsFile, OpenRules, Passing};
use super::{FieldConditions, PolicyCondition, SpecPath};
use crate::model::ids::GroupKind;

/// Values with which settings protect only some requests, or none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "WeaknessFile", rename_all = "camelCase", deny_unknown_fields)]
pub struct Weakness {
    /// The settings that protect less: `spec.jwt`. `spec` alone means all of them.
    pub settings: Vec<SpecPath>,
    /// Only if each of these fields has one of these values: `spec.jwt.optional: [true]`. See Conditions in
    /// docs/reference/profiles.md.
    #[serde(default)]
    when: FieldConditions,
    /// Only if none of these fields has one of these values.
    #[serde(default)]
    unless: FieldConditions,
    /// Only if these rules let every request pass. With the result `some-pass`: only if they let every request pass that
    /// none of them denies before.
    open_rules: Option<OpenRules>,
    /// Only if these rules do not match every request.
    unless_open_rules: Option<OpenRules>,
    /// Only if each of these annotations of the policy has one of these values. With the settings `spec`, no other
    /// condition and the result `not-applied`, such a policy has no effect at all.
    #[serde(default)]
    pub(super) annotated: AnnotationsFile,
    /// The requests that pass.
    pub result: WeaknessResult,
    /// One sentence for users, shown with the policy.
    pub text: Option<Arc<str>>,
}

/// Values of an object that a policy names, with which settings of the policy protect only some requests, or none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "ObjectWeaknessFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct ObjectWeakness {
    /// The settings of the policy that protect less: `spec.extAuth`. `spec` alone means all of them.
    pub settings: Vec<SpecPath>,
    /// Only if each of these fields of the named object has one of these values: `spec.extAuth.failOpen: [true]`. See Conditions in
    /// docs/reference/profiles.md.
    #[serde(default)]
    when: FieldConditions,
    /// Only if none of these fields of the named object has one of these values.
    #[serde(default)]
    unless: FieldConditions,
    /// Only if these rules of the named object let every request pass.
    open_rules: Option<OpenRules>,
    /// Only if none of these fields of the policy has one of these values.
    #[serde(default)]
    unless_policy: FieldConditions,
    /// The requests that pass.
    pub result: WeaknessResult,
    /// One sentence for users, shown with the policy.
    pub text: Arc<str>,
}

/// The requests that pass where weak settings apply.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WeaknessResult {
    /// Some requests pass that should not.
    SomePass,
    /// Every request passes.
    AllPass,
    /// The settings decide nothing: they are only counted or logged.
    NotApplied,
}

/// Policies of a kind of which any may let a request pass: if one of them lets all requests pass, the others protect
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "AlternativesFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct Alternatives {
    /// Only policies with one of these values in each of these fields; all by default.
    #[serde(default)]
    pub when: FieldConditions,
    /// Other kinds whose policies are alternatives to these.
    #[serde(default)]
    pub other_kinds: Vec<GroupKind>,
    /// Targets that themselves let every request pass, whatever policies say.
    #[serde(default)]
    pub open_targets: Vec<OpenTarget>,
}

/// Targets that let every request pass.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "OpenTargetFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct OpenTarget {
    /// The kind of the targets.
    pub kind: GroupKind,
    /// Only if each of these fields of the target has one of these values: `spec.accessPolicy: [all-unauthenticated]`.
    pub when: FieldConditions,
    /// One sentence for users.
    pub text: Arc<str>,
    /// Whether such a target that does not let every request pass lets in, without a policy, no more than with one.
    #[serde(default)]
    pub otherwise_closed: bool,
    /// Why requests pass once the target is deleted, in one sentence for users.
    pub open_when_deleted: Option<Arc<str>>,
}

// === impl Weakness ===

impl Weakness {
    /// When it applies.
    pub fn condition(&self) -> PolicyCondition<'_> {
        let passing = match self.result {
            WeaknessResult::SomePass => Passing::NotDenied,
            WeaknessResult::AllPass | WeaknessResult::NotApplied => Passing::All,
        };
        PolicyCondition {
            open: self.open_rules.as_ref().map(|rules| (rules, passing)),
            not_open: self.unless_open_rules.as_ref(),
            ..PolicyCondition::new(&self.when, &self.unless, &self.annotated)
        }
    }
}

// === impl ObjectWeakness ===

impl ObjectWeakness {
    /// Whether it applies to a policy with these settings that names an object with this spec.
    pub fn applies(&self, settings: &Value, named: &Value) -> bool {
        let mut rules = self.open_rules.iter();
        self.when.all_in(named)
            && !self.unless.any_in(named)
            && rules.all(|rules| rules.passing(named) == Some(Passing::All))
            && !self.unless_policy.any_in(settings)
    }
}
