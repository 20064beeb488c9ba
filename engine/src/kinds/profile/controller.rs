//! Facts about a controller of Gateways that are independent of policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::values::paths::setting_path;
use super::vocabulary::EqualAge;
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{ClientCertificates, Listener};

mod delegation;
mod generated_policy;
mod generated_rule;
mod unsupported_filters;

pub use delegation::{DelegationFile, DelegationMerge, DelegationMergeFile};
pub use generated_policy::GeneratedPolicyFile;
pub use generated_rule::GeneratedRuleFile;
pub use unsupported_filters::{UnsupportedFilterEffect, UnsupportedFiltersFile};

/// Facts about a controller of Gateways that are independent of policies.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct ControllerFile {
    /// The `controllerName` in its `GatewayClasses`.
    pub name: String,
    /// Other names under which it runs; `*` at the end stands for any characters: `istio.io/*`.
    #[serde(default)]
    pub other_names: Vec<String>,
    /// Whether it serves an `HTTPRoute` and a `GRPCRoute` on one hostname of a listener, or accepts only the older one. If absent,
    /// attache assumes that it serves both, and notes where it matters.
    pub http_and_grpc_on_one_hostname: Option<bool>,
    /// Its facts about `HTTPRoutes` that delegate to others. By default it follows none: a route is no backend.
    pub delegation: Option<DelegationFile>,
    /// Its isolation of HTTP listeners on one port. If absent, routes count as attached to all listeners that take
    /// their hostnames, and `explain` assumes `full` and notes where it matters.
    pub listener_isolation: Option<ListenerIsolation>,
    /// Whether a listener whose hostname is a wildcard takes no route whose hostname is a wider one: no `*.example.com` on
    /// `*.shop.example.com`.
    #[serde(default, rename = "rejectsWiderWildcards")]
    pub rejects_wider_wildcards: bool,
    /// Whether the policies of plain HTTP listeners on one port go by the hostnames of routes: those of the listener with the
    /// longest hostname that covers one apply to its requests, whichever listener the route is attached to.
    #[serde(default)]
    pub listener_policies_by_hostname: bool,
    /// Protocols of listeners that it serves beside those of the Gateway API, if their names have no domain: `HBONE`. Listeners of
    /// other controllers may have them too.
    #[serde(default)]
    pub protocols: Vec<String>,
    /// Those protocols of the Gateway API whose listeners it serves; all if empty.
    #[serde(default)]
    pub only_protocols: Vec<String>,
    /// The kinds of routes that its listeners of a protocol take, where these are fewer than those of the Gateway API:
    /// `TLS: [TLSRoute]`.
    #[serde(default)]
    pub route_kinds: BTreeMap<String, Vec<String>>,
    /// The kinds of routes that its listeners of a protocol take if their `allowedRoutes.kinds` is empty.
    #[serde(default)]
    pub default_route_kinds: BTreeMap<String, Vec<String>>,
    /// Listeners that it does not serve at all, although others serve what they can of them.
    #[serde(default)]
    pub rejected_listeners: Vec<RejectedListeners>,
    /// The kinds of routes that `allowedRoutes.kinds` may list, by the protocol of the listener, where they are fewer than those
    /// that it serves there: it does not serve a listener that lists others.
    #[serde(default)]
    pub listed_kinds: BTreeMap<String, Vec<String>>,
    /// The kinds of `ListenerSets` whose listeners it serves: `ListenerSet`, `XListenerSet`; both if absent.
    pub listener_sets: Option<Vec<String>>,
    /// Services to which it sends no requests of routes, although others do.
    #[serde(default)]
    pub rejected_services: Vec<RejectedServices>,
    /// The kinds of backends to which it sends requests of routes, beside Services: it sends none to those that only other
    /// controllers list here. Kinds that none lists count as taken. If absent, it takes all.
    pub backend_kinds: Option<BTreeSet<GroupKind>>,
    /// Whether listeners that leave TLS to their backends take `TCPRoutes`, too.
    #[serde(default)]
    pub tcp_routes_with_passthrough: bool,
    /// The kinds of routes that it serves only if they have exactly one rule: `TCPRoute`.
    #[serde(default)]
    pub one_rule_routes: Vec<String>,
    /// Listeners on which it serves only the oldest of the `TCPRoutes` and `TLSRoutes`, whatever their hostnames.
    #[serde(default)]
    pub one_route_listeners: Vec<OneRouteListenersFile>,
    /// The option in `tls.options` of a listener that decides about client certificates there, before `spec.tls.frontend` of the
    /// Gateway.
    pub client_certificate_option: Option<ClientCertificateOptionFile>,
    /// Whether of conflicting listeners of one Gateway it accepts the first. Otherwise it accepts none of them.
    #[serde(default)]
    pub first_listener_wins: bool,
    /// Whether listeners that it does not serve, for `rejectedListeners` or because of their protocol or certificates, conflict
    /// with none, but keep their hostnames from routes of other listeners.
    #[serde(default)]
    pub invalid_listeners_do_not_conflict: bool,
    /// Routes that it, or a project on top of it, generates from other objects. Manifests come without them.
    #[serde(default)]
    pub generated_routes: Vec<GeneratedRouteFile>,
    /// Kinds of its own that attach to Gateways and `ListenerSets` by `spec.parentRefs`, beside routes. attache does not follow
    /// requests to them.
    #[serde(default)]
    pub attached_kinds: Vec<AttachedKindFile>,
    /// Kinds of its own whose objects answer the requests of rules of `HTTPRoutes` that name them in a filter.
    #[serde(default)]
    pub direct_response_filters: Vec<DirectResponseFilterFile>,
    /// Those of its `GatewayClasses` whose Gateways are waypoints: they serve the Services that name them by label, with routes or
    /// without.
    #[serde(default)]
    pub waypoint_classes: BTreeSet<String>,
    /// Those of its names whose Gateways take no routes: a waypoint of Istio serves the routes of its Services.
    #[serde(default)]
    pub without_routes: Vec<String>,
    /// The name of the ancestor under which it sums up in the status of a policy the targets to which it is not attached. It says
    /// nothing about the others.
    pub summary_ancestor: Option<String>,
    /// Whether it names the Gateways in the status of policies without their namespaces.
    #[serde(default)]
    pub ancestors_without_namespace: bool,
    /// The `GatewayClasses` that it creates itself, each with the `controllerName` in it. Manifests come without them, so
    /// they are never reported as missing.
    #[serde(default)]
    pub creates_classes: BTreeMap<String, Arc<str>>,
    /// Whether it runs Gateways although it reports that it does not accept their `GatewayClass`.
    #[serde(default)]
    pub runs_gateways_of_rejected_class: bool,
    /// Reasons with which it reports a route or listener as not accepted and serves it all the same: rules with a fault answer with
    /// an error, or are left out, and the others work.
    #[serde(default)]
    pub served_despite: Vec<String>,
    /// Whether the only backend of a rule gets all requests, even with the weight 0.
    #[serde(default)]
    pub only_backend_needs_no_weight: bool,
    /// What becomes of requests where a filter names a backend that cannot be used: a mirror, or the service of `ExternalAuth`. By default
    /// they are served without the filter.
    pub unresolved_filters: Option<UnsupportedFilterEffect>,
    /// What becomes of requests of a rule where a filter names an object (`ExtensionRef`) that does not exist, or that the controller does not
    /// read. By default they get an error.
    pub missing_filter_objects: Option<UnsupportedFilterEffect>,
    /// Filters of routes that it does not support.
    pub unsupported_filters: Option<UnsupportedFiltersFile>,
    /// Whether it refuses a request whose host is that of another listener than the one that the server name of its connection chose
    /// (421 Misdirected Request). If absent, attache assumes that it does, and notes it.
    #[serde(rename = "rejectsMisdirectedRequests")]
    pub rejects_misdirected_requests: Option<bool>,
    /// The order in which it tries rules that match one request, as far as it differs from that of the Gateway API.
    #[serde(default)]
    pub rule_order: RuleOrder,
}

