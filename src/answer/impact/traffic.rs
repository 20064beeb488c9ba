//! Requests that fail after a change: routes that listeners no longer take, and backends that get no more requests.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::named::{Named, named};
use crate::engine::ids::ObjectKey;
use crate::engine::snapshot::Snapshot;
use crate::engine::traffic;

/// What a change takes from routes that stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Traffic {
    /// Routes that lose their only listener: no request reaches them any more.
    pub detached: Vec<Named>,
    /// Routes that lose one of several listeners.
    pub reduced: Vec<Reduced>,
    /// Backends that lose the requests of a route.
    pub backends: Vec<Cut>,
}

/// A route that loses one of several listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reduced {
    /// The route.
    pub route: Named,
    /// The listeners that take it no more.
    pub listeners: Vec<Named>,
}

/// A backend that loses the requests of a route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cut {
    /// The route.
    pub route: Named,
    /// The backend.
    pub backend: Named,
    /// Why it counts no more.
    pub reason: String,
}

/// What a change of these objects does to the requests of routes that stay.
pub(super) fn of(before: &Snapshot, after: &Snapshot, objects: &[ObjectKey]) -> Traffic {
    let lost = traffic::traffic(before, after, objects, usize::MAX);
    let reduced = lost.reduced.iter().map(|(route, listeners)| Reduced {
        route: Named::from(route),
        listeners: listeners.iter().map(Named::from).collect(),
    });
    let cut = traffic::backends(before, after, objects).into_iter();
    let cut = cut.map(|(route, backend, reason)| Cut {
        route: Named::from(&route),
        backend: Named::from(&backend),
        reason,
    });
    let detached: BTreeSet<ObjectKey> = lost.detached;
    Traffic {
        detached: named(&detached),
        reduced: reduced.collect(),
        backends: cut.collect(),
    }
}

impl Traffic {
    /// Whether no request fails that was served.
    pub fn is_empty(&self) -> bool {
        self.detached.is_empty() && self.reduced.is_empty() && self.backends.is_empty()
    }
}
