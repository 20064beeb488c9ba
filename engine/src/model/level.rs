//! The levels of a path, from the least to the most specific.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::{GroupKind, Place};

/// A level of the hierarchy. The order is the default hierarchy; a profile may define another one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema,
)]
pub enum Level {
    /// A class of Gateways.
    GatewayClass,
    /// The Namespace of the Gateway, or of the Service that a mesh route is attached to.
    GatewayNamespace,
    /// A Gateway.
    Gateway,
    /// A `ListenerSet`.
    ListenerSet,
    /// A listener of a Gateway or of a `ListenerSet`.
    Listener,
    /// A Service that clients of a mesh call, above the routes attached to it.
    Frontend,
    /// The Namespace of the route.
    RouteNamespace,
    /// A route.
    Route,
    /// A rule of a route.
    Rule,
    /// The Namespace of the backend.
    BackendNamespace,
    /// A Service or another kind of backend.
    Backend,
    /// A port of a backend.
    Port,
}

/// One place on a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// Its level.
    pub level: Level,
    /// The number of delegations below it: 1 for a route that delegates to the last route of the path, and for the
    /// rule that does; 0 for the last route, and for everything that is no route.
    pub delegations: u8,
    /// The place.
    pub place: Place,
}

/// The position of a step on a path: a smaller one is less specific. Routes that delegate are above those that they
/// delegate to, at the same levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// 0 above the routes; then it counts delegations.
    part: u8,
    /// The level.
    pub level: Level,
}

// === impl Level ===

impl Level {
    /// The last level of paths whose effective targets are of this kind.
    pub fn end_for(gk: &GroupKind) -> Self {
        if gk.is_gateway_api("GatewayClass") {
            Self::GatewayClass
        } else if gk.has_listeners() {
            Self::Listener
        } else if crate::model::object::is_route(gk) {
            Self::Rule
        } else {
            Self::Port
        }
    }

    /// The level of the objects of a kind; `None` for Namespaces, which occur at several levels.
    pub fn of_kind(gk: &GroupKind) -> Option<Self> {
        let level = if gk.is_core("Namespace") {
            return None;
        } else if gk.is_gateway_api("GatewayClass") {
            Self::GatewayClass
        } else if gk.is_gateway_api("Gateway") {
            Self::Gateway
        } else if gk.is_listener_set() {
            Self::ListenerSet
        } else if crate::model::object::is_route(gk) {
            Self::Route
        } else {
            Self::Backend
        };
        Some(level)
    }

    /// Whether routes may send requests to a kind: any kind except Namespaces and kinds above the routes.
    pub fn is_of_backend(gk: &GroupKind) -> bool {
        Self::end_for(gk) == Self::Port && !gk.is_core("Namespace")
    }

    /// Whether a kind is above the routes, or is a Namespace, which may be.
    pub fn is_kind_above_routes(gk: &GroupKind) -> bool {
        Self::end_for(gk).is_above_routes() || gk.is_core("Namespace")
    }

    /// Whether the level is above the routes.
    pub fn is_above_routes(self) -> bool {
        self < Self::RouteNamespace
    }
}

// === impl Step ===

impl Step {
    /// A place at a level.
    pub fn new(level: Level, place: Place) -> Self {
        Self {
            level,
            delegations: 0,
            place,
        }
    }

    /// The same place on a path that has one more delegation below it.
    #[must_use]
    pub fn above_delegation(&self) -> Self {
        Self {
            level: self.level,
            delegations: self
                .delegations
                .saturating_add(u8::from(!self.level.is_above_routes())),
            place: self.place.clone(),
        }
    }

    /// Its position on the path.
    pub fn position(&self) -> Position {
        Position {
            part: if self.level.is_above_routes() {
                0
            } else {
                u8::MAX - self.delegations
            },
            level: self.level,
        }
    }
}
