//! Custom resource definitions.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Unreadable;
use super::json::parse;
use crate::kinds::profile::{Class, Derived, REF_FIELDS, Schemas, labelled};
use crate::model::ids::GroupKind;
use crate::model::literal;
use crate::model::selector::Labels;

/// The label that marks the CRD of a policy kind (GEP-713).
pub const POLICY_LABEL: &str = "gateway.networking.k8s.io/policy";

/// The parts of a custom resource definition that the engine uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Crd {
    /// The kind that it defines.
    pub gk: GroupKind,
    /// The name in URLs.
    pub plural: Arc<str>,
    /// Other names that people may use: the singular and the short names.
    pub aliases: Vec<Arc<str>>,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
    /// The served versions, the stored one first.
    pub served: Vec<Arc<str>>,
    /// The value of the label `gateway.networking.k8s.io/policy`.
    pub policy_label: Option<Arc<str>>,
    /// The index of the stored version among the versions.
    pub stored: usize,
    /// The facts derived from the schemas.
    pub facts: Arc<Derived>,
}

#[derive(Deserialize)]
struct CrdSpec<'a> {
    group: Arc<str>,
    names: NamesJson,
    #[serde(default)]
    scope: String,
    #[serde(borrow, default)]
    versions: Vec<VersionJson<'a>>,
    #[serde(default, rename = "preserveUnknownFields")]
    keeps_all: Option<bool>,
}

#[derive(Deserialize)]
struct NamesJson {
    kind: Arc<str>,
    plural: Arc<str>,
    #[serde(default)]
    singular: Option<Arc<str>>,
    #[serde(default, rename = "shortNames")]
    short: Option<Vec<Arc<str>>>,
}

#[derive(Deserialize)]
struct VersionJson<'a> {
    name: Arc<str>,
    #[serde(default)]
    served: bool,
    #[serde(default)]
    storage: bool,
    #[serde(borrow)]
    schema: Option<&'a RawValue>,
    subresources: Option<SubresourcesJson>,
}

#[derive(Deserialize)]
struct SubresourcesJson {
    status: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchemaJson {
    #[serde(rename = "openAPIV3Schema")]
    open_api: Option<RootSchema>,
}

#[derive(Default, Deserialize)]
struct RootSchema {
    #[serde(default)]
    properties: RootProperties,
    #[serde(flatten, deserialize_with = "literal::object")]
    others: Map<String, Value>,
}

#[derive(Default, Deserialize)]
struct RootProperties {
    #[serde(default, deserialize_with = "literal::value")]
    spec: Value,
    #[serde(default, deserialize_with = "literal::value")]
    status: Value,
}

/// Reads the `spec` of a CRD, with or without its schemas.
pub(super) fn read(spec: &str, labels: &Labels, with_schemas: bool) -> Result<Crd, Unreadable> {
    let spec: CrdSpec<'_> = parse("spec", spec)?;
    let mut versions = spec.versions;
    let stored = versions.iter().position(|v| v.storage).unwrap_or(0);
    versions.sort_by_key(|v| !v.storage);
    let served = versions.iter().filter(|v| v.served).map(|v| v.name.clone());
    let served = served.collect();
    let mut schemas = Schemas {
        keeps_all: spec.keeps_all == Some(true),
        ..Schemas::default()
    };
    for version in versions {
        let schema = version.schema.filter(|_| with_schemas);
        let schema = schema.map(|text| parse::<SchemaJson>("schema", text.get()));
        let schema = schema.transpose()?.and_then(|schema| schema.open_api);
        let schema = schema.unwrap_or_default();
        if version.storage || version.served {
            schemas.names.push(version.name);
        }
        if version.storage {
            schemas.root = Value::Object(schema.others);
            schemas.spec = schema.properties.spec;
            schemas.status = schema.properties.status;
            schemas.status_subresource = version.subresources.is_some_and(|s| s.status.is_some());
        } else if version.served {
            schemas.others.push(schema.properties.spec);
        }
    }
    Ok(Crd {
        gk: GroupKind::new(spec.group, spec.names.kind),
        plural: spec.names.plural,
        aliases: (spec.names.singular.into_iter())
            .chain(spec.names.short.into_iter().flatten())
            .collect(),
        namespaced: spec.scope != "Cluster",
        served,
        stored,
        policy_label: labels.get(POLICY_LABEL).cloned(),
        facts: Arc::new(Derived::read(&schemas)),
    })
}

/// Whether a CRD may define a policy kind, judged by its label and by field names in its schemas.
pub(super) fn may_be_of_a_policy(spec: &str, labels: &Labels) -> bool {
    let named = |field: &str| spec.contains(&format!("\"{field}\""));
    labels.contains_key(POLICY_LABEL) || REF_FIELDS.iter().any(|field| named(field))
}

// === impl Crd ===

impl Crd {
    /// The class that its label states.
    pub fn class(&self) -> Option<Class> {
        labelled(self.policy_label.as_deref()?)
    }
}
