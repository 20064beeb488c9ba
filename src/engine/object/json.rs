//! JSON paths of Kubernetes and Gateway API objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Crd, Listener, Meta, Node, ParentRef, ROUTES, Rule, Unreadable};
use crate::engine::ids::{GATEWAY_API, GroupKind, ObjectKey};

/// The label that marks the CRD of a policy kind (GEP-713).
const POLICY_LABEL: &str = "gateway.networking.k8s.io/policy";

#[derive(Deserialize)]
struct Envelope<'a> {
    metadata: MetaJson,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaJson {
    name: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    labels: Option<BTreeMap<Arc<str>, Arc<str>>>,
    creation_timestamp: Option<String>,
    deletion_timestamp: Option<serde::de::IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GatewayClassSpec {
    controller_name: Arc<str>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GatewaySpec {
    gateway_class_name: Arc<str>,
    listeners: Option<Vec<ListenerJson>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListenerSetSpec {
    parent_ref: ParentJson,
    listeners: Option<Vec<ListenerJson>>,
}

#[derive(Deserialize)]
struct ListenerJson {
    name: Arc<str>,
    port: Option<u32>,
    hostname: Option<Arc<str>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RouteSpec {
    parent_refs: Option<Vec<ParentJson>>,
    hostnames: Option<Vec<Arc<str>>>,
    rules: Option<Vec<RuleJson>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ParentJson {
    group: Option<Arc<str>>,
    kind: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    name: Arc<str>,
    section_name: Option<Arc<str>>,
    port: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuleJson {
    name: Option<Arc<str>>,
    backend_refs: Option<Vec<ParentJson>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServiceSpec {
    ports: Option<Vec<PortJson>>,
}

#[derive(Deserialize)]
struct PortJson {
    name: Option<Arc<str>>,
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
}

/// Splits an object into metadata and spec.
pub(super) fn parts(text: &RawValue) -> Result<(Meta, Option<&RawValue>), Unreadable> {
    let envelope: Envelope<'_> = parse("the object", text.get())?;
    let json = envelope.metadata;
    let created = json
        .creation_timestamp
        .map(|t| t.parse())
        .transpose()
        .map_err(|_| Unreadable("metadata.creationTimestamp is not a time".into()))?;
    let meta = Meta {
        namespace: json.namespace.unwrap_or_default(),
        name: json.name.unwrap_or_default(),
        labels: json.labels.unwrap_or_default(),
        created,
        deleting: json.deletion_timestamp.is_some(),
    };
    Ok((meta, envelope.spec.filter(|spec| spec.get() != "null")))
}

/// The part of an object that depends on its kind.
pub(super) fn node(
    gk: &GroupKind,
    meta: &Meta,
    spec: Option<&RawValue>,
) -> Result<Node, Unreadable> {
    let text = spec.map_or("{}", RawValue::get);
    let node = match (&*gk.group, &*gk.kind) {
        (GATEWAY_API, "GatewayClass") => Node::GatewayClass {
            controller: parse::<GatewayClassSpec>("spec", text)?.controller_name,
        },
        (GATEWAY_API, "Gateway") => {
            let spec: GatewaySpec = parse("spec", text)?;
            Node::Gateway {
                class: spec.gateway_class_name,
                listeners: listeners(spec.listeners),
            }
        }
        (GATEWAY_API, "ListenerSet") => {
            let spec: ListenerSetSpec = parse("spec", text)?;
            Node::ListenerSet {
                parent: parent(spec.parent_ref, meta),
                listeners: listeners(spec.listeners),
            }
        }
        (GATEWAY_API, kind) if ROUTES.contains(&kind) => {
            let spec: RouteSpec = parse("spec", text)?;
            Node::Route {
                parents: all(spec.parent_refs, |p| parent(p, meta)),
                hostnames: spec.hostnames.unwrap_or_default(),
                rules: all(spec.rules, |r| rule(r, meta)),
            }
        }
        ("", "Service") => {
            let spec: ServiceSpec = parse("spec", text)?;
            let ports = spec.ports.unwrap_or_default();
            Node::Service {
                ports: ports.into_iter().filter_map(|p| p.name).collect(),
            }
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Node::Crd(Arc::new(crd(
            parse("spec", text)?,
            meta.labels.get(POLICY_LABEL).cloned(),
        ))),
        ("", "Namespace") => Node::Other { spec: None },
        _ => Node::Other {
            spec: spec.map(|spec| Arc::from(spec.to_owned())),
        },
    };
    Ok(node)
}

fn parse<'a, T: Deserialize<'a>>(what: &str, text: &'a str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|e| Unreadable(format!("{what} cannot be read: {e}")))
}

fn all<A, B>(items: Option<Vec<A>>, f: impl Fn(A) -> B) -> Vec<B> {
    items.unwrap_or_default().into_iter().map(f).collect()
}

fn listeners(json: Option<Vec<ListenerJson>>) -> Vec<Listener> {
    all(json, |l| Listener {
        name: l.name,
        port: port(l.port).unwrap_or_default(),
        hostname: l.hostname.filter(|h| !h.is_empty()),
    })
}

fn port(number: Option<u32>) -> Option<u16> {
    number.and_then(|p| u16::try_from(p).ok())
}

fn reference(json: &ParentJson, meta: &Meta, group: &str, kind: &str) -> ObjectKey {
    ObjectKey::new(
        GroupKind::new(
            json.group.clone().unwrap_or_else(|| group.into()),
            json.kind.clone().unwrap_or_else(|| kind.into()),
        ),
        json.namespace
            .clone()
            .unwrap_or_else(|| meta.namespace.clone()),
        json.name.clone(),
    )
}

fn parent(json: ParentJson, meta: &Meta) -> ParentRef {
    ParentRef {
        object: reference(&json, meta, GATEWAY_API, "Gateway"),
        section: json.section_name.filter(|s| !s.is_empty()),
        port: port(json.port),
    }
}

fn rule(json: RuleJson, meta: &Meta) -> Rule {
    Rule {
        name: json.name.filter(|name| !name.is_empty()),
        backends: all(json.backend_refs, |b| reference(&b, meta, "", "Service")),
    }
}

fn crd(spec: CrdSpec, policy_label: Option<Arc<str>>) -> Crd {
    let mut versions = spec.versions;
    versions.sort_by_key(|v| !v.storage);
    let served = versions.iter().filter(|v| v.served).map(|v| v.name.clone());
    let served = served.collect();
    let schema = versions.into_iter().next().and_then(|v| v.schema);
    let spec_schema = schema
        .and_then(|s| s.open_api)
        .and_then(|s| s.properties)
        .and_then(|p| p.spec);
    Crd {
        gk: GroupKind::new(spec.group, spec.names.kind),
        plural: spec.names.plural,
        namespaced: spec.scope != "Cluster",
        served,
        policy_label,
        spec_schema: spec_schema.unwrap_or_default(),
    }
}
