//! A set of routes in insertion order.

use std::collections::HashSet;

use crate::model::ids::{ObjectKey, PrehashedBuildHasher};

/// Routes, each once, in insertion order: routes of one parent are processed together.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    order: Vec<ObjectKey>,
    known: HashSet<ObjectKey, PrehashedBuildHasher>,
}

// === impl Routes ===

impl Routes {
    /// Adds routes; ignores those that it already contains.
    pub fn extend<'a>(&mut self, routes: impl IntoIterator<Item = &'a ObjectKey>) {
        for route in routes {
            if self.known.insert(route.clone()) {
                self.order.push(route.clone());
            }
        }
    }

    /// Whether it contains a route.
    pub fn contains(&self, route: &ObjectKey) -> bool {
        self.known.contains(route)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// All routes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &ObjectKey> {
        self.order.iter()
    }
}
