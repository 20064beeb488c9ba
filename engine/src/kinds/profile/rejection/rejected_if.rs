//! Settings for which controllers reject a policy, beyond what its CRD says.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::references::WhenRejected;
use crate::kinds::profile::values::AnnotationsFile;
use crate::kinds::profile::{Fact, FieldConditions, PolicyCondition, Profile, SpecPath};
use crate::model::ids::GroupKind;
use crate::model::object::Meta;

/// Settings for which controllers reject a policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "RejectedIfFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
#[allow(clippy::struct_excessive_bools)] // Each is a condition of its own.
pub struct RejectedIf {
    /// Only on targets of these kinds: `TCPRoute`. On all by default.
    #[serde(default)]
    targets: Vec<String>,
    /// Only if each of these fields has one of these values: `spec.jwt: [null]`. See Conditions in docs/reference/profiles.md.
    #[serde(default)]
    when: FieldConditions,
    /// Only if none of these fields has one of these values.
    #[serde(default)]
    unless: FieldConditions,
    /// Only if each of these fields has a text of the other field, whatever its case: `spec.oidc.forwardIDToken.header` and
    /// `spec.jwt.providers.*.extractFrom.headers.*.name`.
    #[serde(default)]
    alike: BTreeMap<SpecPath, SpecPath>,
    /// Only if two values of one of these fields are the same text: `spec.jwt.providers.*.name`.
    #[serde(default)]
    repeated: Vec<SpecPath>,
    /// Only if each of these annotations of the policy has one of these values; `<not an integer>` stands for all that are no
    /// whole numbers of 32 bits.
    #[serde(default)]
    pub(in crate::kinds::profile) annotated: AnnotationsFile,
    /// Only for requests through Gateways of these controllers. Where others lead to the target, too, the policy is in force for their
    /// requests.
    #[serde(default)]
    pub controllers: Vec<Arc<str>>,
    /// Only on targets of this kind whose own fields have these values: a Server of Linkerd with `spec.proxyProtocol: gRPC`.
    #[serde(default)]
    pub of_target: Option<TargetCondition>,
    /// Only on routes of which every parent of this kind has fields with these values.
    #[serde(default)]
    pub of_parents: Option<TargetCondition>,
    /// Only for requests of routes of these kinds: `TCPRoute`. Where others lead to the target, too, the policy is in force for their
    /// requests.
    #[serde(default)]
    pub only_for_routes: Vec<Arc<str>>,
    /// Only for requests of routes of other namespaces than that of the target. Where others lead to the target, too, the policy
    /// is in force for their requests.
    #[serde(default)]
    pub other_namespaces: bool,
    /// Only if another policy of the kind names one of its objects, whatever the sections: controllers reject them as a whole.
    #[serde(default)]
    pub shared_target: bool,
    /// Only on Services of type `ExternalName`.
    #[serde(default)]
    pub external_names: bool,
    /// Only on objects of which the policy names nothing but sections.
    #[serde(default)]
    pub only_sections: bool,
    /// The effect that the policy still has then.
    pub then: WhenRejected,
    /// Whether requests that the policy is for get an error then.
    #[serde(default)]
    pub requests_fail: bool,
    /// Why controllers reject it: one sentence for users.
    pub text: Arc<str>,
}

/// A kind of objects, and values of their own fields.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "TargetFieldsFile", deny_unknown_fields)]
pub struct TargetCondition {
    /// The kind.
    pub kind: GroupKind,
    /// Each of these fields has one of these values. See Conditions in docs/reference/profiles.md.
    pub when: FieldConditions,
}

// === impl RejectedIf ===

impl RejectedIf {
    /// The spec and the annotations of the policies that they reject.
    fn condition(&self) -> PolicyCondition<'_> {
        PolicyCondition {
            alike: Some(&self.alike),
            repeated: &self.repeated,
            ..PolicyCondition::new(&self.when, &self.unless, &self.annotated)
        }
    }

    /// Whether it depends on one of these fields of the spec.
    pub(crate) fn reads_one_of(&self, settings: &[String]) -> bool {
        let compared = self.alike.iter().flat_map(|(one, other)| [one, other]);
        let fields = self.when.fields().chain(self.unless.fields());
        let mut all = fields.chain(compared).chain(&self.repeated);
        all.any(|path| path.first().is_some_and(|field| settings.contains(field)))
    }

    /// Whether it concerns targets of a kind.
    pub fn is_about(&self, target: &GroupKind) -> bool {
        let is_of_kind = |fields: &TargetCondition| fields.kind == *target;
        let is_named = |kind: &String| **kind == *target.kind;
        self.of_target.as_ref().is_none_or(is_of_kind)
            && (self.targets.is_empty() || self.targets.iter().any(is_named))
    }
}

// === impl Profile ===

impl Profile {
    /// Whether requests may get an error because of a rejected policy.
    pub fn may_fail_requests(&self) -> bool {
        self.references.iter().any(|one| one.requests_fail)
            || self.rejected_if.iter().any(|one| one.requests_fail)
            || (self.reported_invalid.iter()).any(|reported| reported.requests_fail)
    }

    /// The indexes of the conditions for rejection that hold for a policy with a spec.
    pub(crate) fn rejected_by(&self, spec: &Value, meta: &Meta) -> Box<[usize]> {
        let all = self.rejected_if.iter().enumerate();
        let holds = all.filter(|(_, rejected)| {
            let condition = rejected.condition();
            condition.holds_for(Some(meta))
                && self.bodies(spec).any(|body| condition.holds_in(body))
        });
        holds.map(|(index, _)| index).collect()
    }

    /// The parts of a spec that may have settings: the spec itself, and its `defaults` and `overrides`.
    pub(crate) fn bodies<'s>(&self, spec: &'s Value) -> impl Iterator<Item = &'s Value> + use<'s> {
        let names = self.strategies.value.stanzas.into_iter();
        let names = names.flat_map(|names| [names.defaults, names.overrides]);
        let stanzas = names.filter_map(|name| spec.get(name));
        std::iter::once(spec).chain(stanzas)
    }
}

/// The form that users see.
pub(in crate::kinds::profile) fn shown(all: &Fact<Vec<RejectedIf>>) -> Option<Vec<&str>> {
    let mut texts: Vec<&str> = Vec::new();
    for rejected in all.iter() {
        // Several conditions may have one text.
        if !texts.contains(&&*rejected.text) {
            texts.push(&rejected.text);
        }
    }
    (!texts.is_empty()).then_some(texts)
}
