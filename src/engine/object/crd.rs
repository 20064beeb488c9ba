//! Custom resource definitions.

use std::sync::Arc;

use serde::Deserialize;

use super::Unreadable;
use super::json::parse;
use crate::engine::ids::GroupKind;
use crate::engine::selector::Labels;

/// The label that marks the CRD of a policy kind (GEP-713).
const POLICY_LABEL: &str = "gateway.networking.k8s.io/policy";

/// What the engine needs of a custom resource definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Crd {
    /// The kind that it defines.
    pub gk: GroupKind,
    /// The name in URLs.
    pub plural: Arc<str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Served versions; the stored one first.
    pub served: Vec<Arc<str>>,
    /// The value of the label `gateway.networking.k8s.io/policy`.
    pub policy_label: Option<Arc<str>>,
    /// The schema of `spec` in the stored version.
    pub spec_schema: serde_json::Value,
    /// `maxItems` of `status.ancestors`.
    pub max_ancestors: Option<usize>,
}

#[derive(Deserialize)]
struct CrdSpec {
    group: Arc<str>,
    names: NamesJson,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    versions: Vec<VersionJson>,
}

#[derive(Deserialize)]
struct NamesJson {
    kind: Arc<str>,
    plural: Arc<str>,
}

#[derive(Deserialize)]
struct VersionJson {
    name: Arc<str>,
    #[serde(default)]
    served: bool,
    #[serde(default)]
    storage: bool,
    schema: Option<SchemaJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaJson {
    #[serde(rename = "openAPIV3Schema")]
    open_api: Option<RootSchema>,
}

#[derive(Deserialize)]
struct RootSchema {
    properties: Option<RootProperties>,
}

#[derive(Deserialize)]
struct RootProperties {
    spec: Option<serde_json::Value>,
    status: Option<StatusSchema>,
}

#[derive(Deserialize)]
struct StatusSchema {
    properties: Option<StatusProperties>,
}

#[derive(Deserialize)]
struct StatusProperties {
    ancestors: Option<AncestorsSchema>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AncestorsSchema {
    max_items: Option<usize>,
}

/// Reads the `spec` of a definition.
pub(super) fn read(spec: &str, labels: &Labels) -> Result<Crd, Unreadable> {
    let spec: CrdSpec = parse("spec", spec)?;
    let mut versions = spec.versions;
    versions.sort_by_key(|v| !v.storage);
    let served = versions.iter().filter(|v| v.served).map(|v| v.name.clone());
    let served = served.collect();
    let schema = versions.into_iter().next().and_then(|v| v.schema);
    let schema = schema.and_then(|s| s.open_api).and_then(|s| s.properties);
    let (spec_schema, status) = schema.map(|s| (s.spec, s.status)).unwrap_or_default();
    let ancestors = status.and_then(|s| s.properties?.ancestors);
    Ok(Crd {
        gk: GroupKind::new(spec.group, spec.names.kind),
        plural: spec.names.plural,
        namespaced: spec.scope != "Cluster",
        served,
        policy_label: labels.get(POLICY_LABEL).cloned(),
        spec_schema: spec_schema.unwrap_or_default(),
        max_ancestors: ancestors.and_then(|a| a.max_items),
    })
}
