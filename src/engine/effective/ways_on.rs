//! Ways on through routes to their rules, each made once.
//!
//! They depend on the route alone: surveys of two states share them, and paths of a route that is the same in both
//! are known by it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::ids::ObjectKey;
use crate::engine::level::Level;
use crate::engine::maps::HashMap;
use crate::engine::object::Object;
use crate::engine::snapshot::{Snapshot, namespace_key};
use crate::engine::topology::{Lower, Lowers, lowers};

type Known = HashMap<*const Object, (Arc<Object>, Lowers)>;

/// Remembers the ways to the rules of routes.
#[derive(Clone, Debug, Default)]
pub(super) struct WaysOn {
    /// By the address of the route, which is kept for as long.
    known: Rc<RefCell<Known>>,
    /// The Namespace that was needed last: routes come namespace by namespace.
    namespace: Option<ObjectKey>,
}

// === impl WaysOn ===

impl WaysOn {
    /// The ways to all rules of a route.
    pub(super) fn all(&mut self, snapshot: &Snapshot, route: &Arc<Object>) -> Lowers {
        if let Some((_, known)) = self.known.borrow().get(&Arc::as_ptr(route)) {
            return known.clone();
        }
        let ways: Lowers = self
            .ending(snapshot, route, Level::Rule)
            .map(Rc::new)
            .collect();
        let mut known = self.known.borrow_mut();
        known.insert(Arc::as_ptr(route), (route.clone(), ways.clone()));
        ways
    }

    /// The ways through a route to where paths end.
    pub(super) fn ending(
        &mut self,
        snapshot: &Snapshot,
        route: &Object,
        end: Level,
    ) -> impl Iterator<Item = Lower> + use<> {
        let namespace = match self.namespace.take() {
            Some(known) if known.name == route.key.namespace => known,
            _ => namespace_key(&route.key.namespace),
        };
        let ways = lowers(snapshot, &namespace, route, end);
        self.namespace = Some(namespace);
        ways.into_iter()
    }
}
