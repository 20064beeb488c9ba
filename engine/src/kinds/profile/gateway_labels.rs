//! Labels and classes that connect Gateways with Services and Pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Profile;
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

// === impl Profile ===

impl Profile {
    /// The labels by which the Pods of a Namespace with these labels get a proxy, with their values.
    fn mesh_labels<'a>(
        &'a self,
        labels: &'a Labels,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Arc<str>)> {
        let known = self.namespaces_in_mesh.iter();
        known.filter_map(|(label, values)| {
            let value = labels.get(label)?;
            let counts = !value.is_empty() && (values.is_empty() || values.contains(value));
            counts.then_some((label, value))
        })
    }

    /// The first of these labels.
    pub fn mesh_label<'a>(&'a self, labels: &'a Labels) -> Option<(&'a Arc<str>, &'a Arc<str>)> {
        self.mesh_labels(labels).next()
    }

    /// Whether the Pods of a Namespace with these labels get proxies of their own, which read policies without a target.
    pub(crate) fn has_own_proxies(&self, labels: &Labels) -> bool {
        let shared = &self.namespaces_without_proxy;
        let is_kept_out = labels.first_of(&self.namespaces_without_mesh).is_some();
        let mut by_labels = self.mesh_labels(labels);
        !is_kept_out && by_labels.any(|(label, value)| shared.get(label) != Some(value))
    }
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
