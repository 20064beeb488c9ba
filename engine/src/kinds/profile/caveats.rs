//! Behaviour of controllers that is not modelled.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::values::AnnotationsFile;
use super::{FieldConditions, PolicyCondition, SpecPath};

/// Behaviour of the controller that attache does not model. It is shown with every policy that it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "CaveatFile", rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a condition of its own.
pub struct Caveat {
    /// One sentence for users.
    pub text: Arc<str>,
    /// Kinds of targets: it applies to policies that name one of these. To all policies by default.
    #[serde(default)]
    pub targets: Vec<Arc<str>>,
    /// Paths of settings: it applies to policies that set one of these. To all policies by default.
    #[serde(default)]
    pub settings: Vec<SpecPath>,
    /// Kinds of Gateway API: it applies if routes send requests to objects of one of these. Always by default.
    #[serde(default)]
    pub backends: Vec<Arc<str>>,
    /// Annotations: it applies if a Gateway, a `ListenerSet` or a route has one of these. Always by default.
    #[serde(default)]
    pub annotations: Vec<Arc<str>>,
    /// Annotations: it applies to policies that name an object with one of these. Always by default.
    #[serde(default)]
    pub annotated_targets: Vec<Arc<str>>,
    /// Annotations of the policy, each with the values for which it applies. Always by default.
    #[serde(default)]
    annotated: AnnotationsFile,
    /// Labels: it applies to policies with one of these, whatever the value. Always by default.
    #[serde(default)]
    pub labelled: Vec<Arc<str>>,
    /// Names of controllers: it applies if one of them runs a Gateway. Always by default.
    #[serde(default)]
    pub controllers: Vec<Arc<str>>,
    /// Labels of Namespaces: it applies to policies in a Namespace with one of these, and to those of the root namespace if any
    /// Namespace has one. Always by default.
    #[serde(default)]
    pub namespace_labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Labels: it applies if a Service or a Namespace has one of these, whatever the value. Always by default.
    #[serde(default)]
    pub labels: Vec<Arc<str>>,
    /// Kinds of Gateway API: it applies if there are objects of one of these. Always by default.
    #[serde(default)]
    pub objects: Vec<Arc<str>>,
    /// It applies if two Gateways of one class have plain HTTP listeners on one port.
    #[serde(default)]
    pub shared_ports: bool,
    /// It applies to policies that name a Gateway, if another Gateway of its class has the same name in another namespace.
    #[serde(default)]
    pub shared_names: bool,
    /// Policy kinds of Gateway API: it applies if a policy of one of these names a section of an object that the policy names as a
    /// whole. Always by default.
    #[serde(default)]
    pub policies_on_sections: Vec<Arc<str>>,
    /// It applies if the status of the policy has as many ancestors as it may have, or if there are more Gateways than that.
    #[serde(default)]
    pub many_ancestors: bool,
    /// It applies if a filter of a backend of a route names a policy of the kind.
    #[serde(default)]
    pub filters_of_backends: bool,
    /// It applies to policies of which a target is also named by the settings of a policy, in a field of `references`.
    #[serde(default)]
    pub named_by_policies: bool,
    /// Whether a policy without a known effect on a target of these kinds may apply to it all the same, so that its effect is not known.
    /// Without `targets`: whether a policy that names no target may apply.
    #[serde(default)]
    pub may_apply_elsewhere: bool,
    /// It applies if each of these fields has one of these values: `spec.mergeType: [StrategicMerge]`. See Conditions in
    /// docs/reference/profiles.md.
    #[serde(default)]
    when: FieldConditions,
    /// It does not apply if one of these fields has one of these values.
    #[serde(default)]
    unless: FieldConditions,
}

// === impl Caveat ===

impl Caveat {
    /// The keys of the annotations that it depends on.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> + '_ {
        let own = self.annotated.keys().cloned();
        let of_objects = self.annotations.iter().chain(&self.annotated_targets);
        own.chain(of_objects.map(ToString::to_string))
    }

    /// The policies that it applies to, by spec and annotations.
    pub fn condition(&self) -> PolicyCondition<'_> {
        PolicyCondition::new(&self.when, &self.unless, &self.annotated)
    }
}