/// An option of listeners that decides about client certificates.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientCertificateOptionFile {
    /// Its key.
    pub option: Arc<str>,
    /// What its values mean. Other values decide nothing.
    pub values: BTreeMap<String, AskedClientCertificates>,
}

/// What a controller asks of clients at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskedClientCertificates {
    /// Nothing.
    None,
    /// A certificate, if they have one.
    Optional,
    /// A valid certificate.
    Required,
}

// === impl AskedClientCertificates ===

impl AskedClientCertificates {
    /// The verification of client certificates; `None` if none are asked for.
    pub fn asked(self) -> Option<ClientCertificates> {
        match self {
            Self::None => None,
            Self::Optional => Some(ClientCertificates::Asked),
            Self::Required => Some(ClientCertificates::Required),
        }
    }
}

/// Listeners on which a controller serves one route alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OneRouteListenersFile {
    /// Their protocols: `TCP`.
    pub protocols: Vec<String>,
    /// Only those that terminate TLS.
    #[serde(default)]
    pub terminating: bool,
}

// === impl OneRouteListenersFile ===

impl OneRouteListenersFile {
    /// Whether a listener is one of these.
    pub fn has(&self, listener: &Listener) -> bool {
        let mut protocols = self.protocols.iter();
        protocols.any(|protocol| **protocol == *listener.protocol)
            && !(self.terminating && listener.passes_tls_through)
    }
}

