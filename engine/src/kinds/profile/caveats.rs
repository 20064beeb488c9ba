//! Behaviour of controllers that is not modelled.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::annotation_value::AnnotationsFile;
use super::condition::{Condition, Values};
use super::paths::{SpecPath, pairs};

/// Behaviour of the controller that attache does not model. It is shown with every policy that it applies to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a condition of its own.
pub struct CaveatFile {
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
    /// Annotations of the policy, each with the values for which it applies. Always by default.
    #[serde(default)]
    pub annotated: AnnotationsFile,
    /// Names of controllers: it applies if one of them runs a Gateway. Always by default.
    #[serde(default)]
    pub controllers: Vec<Arc<str>>,
    /// Labels of Namespaces: it applies to policies in a Namespace with one of these, and to those of the root namespace if any
    /// Namespace has one. Always by default.
    #[serde(default)]
    pub namespace_labels: BTreeMap<String, String>,
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
    /// It applies if a filter of a backend of a route names a policy of the kind.
    #[serde(default)]
    pub filters_of_backends: bool,
    /// Whether a policy without a known effect on a target of these kinds may apply to it all the same, so that its effect is not known.
    #[serde(default)]
    pub may_act_elsewhere: bool,
    /// It applies if each of these fields has one of these values: `spec.mergeType: [StrategicMerge]`. Paths and values
    /// are those of `weakenedBy`.
    #[serde(default)]
    pub when: Values,
    /// It does not apply if one of these fields has one of these values.
    #[serde(default)]
    pub unless: Values,
}

/// Behaviour of the controllers of a kind that is not modelled: statements about a policy that it applies to may be
/// wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is a condition of its own.
pub struct Caveat {
    /// One sentence for users.
    pub text: Arc<str>,
    /// Applies to policies with a target of these kinds; to all policies if empty.
    pub targets: Vec<Arc<str>>,
    /// Applies to policies with a setting at or below one of these paths; to all policies if empty.
    pub settings: Vec<SpecPath>,
    /// Applies if routes send requests to objects of these kinds of Gateway API; always if empty.
    pub backends: Vec<Arc<str>>,
    /// Applies if a Gateway, a `ListenerSet` or a route has one of these annotations; always if empty.
    pub annotations: Vec<Arc<str>>,
    /// Applies if one of these controllers runs a Gateway; always if empty.
    pub controllers: Vec<Arc<str>>,
    /// Applies to policies in a Namespace with one of these labels; always if empty.
    pub namespace_labels: Vec<(Arc<str>, Arc<str>)>,
    /// Applies if a Service or a Namespace has one of these labels; always if empty.
    pub labels: Vec<Arc<str>>,
    /// Applies if there are objects of these kinds of Gateway API; always if empty.
    pub objects: Vec<Arc<str>>,
    /// Applies only if two Gateways of one class have plain HTTP listeners on one port.
    pub shared_ports: bool,
    /// Applies only to policies that name a Gateway which shares its name and its class with
    /// another one.
    pub shared_names: bool,
    /// Applies if a policy of one of these kinds of Gateway API names a section of an object that the policy names as a whole; always
    /// if empty.
    pub policies_on_sections: Vec<Arc<str>>,
    /// Applies only if a filter of a backend of a route names a policy of the kind.
    pub filters_of_backends: bool,
    /// Whether a policy without a known effect on a target of these kinds may act there all the same.
    pub may_act_elsewhere: bool,
    /// Applies to policies whose spec and annotations fulfil this.
    pub condition: Condition,
}

// === impl CaveatFile ===

impl CaveatFile {
    /// The keys of the annotations that it depends on.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> + '_ {
        let own = self.annotated.keys().cloned();
        own.chain(self.annotations.iter().map(ToString::to_string))
    }
}

// === impl Caveat ===

impl Caveat {
    pub(super) fn read(file: &CaveatFile) -> Self {
        Self {
            text: file.text.clone(),
            targets: file.targets.clone(),
            settings: file.settings.clone(),
            backends: file.backends.clone(),
            annotations: file.annotations.clone(),
            controllers: file.controllers.clone(),
            namespace_labels: pairs(&file.namespace_labels),
            labels: file.labels.clone(),
            objects: file.objects.clone(),
            shared_ports: file.shared_ports,
            shared_names: file.shared_names,
            policies_on_sections: file.policies_on_sections.clone(),
            filters_of_backends: file.filters_of_backends,
            may_act_elsewhere: file.may_act_elsewhere,
            condition: Condition::read(&file.when, &file.unless).with_annotations(&file.annotated),
        }
    }
}
