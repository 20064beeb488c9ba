//! The kinds of objects that attache knows without a CRD: those of Kubernetes and of the Gateway
//! API.

use crate::model::ids::{GATEWAY_API, GATEWAY_API_X, GroupKind, MULTICLUSTER};

/// Route kinds of Gateway API.
pub const ROUTES: [&str; 5] = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"];

/// The kinds of the core API of Kubernetes (v1), as its API reference lists them.
pub const CORE_KINDS: [&str; 17] = [
    "Binding",
    "ComponentStatus",
    "ConfigMap",
    "Endpoints",
    "Event",
    "LimitRange",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Secret",
    "Service",
    "ServiceAccount",
];

/// Whether the core API has a kind.
pub fn is_core_kind(kind: &str) -> bool {
    CORE_KINDS.contains(&kind)
}

/// The kinds of Gateway API on paths, including those above the routes that policies may be attached to.
pub fn gateway_kinds() -> impl Iterator<Item = GroupKind> {
    const ABOVE: [&str; 3] = ["GatewayClass", "Gateway", "ListenerSet"];
    let kinds = ABOVE.iter().chain(&ROUTES);
    let kinds = kinds.map(|kind| GroupKind::gateway_api(kind));
    kinds.chain([GroupKind::new(GATEWAY_API_X, "XListenerSet")])
}

/// The group of a reference without one.
pub(crate) fn guessed_group(kind: &str) -> &'static str {
    let mut gateway_api = ["GatewayClass", "Gateway", "ListenerSet"]
        .iter()
        .chain(&ROUTES);
    if gateway_api.any(|known| known.eq_ignore_ascii_case(kind)) {
        GATEWAY_API
    } else {
        ""
    }
}

/// [`gateway_kinds`] with `ReferenceGrant`: the kinds of Gateway API that are watched.
pub fn watched_gateway_kinds() -> impl Iterator<Item = GroupKind> {
    gateway_kinds().chain([GroupKind::gateway_api("ReferenceGrant")])
}

/// Whether a kind is one of [`watched_gateway_kinds`].
pub fn is_gateway_kind(gk: &GroupKind) -> bool {
    let above = ["GatewayClass", "Gateway", "ReferenceGrant"];
    gk.is_listener_set() || is_route(gk) || above.iter().any(|kind| gk.is_gateway_api(kind))
}

/// The versions of a kind of [`watched_gateway_kinds`] that releases 1.0 to 1.7 of Gateway API serve in either
/// channel, the newest first; empty for other kinds.
pub fn gateway_versions(gk: &GroupKind) -> &'static [&'static str] {
    if !is_gateway_kind(gk) {
        return &[];
    }
    match &*gk.kind {
        "GatewayClass" | "Gateway" | "HTTPRoute" => &["v1", "v1beta1"],
        "GRPCRoute" | "TCPRoute" | "UDPRoute" => &["v1", "v1alpha2"],
        "TLSRoute" => &["v1", "v1alpha3", "v1alpha2"],
        "ReferenceGrant" => &["v1", "v1beta1", "v1alpha2"],
        "ListenerSet" => &["v1"],
        "XListenerSet" => &["v1alpha1"],
        _ => &[],
    }
}

/// Whether a kind is one of [`ROUTES`].
pub fn is_route(gk: &GroupKind) -> bool {
    ROUTES.iter().any(|kind| gk.is_gateway_api(kind))
}

/// Whether a kind is the Service of several clusters (KEP-1645), whose ports are those of a Service.
fn is_service_import(gk: &GroupKind) -> bool {
    (&*gk.group, &*gk.kind) == (MULTICLUSTER, "ServiceImport")
}

/// The noun for a section of a kind; `None` if the kind has no sections or they are unknown.
pub fn section_noun(gk: &GroupKind) -> Option<&'static str> {
    if gk.has_listeners() {
        Some("listener")
    } else if is_route(gk) {
        Some("rule")
    } else if gk.is_core("Service") || is_service_import(gk) {
        Some("port")
    } else {
        None
    }
}
