//! JSON paths of Kubernetes and Gateway API objects.

use std::borrow::Cow;
use std::num::NonZeroI64;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::few::{Few, MOST_HOSTNAMES};
use super::matches::Matches;
use super::paths::Paths;
use super::{
    BackendRef, From, GrantFrom, GrantTo, Header, Incoming, Listener, Meta, Node, ParentRef, Port,
    ROUTES, Rule, Unreadable, annotations, crd, unreadable, weight,
};
use crate::engine::ids::{GATEWAY_API, GATEWAY_API_X, GroupKind, ObjectKey};
use crate::engine::selector::{Labels, Selector};
use crate::engine::shared::{self, Text};

/// Services of media servers have some thousand.
const MOST_PORTS: usize = 4_096;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    metadata: MetaJson<'a>,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Large<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaJson<'a> {
    name: Option<Text>,
    namespace: Option<Text>,
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
    controller_name: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GatewaySpec {
    gateway_class_name: Text,
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
    name: Text,
    port: Option<u32>,
    protocol: Option<Text>,
    hostname: Option<Text>,
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
    group: Option<Text>,
    kind: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RouteSpec<'a> {
    parent_refs: Option<Few<ParentJson>>,
    hostnames: Option<Few<Text, MOST_HOSTNAMES>>,
    #[serde(borrow)]
    rules: Option<Few<RuleJson<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ParentJson {
    group: Option<Text>,
    kind: Option<Text>,
    namespace: Option<Text>,
    name: Text,
    section_name: Option<Text>,
    port: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RuleJson<'a> {
    name: Option<Text>,
    #[serde(borrow)]
    matches: Option<&'a RawValue>,
    backend_refs: Option<Few<ParentJson>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServiceSpec {
    ports: Option<Few<PortJson, MOST_PORTS>>,
}

#[derive(Deserialize)]
struct PortJson {
    name: Option<Text>,
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
    group: Text,
    kind: Text,
    namespace: Text,
}

#[derive(Deserialize)]
struct GrantToJson {
    group: Text,
    kind: Text,
    name: Option<Text>,
}

/// Splits an object into metadata and spec.
pub(super) fn parts(text: &RawValue) -> Result<Incoming<'_>, Unreadable> {
    let (json, spec, status): (MetaJson<'_>, _, _) = if weight::is_large(text.get()) {
        let large: Large<'_> = parse("the object", text.get())?;
        let metadata = large.metadata.get();
        weight::weigh_metadata(metadata)?;
        (parse("metadata", metadata)?, large.spec, large.status)
    } else {
        let envelope: Envelope<'_> = parse("the object", text.get())?;
        (envelope.metadata, envelope.spec, envelope.status)
    };
    let created = json
        .creation_timestamp
        .map(|t| t.parse())
        .transpose()
        .map_err(|_| Unreadable::new("metadata.creationTimestamp is not a time"))?;
    let meta = Meta {
        labels: json.labels.unwrap_or_default(),
        annotations: annotations::short(json.annotations),
        created,
        deleting: json.deletion_timestamp.is_some(),
        version: None,
        generation: json.generation.and_then(NonZeroI64::new),
    };
    let header = Header {
        namespace: json.namespace.unwrap_or_default().0,
        name: json.name.unwrap_or_default().0,
        meta,
    };
    Ok(Incoming {
        header: Cow::Owned(header),
        spec: spec.filter(|spec| spec.get() != "null"),
        status,
    })
}

/// The part of an object that depends on its kind.
pub(super) fn node(
    gk: &GroupKind,
    header: &Header,
    spec: Option<&RawValue>,
) -> Result<Node, Unreadable> {
    let text = spec.map_or("{}", RawValue::get);
    let node = match (&*gk.group, &*gk.kind) {
        (GATEWAY_API, "GatewayClass") => Node::GatewayClass {
            controller: parse::<GatewayClassSpec>("spec", text)?.controller_name.0,
        },
        (GATEWAY_API, "Gateway") => {
            let spec: GatewaySpec = parse("spec", text)?;
            Node::Gateway {
                class: spec.gateway_class_name.0,
                listeners: listeners(spec.listeners),
                sets: spec
                    .allowed_listeners
                    .map_or(From::None, |a| from(a.namespaces, From::None)),
            }
        }
        (GATEWAY_API, "ListenerSet") | (GATEWAY_API_X, "XListenerSet") => {
            let spec: ListenerSetSpec = parse("spec", text)?;
            Node::ListenerSet {
                parent: parent(spec.parent_ref, header),
                listeners: listeners(spec.listeners),
            }
        }
        (GATEWAY_API, kind) if ROUTES.contains(&kind) => {
            let spec: RouteSpec<'_> = parse("spec", text)?;
            let rules = spec.rules.iter().flat_map(|few| &few.0);
            Node::Route {
                matches: Matches::of(rules.clone().map(|rule| rule.matches)),
                paths: Paths::of(rules.map(|rule| rule.matches)),
                parents: all(spec.parent_refs, |p| parent(p, header)),
                hostnames: all(spec.hostnames, |Text(host)| host),
                rules: all(spec.rules, |r| rule(r, header)),
            }
        }
        ("", "Service") => {
            let spec: ServiceSpec = parse("spec", text)?;
            Node::Service {
                ports: all(spec.ports, |p| Port {
                    name: said(p.name),
                    number: port(p.port).unwrap_or_default(),
                }),
            }
        }
        (GATEWAY_API, "ReferenceGrant") => {
            let spec: GrantSpec = parse("spec", text)?;
            Node::ReferenceGrant {
                from: all(spec.from, |f| GrantFrom {
                    gk: shared::kind(&f.group.0, &f.kind.0),
                    namespace: f.namespace.0,
                }),
                to: all(spec.to, |t| GrantTo {
                    gk: shared::kind(&t.group.0, &t.kind.0),
                    name: said(t.name),
                }),
            }
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            Node::Crd(Arc::new(crd::read(text, &header.meta.labels, true)?))
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
    serde_json::from_str(text).map_err(|why| unreadable::field::<T>(what, text, &why))
}

/// In a piece of memory of their own: the one that they were read into is many times as large.
fn all<A, B, const N: usize>(items: Option<Few<A, N>>, f: impl Fn(A) -> B) -> Box<[B]> {
    let items = items.map(|few| few.0).unwrap_or_default();
    let mut all = Vec::with_capacity(items.len());
    all.extend(items.into_iter().map(f));
    all.into()
}

/// A text that is not empty.
fn said(text: Option<Text>) -> Option<Arc<str>> {
    text.map(|Text(text)| text).filter(|text| !text.is_empty())
}

fn listeners(json: Option<Few<ListenerJson>>) -> Box<[Listener]> {
    all(json, |l| {
        let allowed = l.allowed_routes.unwrap_or_default();
        Listener {
            name: l.name.0,
            port: port(l.port).unwrap_or_default(),
            protocol: l.protocol.unwrap_or_default().0,
            hostname: said(l.hostname),
            routes_from: from(allowed.namespaces, From::Same),
            routes_of: all(allowed.kinds, |k| {
                let group = k.group.map(|Text(group)| group);
                let group = group.unwrap_or_else(|| shared::text(GATEWAY_API));
                shared::kind(&group, &k.kind.0)
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
        (Some("Selector"), Some(selector)) => From::Selector(Box::new(selector)),
        (Some(_), _) => From::None,
        (None, _) => unsaid,
    }
}

fn port(number: Option<u32>) -> Option<u16> {
    number.and_then(|p| u16::try_from(p).ok())
}

fn reference(json: &ParentJson, header: &Header, group: &str, kind: &str) -> ObjectKey {
    let or = |said: &Option<Text>, unsaid: &str| match said {
        Some(Text(said)) => said.clone(),
        None => shared::text(unsaid),
    };
    let gk = shared::kind(&or(&json.group, group), &or(&json.kind, kind));
    let namespace = json.namespace.as_ref().map(|Text(namespace)| namespace);
    shared::key(&gk, namespace.unwrap_or(&header.namespace), &json.name.0)
}

fn parent(json: ParentJson, header: &Header) -> ParentRef {
    ParentRef {
        object: reference(&json, header, GATEWAY_API, "Gateway"),
        port: port(json.port),
        section: said(json.section_name),
    }
}

fn rule(json: RuleJson<'_>, header: &Header) -> Rule {
    Rule {
        name: said(json.name),
        backends: all(json.backend_refs, |b| BackendRef {
            object: reference(&b, header, "", "Service"),
            port: port(b.port),
        }),
    }
}
