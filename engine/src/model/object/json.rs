//! JSON paths of Kubernetes and Gateway API objects.

use std::borrow::Cow;
use std::num::NonZeroI64;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::backend_json::BackendJson;
use super::bounded_vec::{BoundedVec, MOST_HOSTNAMES};
use super::filters::Filters;
use super::frontend_tls::GatewayTlsJson;
use super::listener_tls::ListenerTlsJson;
use super::matches::Matches;
use super::paths::Paths;
use super::rule_matches::RuleMatches;
use super::service::{ServiceJson, service, service_port};
use super::values::{not_empty, port};
use super::{
    From, GrantFrom, GrantTo, Header, Incoming, Infrastructure, Listener, Meta, Node, ParentRef,
    ROUTES, Rule, Unreadable, annotations, crd, is_route, unreadable, weight,
};
use crate::model::ids::{GATEWAY_API, GATEWAY_API_X, GroupKind, MULTICLUSTER, ObjectKey};
use crate::model::selector::Labels;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    metadata: MetaJson<'a>,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

/// A large object: its metadata is weighed before it is read. Messages contain the name.
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
struct GatewaySpec<'a> {
    gateway_class_name: Arc<str>,
    #[serde(borrow)]
    listeners: Option<BoundedVec<ListenerJson<'a>>>,
    #[serde(borrow)]
    allowed_listeners: Option<AllowedJson<'a>>,
    infrastructure: Option<InfrastructureJson>,
    addresses: Option<BoundedVec<AddressJson>>,
    tls: Option<GatewayTlsJson>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InfrastructureJson {
    labels: Option<Labels>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AddressJson {
    #[serde(rename = "type")]
    address_type: Option<Box<str>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListenerSetSpec<'a> {
    parent_ref: ParentJson,
    #[serde(borrow)]
    listeners: Option<BoundedVec<ListenerJson<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListenerJson<'a> {
    name: Arc<str>,
    port: Option<u32>,
    protocol: Option<Arc<str>>,
    hostname: Option<Arc<str>>,
    tls: Option<ListenerTlsJson>,
    #[serde(borrow)]
    allowed_routes: Option<AllowedJson<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AllowedJson<'a> {
    #[serde(borrow)]
    namespaces: Option<FromJson<'a>>,
    kinds: Option<BoundedVec<KindJson>>,
}

#[derive(Deserialize)]
struct FromJson<'a> {
    from: Option<String>,
    /// Parsed separately: the CRD allows more than can be parsed.
    #[serde(borrow)]
    selector: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct KindJson {
    group: Option<Arc<str>>,
    kind: Arc<str>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RouteSpec<'a> {
    parent_refs: Option<BoundedVec<ParentJson>>,
    hostnames: Option<BoundedVec<Arc<str>, MOST_HOSTNAMES>>,
    #[serde(borrow)]
    rules: Option<BoundedVec<RuleJson<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ParentJson {
    group: Option<Arc<str>>,
    kind: Option<Arc<str>>,
    namespace: Option<Arc<str>>,
    name: Arc<str>,
    section_name: Option<Arc<str>>,
    port: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RuleJson<'a> {
    name: Option<Arc<str>>,
    #[serde(borrow)]
    matches: Option<&'a RawValue>,
    #[serde(borrow)]
    filters: Option<&'a RawValue>,
    #[serde(borrow)]
    backend_refs: Option<BoundedVec<BackendJson<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GrantSpec {
    from: Option<BoundedVec<GrantFromJson>>,
    to: Option<BoundedVec<GrantToJson>>,
}

#[derive(Deserialize)]
pub(super) struct GrantFromJson {
    group: Arc<str>,
    kind: Arc<str>,
    namespace: Arc<str>,
}

#[derive(Deserialize)]
pub(super) struct GrantToJson {
    group: Arc<str>,
    kind: Arc<str>,
    name: Option<Arc<str>>,
}

/// Splits an object into metadata, spec and status.
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
        // The UID identifies cached objects in reports; a reviewed object needs none.
        uid: None,
    };
    let header = Header {
        namespace: json.namespace.unwrap_or_default(),
        name: json.name.unwrap_or_default(),
        meta,
    };
    Ok(Incoming {
        header: Cow::Owned(header),
        spec: spec.filter(|spec| spec.get() != "null"),
        status,
    })
}

/// The kind-specific part of an object.
pub(super) fn node(
    gk: &GroupKind,
    header: &Header,
    spec: Option<&RawValue>,
) -> Result<Node, Unreadable> {
    let text = spec.map_or("{}", RawValue::get);
    let node = match (&*gk.group, &*gk.kind) {
        (GATEWAY_API, "GatewayClass") => Node::GatewayClass {
            controller: parse::<GatewayClassSpec>("spec", text)?.controller_name,
        },
        (GATEWAY_API, "Gateway") => {
            let spec: GatewaySpec<'_> = parse("spec", text)?;
            Node::Gateway {
                class: spec.gateway_class_name,
                listeners: listeners(spec.listeners),
                sets: sets(spec.allowed_listeners),
                infrastructure: infrastructure(
                    spec.infrastructure,
                    spec.addresses.iter().flat_map(|few| &few.0),
                ),
                frontend_tls: spec.tls.and_then(GatewayTlsJson::client_certificates),
            }
        }
        (GATEWAY_API, "ListenerSet") | (GATEWAY_API_X, "XListenerSet") => {
            let spec: ListenerSetSpec<'_> = parse("spec", text)?;
            Node::ListenerSet {
                parent: parent(spec.parent_ref, header),
                listeners: listeners(spec.listeners),
            }
        }
        (GATEWAY_API, kind) if ROUTES.contains(&kind) => {
            let spec: RouteSpec<'_> = parse("spec", text)?;
            let rules = spec.rules.iter().flat_map(|few| &few.0);
            let matches = rules.clone().map(|rule| rule.matches);
            let parents = all(spec.parent_refs, |p| parent(p, header));
            let may_delegate = kind == "HTTPRoute" && may_delegate(&parents, rules);
            Node::Route {
                rule_matches: if may_delegate {
                    RuleMatches::from_rules(matches.clone())
                } else {
                    RuleMatches::default()
                },
                matches: Matches::from_rules(matches.clone()),
                paths: Paths::from_rules(matches),
                parents,
                hostnames: all(spec.hostnames, |host| host),
                rules: all(spec.rules, |r| rule(r, header)),
            }
        }
        ("", "Service") | (MULTICLUSTER, "ServiceImport") => {
            let spec: ServiceJson = parse("spec", text)?;
            let ports = all(spec.ports, service_port);
            service(gk, ports, [spec.r#type, spec.cluster_ip])
        }
        (GATEWAY_API, "ReferenceGrant") => {
            let spec: GrantSpec = parse("spec", text)?;
            Node::ReferenceGrant {
                from: all(spec.from, grant_from),
                to: all(spec.to, grant_to),
            }
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            Node::Crd(Arc::new(crd::read(text, &header.meta.labels, true)?))
        }
        _ => Node::Other,
    };
    Ok(node)
}

/// Like [`node`], for an object that contains too much: a CRD that is not of a policy kind only
/// needs its names, and some are larger than any CRD of a policy kind.
pub(super) fn node_of_large(gk: &GroupKind, meta: &Meta, spec: &RawValue) -> Option<Node> {
    if *gk != GroupKind::CRD || crd::may_be_of_a_policy(spec.get(), &meta.labels) {
        return None;
    }
    weight::weigh_names(spec.get()).ok()?;
    let crd = crd::read(spec.get(), &meta.labels, false).ok()?;
    Some(Node::Crd(Arc::new(crd)))
}

pub(super) fn parse<'a, T: Deserialize<'a>>(what: &str, text: &'a str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|why| unreadable::field::<T>(what, text, &why))
}

/// Copies the items into an allocation of exact size: the one that they were parsed into is many times as large.
fn all<A, B, const N: usize>(items: Option<BoundedVec<A, N>>, f: impl Fn(A) -> B) -> Box<[B]> {
    let items = items.map(|few| few.0).unwrap_or_default();
    let mut all = Vec::with_capacity(items.len());
    all.extend(items.into_iter().map(f));
    all.into()
}

fn listeners(json: Option<BoundedVec<ListenerJson<'_>>>) -> Box<[Listener]> {
    all(json, listener)
}

pub(super) fn listener(json: ListenerJson<'_>) -> Listener {
    let allowed = json.allowed_routes.unwrap_or_default();
    let is_without_tls = json.tls.is_none();
    let lacks_selector = allowed
        .namespaces
        .as_ref()
        .is_some_and(FromJson::lacks_selector);
    let mut tls = json.tls.unwrap_or_default();
    Listener {
        name: json.name,
        port: port(json.port).unwrap_or_default(),
        protocol: json.protocol.unwrap_or_default(),
        passes_tls_through: tls.passes_through(),
        is_without_tls,
        lacks_certificates: !is_without_tls && tls.lacks_certificates(),
        lacks_selector,
        foreign_certificates: tls.foreign_certificates(),
        tls_options: tls.options(),
        hostname: not_empty(json.hostname),
        routes_from: from(allowed.namespaces, From::Same),
        routes_of: all(allowed.kinds, |k| {
            let group = k.group;
            let group = group.unwrap_or_else(|| Arc::from(GATEWAY_API));
            GroupKind::new(group, k.kind)
        }),
    }
}

/// The namespaces whose `ListenerSets` may join.
pub(super) fn sets(allowed: Option<AllowedJson<'_>>) -> From {
    allowed.map_or(From::None, |allowed| from(allowed.namespaces, From::None))
}

pub(super) fn infrastructure<'a>(
    stated: Option<InfrastructureJson>,
    addresses: impl Iterator<Item = &'a AddressJson>,
) -> Option<Box<Infrastructure>> {
    let labels = stated.and_then(|stated| stated.labels);
    let types = addresses.map(|address| address.address_type.as_deref().unwrap_or("IPAddress"));
    let types: Vec<&str> = types.collect();
    let infrastructure = Infrastructure {
        labels,
        has_own_service: !matches!(types[..], [] | ["IPAddress"]),
    };
    (infrastructure != Infrastructure::default()).then(|| Box::new(infrastructure))
}

// === impl FromJson ===

impl FromJson<'_> {
    /// Whether it asks for a selector and has none.
    fn lacks_selector(&self) -> bool {
        let selector = self.selector.map_or("null", RawValue::get);
        self.from.as_deref() == Some("Selector") && selector == "null"
    }
}

/// A missing selector selects nothing.
fn from(json: Option<FromJson<'_>>, unsaid: From) -> From {
    let Some(json) = json else {
        return unsaid;
    };
    match (json.from.as_deref(), json.selector) {
        (Some("All"), _) => From::All,
        (Some("Same"), _) => From::Same,
        (Some("Selector"), Some(text)) => match serde_json::from_str(text.get()) {
            Ok(selector) => From::Selector(Box::new(selector)),
            Err(_) if text.get() == "null" => From::None,
            Err(_) => From::Unknown,
        },
        (Some(_), _) => From::None,
        (None, _) => unsaid,
    }
}

pub(super) fn grant_from(json: GrantFromJson) -> GrantFrom {
    GrantFrom {
        gk: GroupKind::new(json.group, json.kind),
        namespace: json.namespace,
    }
}

pub(super) fn grant_to(json: GrantToJson) -> GrantTo {
    GrantTo {
        gk: GroupKind::new(json.group, json.kind),
        name: not_empty(json.name),
    }
}

/// The kind of a parent. The group of a Service may be `core`, as Linkerd documents it.
pub(super) fn parent_kind(group: Option<Arc<str>>, kind: Option<Arc<str>>) -> GroupKind {
    let kind = kind.unwrap_or_else(|| "Gateway".into());
    match group {
        Some(group) if *group == *"core" && *kind == *"Service" => GroupKind::core("Service"),
        Some(group) => GroupKind::new(group, kind),
        None => GroupKind::new(GATEWAY_API, kind),
    }
}

pub(super) fn parent(json: ParentJson, header: &Header) -> ParentRef {
    let namespace = json.namespace;
    let namespace = namespace.unwrap_or_else(|| header.namespace.clone());
    ParentRef {
        object: ObjectKey::new(parent_kind(json.group, json.kind), namespace, json.name),
        port: port(json.port),
        section: not_empty(json.section_name),
    }
}

/// Whether a route may delegate to others, as far as its references show, or be delegated to.
fn may_delegate<'a>(
    parents: &[ParentRef],
    mut rules: impl Iterator<Item = &'a RuleJson<'a>>,
) -> bool {
    let is_foreign =
        |backend: &BackendJson<'_>| backend.group.as_ref().is_some_and(|g| !g.is_empty());
    let mut backends = rules.by_ref().flat_map(|rule| &rule.backend_refs);
    parents.is_empty()
        || parents.iter().any(|parent| is_route(&parent.object.gk))
        || backends.any(|few| few.0.iter().any(is_foreign))
}

pub(super) fn rule(json: RuleJson<'_>, header: &Header) -> Rule {
    let backends = json.backend_refs.iter().flat_map(|few| &few.0);
    let of_backends = backends.filter_map(|backend| backend.filters);
    let filters = Filters::read(json.filters, of_backends, header);
    Rule {
        name: not_empty(json.name),
        backends: all(json.backend_refs, |backend| backend.reference(header)),
        filters,
    }
}
