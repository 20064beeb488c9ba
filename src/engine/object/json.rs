//! JSON paths of Kubernetes and Gateway API objects.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::few::Few;
use super::{
    BackendRef, From, GrantFrom, GrantTo, Listener, Meta, Node, ParentRef, Port, ROUTES, Rule,
    Unreadable, annotations, crd, weight,
};
use crate::engine::ids::{GATEWAY_API, GroupKind, ObjectKey};
use crate::engine::selector::{Labels, Selector};

/// Services of media servers have some thousand.
const MOST_PORTS: usize = 4_096;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    metadata: MetaJson<'a>,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Large<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaJson<'a> {
    name: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    labels: Option<Labels>,
    #[serde(borrow, default)]
    annotations: Option<annotations::Raw<'a>>,
    generation: Option<i64>,
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
    listeners: Option<Few<ListenerJson>>,
    allowed_listeners: Option<AllowedJson>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListenerSetSpec {
    parent_ref: ParentJson,
    listeners: Option<Few<ListenerJson>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListenerJson {
    name: Arc<str>,
    port: Option<u32>,
    protocol: Option<Arc<str>>,
    hostname: Option<Arc<str>>,
    allowed_routes: Option<AllowedJson>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AllowedJson {
    namespaces: Option<FromJson>,
    kinds: Option<Few<KindJson>>,
}

#[derive(Deserialize)]
struct FromJson {
    from: Option<String>,
    selector: Option<Selector>,
}

#[derive(Deserialize)]
struct KindJson {
    group: Option<Arc<str>>,
    kind: Arc<str>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RouteSpec {
    parent_refs: Option<Few<ParentJson>>,
    hostnames: Option<Few<Arc<str>>>,
    rules: Option<Few<RuleJson>>,
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
    backend_refs: Option<Few<ParentJson>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServiceSpec {
    ports: Option<Few<PortJson, MOST_PORTS>>,
}

#[derive(Deserialize)]
struct PortJson {
    name: Option<Arc<str>>,
    port: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GrantSpec {
    from: Option<Few<GrantFromJson>>,
    to: Option<Few<GrantToJson>>,
}

#[derive(Deserialize)]
struct GrantFromJson {
    group: Arc<str>,
    kind: Arc<str>,
    namespace: Arc<str>,
}

#[derive(Deserialize)]
struct GrantToJson {
    group: Arc<str>,
    kind: Arc<str>,
    name: Option<Arc<str>>,
}

/// Splits an object into metadata and spec.
pub(super) fn parts(text: &RawValue) -> Result<(Meta, Option<&RawValue>), Unreadable> {
    if weight::is_large(text.get()) {
        let large: Large<'_> = parse("the object", text.get())?;
        weight::weigh_metadata(large.metadata.get())?;
    }
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
        annotations: annotations::short(json.annotations),
        created,
        deleting: json.deletion_timestamp.is_some(),
        generation: json.generation,
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
                sets: spec
                    .allowed_listeners
                    .map_or(From::None, |a| from(a.namespaces, From::None)),
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
                hostnames: all(spec.hostnames, |host| host),
                rules: all(spec.rules, |r| rule(r, meta)),
            }
        }
        ("", "Service") => {
            let spec: ServiceSpec = parse("spec", text)?;
            Node::Service {
                ports: all(spec.ports, |p| Port {
                    name: p.name.filter(|name| !name.is_empty()),
                    number: port(p.port).unwrap_or_default(),
                }),
            }
        }
        (GATEWAY_API, "ReferenceGrant") => {
            let spec: GrantSpec = parse("spec", text)?;
            Node::ReferenceGrant {
                from: all(spec.from, |f| GrantFrom {
                    gk: GroupKind::new(f.group, f.kind),
                    namespace: f.namespace,
                }),
                to: all(spec.to, |t| GrantTo {
                    gk: GroupKind::new(t.group, t.kind),
                    name: t.name.filter(|name| !name.is_empty()),
                }),
            }
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            Node::Crd(Arc::new(crd::read(text, &meta.labels, true)?))
        }
        _ => Node::Other,
    };
    Ok(node)
}

/// The same for an object with too much in it: a definition of no policy kind is known by its names, and
/// some are larger than any of a policy kind.
pub(super) fn node_of_large(gk: &GroupKind, meta: &Meta, spec: &RawValue) -> Option<Node> {
    if *gk != GroupKind::crd() || crd::may_be_of_a_policy(spec.get(), &meta.labels) {
        return None;
    }
    weight::weigh_names(spec.get()).ok()?;
    let crd = crd::read(spec.get(), &meta.labels, false).ok()?;
    Some(Node::Crd(Arc::new(crd)))
}

pub(super) fn parse<'a, T: Deserialize<'a>>(what: &str, text: &'a str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|e| Unreadable(format!("{what} cannot be read: {e}")))
}

fn all<A, B, const N: usize>(items: Option<Few<A, N>>, f: impl Fn(A) -> B) -> Vec<B> {
    let items = items.map(|few| few.0).unwrap_or_default();
    items.into_iter().map(f).collect()
}

fn listeners(json: Option<Few<ListenerJson>>) -> Vec<Listener> {
    all(json, |l| {
        let allowed = l.allowed_routes.unwrap_or_default();
        Listener {
            name: l.name,
            port: port(l.port).unwrap_or_default(),
            protocol: l.protocol.unwrap_or_default(),
            hostname: l.hostname.filter(|h| !h.is_empty()),
            routes_from: from(allowed.namespaces, From::Same),
            routes_of: all(allowed.kinds, |k| {
                GroupKind::new(k.group.unwrap_or_else(|| GATEWAY_API.into()), k.kind)
            }),
        }
    })
}

/// A selector that is not there selects nothing.
fn from(json: Option<FromJson>, unsaid: From) -> From {
    let Some(json) = json else {
        return unsaid;
    };
    match (json.from.as_deref(), json.selector) {
        (Some("All"), _) => From::All,
        (Some("Same"), _) => From::Same,
        (Some("Selector"), Some(selector)) => From::Selector(selector),
        (Some(_), _) => From::None,
        (None, _) => unsaid,
    }
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
        backends: all(json.backend_refs, |b| BackendRef {
            object: reference(&b, meta, "", "Service"),
            port: port(b.port),
        }),
    }
}