/// A kind from which a controller generates routes, each with the parents, hostnames and matches of its object.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratedRouteFile {
    /// The kind.
    pub from: GroupKind,
    /// The kind of the routes, of the group `gateway.networking.k8s.io`.
    pub kind: String,
    /// The prefix of the name of the route; the name of the object follows.
    #[serde(default)]
    pub prefix: String,
    /// The kind of the backends that its rules name without a kind, if they name backends.
    pub backends: Option<GroupKind>,
    /// Rules after those of the object.
    #[serde(default)]
    pub rules: Vec<GeneratedRuleFile>,
    /// Policies that it generates on the route.
    #[serde(default)]
    pub policies: Vec<GeneratedPolicyFile>,
}

/// A kind whose objects answer requests if a filter names them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DirectResponseFilterFile {
    /// The API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Only objects with this field answer: `spec.directResponse`.
    pub when: Option<String>,
    /// The field with the status of the answer: `spec.directResponse.statusCode`.
    pub status: String,
    /// The status if the field is absent.
    pub default: Option<u16>,
    /// Whether requests fail if the rule has backends, too.
    #[serde(default)]
    pub fails_with_backends: bool,
}

/// A kind that attaches to Gateways like routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttachedKindFile {
    /// The API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// The name of a backend of the kind that stands for all objects of the kind whose parent is the rule, if routes may have
    /// one: `*`. No object has it.
    pub wildcard_backend: Option<String>,
}

/// Listeners that a controller does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RejectedListeners {
    /// With the protocol HTTPS or TLS and without `tls`.
    WithoutTls,
    /// With the protocol HTTPS or TLS that terminate TLS and name no Secret as certificate.
    WithoutCertificates,
    /// With `allowedRoutes.namespaces.from: Selector` and without a selector.
    WithoutSelector,
    /// With a kind in `allowedRoutes.kinds` that the protocol does not take. Otherwise the other kinds count.
    OtherKinds,
}

/// Services to which a controller sends no requests of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RejectedServices {
    /// A Service of the type `ExternalName`.
    ExternalName,
    /// A Service whose port with the number has another protocol than UDP for `UDPRoutes`, TCP for other routes.
    OtherProtocol,
}

/// The isolation of HTTP listeners on one port of a Gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ListenerIsolation {
    /// The listener with the most specific hostname takes a request, even if it has no route for it.
    Full,
    /// A route loses at a listener each hostname that a more specific hostname of another listener covers.
    CoveredHostnames,
    /// A route loses at a listener each hostname that a more specific hostname of another listener of the same object covers.
    CoveredOwnHostnames,
    /// A route loses at a listener each hostname that equals the hostname of another listener.
    EqualHostnames,
    /// A route loses at a listener each hostname that equals the hostname of another listener of the same object.
    EqualOwnHostnames,
    /// Routes keep all their hostnames, whichever listener they are attached to. With TLS, the server name decides.
    None,
    /// The same, with TLS, too.
    NoneWithTls,
}

/// The order in which a controller tries rules that match one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub struct RuleOrder {
    /// The lists in which it compares rules of several routes. If absent, attache assumes `grpcFirst` and notes where it matters.
    pub lists: Option<RuleLists>,
    /// Whether rules of routes that have one hostname in common with the listener are compared by the hostnames in the routes first. If
    /// absent, attache assumes that they are, and notes where it matters.
    pub hostnames_of_routes: Option<bool>,
    /// Whether it tries only rules for the most specific hostname of a request, as a server for each hostname does: if none of them
    /// takes the request, no rule does. If absent, attache assumes that it tries those for less specific ones, too, and notes where
    /// it matters.
    pub one_hostname: Option<bool>,
    /// Whether it tries only rules with the most specific path that fits a request, as a location for each path does: if none of
    /// them takes the request, because of its method, headers or query parameters, no rule does.
    pub one_path: bool,
    /// The place of paths by regular expression. If absent, attache assumes `afterPrefixes` and notes where it
    /// matters.
    pub expression_paths: Option<ExpressionPaths>,
    /// Whether a regular expression for the path takes all paths that begin with what it matches. Otherwise it must match the whole
    /// path.
    pub partial_expressions: bool,
    /// Whether a rule is left out, with all of its matches, if a match of it has a regular expression that is not one. Otherwise only
    /// that match is.
    pub drops_rules_with_invalid_expressions: bool,
    /// Whether the longer of two regular expressions for the path goes first.
    pub longer_expressions_first: bool,
    /// Whether the method of a match counts as one more header. Otherwise, a match with a method precedes one without.
    pub method_counts_as_header: bool,
    /// Whether, of two matches with equally many headers or query parameters, the one with more exact values goes
    /// first.
    pub exact_values_first: bool,
    /// Whether rules of `HTTPRoutes` precede those of `GRPCRoutes` that are otherwise equal, whatever their age.
    pub http_routes_win_ties: bool,
    /// Whether rules with equal matches of several routes share their requests. Otherwise the rule of the oldest route takes all of them.
    pub equal_matches_share: bool,
    /// The value that the method of a gRPC call without a service counts as, if rules of both kinds are compared.
    pub grpc_method_alone: GrpcMethodAlone,
    /// The meaning of a slash at the end of a path prefix; `ignored` by default, as the Gateway API has it.
    pub trailing_slash: TrailingSlash,
    /// The paths that it takes a service of a gRPC call for, if it compares nothing but the path: not the method, the content type or the
    /// number of elements. Absent if only gRPC calls match.
    pub grpc_calls_as_paths: Option<GrpcCallsAsPaths>,
    /// The order of routes, and of `ListenerSets`, that were created in the same second; `text` by default.
    pub equal_age: EqualAge,
}

