//! The criteria by which one rule precedes another.

use schemars::JsonSchema;
use serde::Serialize;

/// Why a rule loses to the one that takes the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Criterion {
    /// It is attached to a listener whose hostname is less specific.
    Listener,
    /// Its listener has the same port, protocol and hostname as another.
    ListenerConflict,
    /// Routes of two kinds cannot share a hostname of a listener, or a Service.
    RouteKind,
    /// Routes in the namespace of the client take precedence over those in the namespace of the Service.
    Consumer,
    /// The hostname is less specific.
    Hostname,
    /// The path is less specific.
    Path,
    /// The gRPC service has fewer characters.
    GrpcService,
    /// The gRPC method has fewer characters.
    GrpcMethod,
    /// It does not match on the method.
    Method,
    /// It matches on fewer headers.
    Headers,
    /// It matches on fewer query parameters.
    QueryParams,
    /// The route is younger.
    Age,
    /// The route comes later in the order of `namespace/name`.
    Name,
    /// The rule comes later in the route.
    RuleOrder,
    /// The listener does not accept the route.
    NotAttached,
    /// It contains a match that attache cannot evaluate, so it might win.
    NotEvaluated,
}

/// Why one matching rule precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Its hostname is more specific.
    Hostname,
    /// The hostname in its route is more specific, although both have one in common with the listener.
    HostnameOfRoute,
    /// The other takes every request.
    Everything,
    /// It is in the list of rules with the older route.
    List,
    /// The kind of its route.
    Kind,
    /// Its path is more specific.
    Path,
    /// Its gRPC service has more characters.
    Service,
    /// Its gRPC method has more characters.
    Call,
    /// It names a method.
    Method,
    /// It names more headers.
    Headers,
    /// More of its headers are exact values.
    ExactHeaders,
    /// It names more query parameters.
    Params,
    /// More of its query parameters are exact values.
    ExactParams,
    /// Its route is older.
    Age,
    /// The name of its route.
    Name,
    /// It is earlier in the route.
    RuleOrder,
}

// === impl Reason ===

impl Reason {
    /// The criterion, as users know it.
    pub(super) fn criterion(self) -> Criterion {
        match self {
            Self::Hostname | Self::HostnameOfRoute => Criterion::Hostname,
            Self::Everything | Self::Path => Criterion::Path,
            Self::List | Self::Age => Criterion::Age,
            Self::Kind => Criterion::RouteKind,
            Self::Service => Criterion::GrpcService,
            Self::Call => Criterion::GrpcMethod,
            Self::Method => Criterion::Method,
            Self::Headers | Self::ExactHeaders => Criterion::Headers,
            Self::Params | Self::ExactParams => Criterion::QueryParams,
            Self::Name => Criterion::Name,
            Self::RuleOrder => Criterion::RuleOrder,
        }
    }
}
