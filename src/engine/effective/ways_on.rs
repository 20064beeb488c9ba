//! A cache of the route paths to the rules of routes.
//!
//! They depend on the route alone. Resolvers of two snapshots share them, and the shared list identifies the paths of
//! a route that is the same in both.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::ids::ObjectKey;
use crate::engine::maps::HashMap;
use crate::engine::object::Object;
use crate::engine::snapshot::namespace_key;
use crate::engine::topology::Lowers;

type Known = HashMap<*const Object, Lowers>;

/// Caches the paths to the rules of routes.
#[derive(Clone, Debug, Default)]
pub(super) struct WaysOn {
    /// By the address of the route, which its list keeps alive.
    known: Rc<RefCell<Known>>,
    /// The Namespace of the last route: routes come namespace by namespace.
    namespace: Option<ObjectKey>,
}

// === impl WaysOn ===

impl WaysOn {
    /// The paths to all rules of a route.
    pub(super) fn to_rules(&self, namespace: &ObjectKey, route: &Arc<Object>) -> Lowers {
        let mut known = self.known.borrow_mut();
        let known = known.entry(Arc::as_ptr(route));
        known
            .or_insert_with(|| Lowers::to_rules(namespace, route))
            .clone()
    }

    /// The Namespace of a route.
    pub(super) fn namespace(&mut self, route: &Object) -> ObjectKey {
        let known = self.namespace.take();
        let known = known.filter(|known| known.name == route.key.namespace);
        let namespace = known.unwrap_or_else(|| namespace_key(&route.key.namespace));
        self.namespace.insert(namespace).clone()
    }
}