/// The lists in which a controller compares rules of several routes for one hostname.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuleLists {
    /// Rules of `GRPCRoutes` precede those of `HTTPRoutes`.
    GrpcFirst,
    /// All in one list: a gRPC call counts as the path `/service/method`.
    Together,
    /// One list for each hostname that routes name, with a gRPC call as the path `/service/method`. Lists of which the oldest route
    /// is in the namespace of the Gateway are tried first, then the one with the older route. A rule for all requests ends its list:
    /// those behind it do not count. It is tried after the rules of all lists.
    PerHostname,
}

/// The meaning of a slash at the end of a path prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TrailingSlash {
    /// None.
    #[default]
    Ignored,
    /// It makes the prefix longer than one without it, but `/a/` takes `/a`, too.
    Counted,
    /// It belongs to the prefix: `/a/` does not take `/a`.
    Kept,
}

/// The paths that a controller takes a service of a gRPC call for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GrpcCallsAsPaths {
    /// `/service` and all below it. A method alone is the last element of a path.
    Elements,
    /// All below `/service`. A method alone is the second of two elements.
    Calls,
}

/// The place of paths by regular expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExpressionPaths {
    /// After exact paths, before prefixes.
    BeforePrefixes,
    /// After exact paths and prefixes that are equal to the path of the request and do not end with a slash, before other prefixes.
    BeforeLongerPaths,
    /// After exact paths and prefixes.
    AfterPrefixes,
}

/// The value that the method of a gRPC call without a service counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GrpcMethodAlone {
    /// As a path by regular expression.
    #[default]
    Expression,
    /// As a header.
    Header,
}

// === impl AttachedKindFile ===

impl AttachedKindFile {
    /// Whether a backend stands for all objects of the kind.
    pub(super) fn stands_for_all(&self, backend: &ObjectKey) -> bool {
        let gk = &backend.gk;
        let is_of_kind = (&*gk.group, &*gk.kind) == (&*self.group, &*self.kind);
        is_of_kind && self.wildcard_backend.as_deref() == Some(&*backend.name)
    }
}

// === impl DirectResponseFilterFile ===

impl DirectResponseFilterFile {
    /// Whether the objects of a kind may answer.
    pub fn is_of(&self, gk: &GroupKind) -> bool {
        (&*gk.group, &*gk.kind) == (&*self.group, &*self.kind)
    }

    /// The status with which an object with this spec answers; `None` if it does not.
    pub fn answer(&self, spec: &Value) -> Option<String> {
        let at = |path: &str| spec.pointer(&format!("/{}", setting_path(path).join("/")));
        if let Some(when) = &self.when {
            at(when).filter(|value| !value.is_null())?;
        }
        let stated = at(&self.status).and_then(Value::as_u64);
        let status = stated.or(self.default.map(u64::from))?;
        Some(status.to_string())
    }
}

// === impl ControllerFile ===

impl ControllerFile {
    /// Whether it serves a rule as if a filter that names an object which does not exist were not there.
    pub(crate) fn ignores_missing_filter_objects(&self) -> bool {
        self.missing_filter_objects == Some(UnsupportedFilterEffect::Ignored)
    }

    /// Whether it runs under a name beside its own.
    pub(super) fn is_also(&self, name: &str) -> bool {
        let mut others = self.other_names.iter();
        others.any(|other| match other.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == other,
        })
    }
}
