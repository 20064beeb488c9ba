//! Many routes at once.

use std::collections::HashSet;

use crate::engine::ids::{ByKey, ObjectKey};

/// Routes, each once, in the order in which they were met: those of one parent are looked at one after the other.
#[derive(Debug, Default)]
pub struct Routes {
    order: Vec<ObjectKey>,
    known: HashSet<ObjectKey, ByKey>,
}

// === impl Routes ===

impl Routes {
    /// Adds those that are not there yet.
    pub fn extend<'a>(&mut self, routes: impl IntoIterator<Item = &'a ObjectKey>) {
        for route in routes {
            if self.known.insert(route.clone()) {
                self.order.push(route.clone());
            }
        }
    }

    /// Whether one is among them.
    pub fn contains(&self, route: &ObjectKey) -> bool {
        self.known.contains(route)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &ObjectKey> {
        self.order.iter()
    }
}
