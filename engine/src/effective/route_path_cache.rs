//! A cache of the route paths to the rules of routes.
//!
//! They depend on the route alone. Resolvers of two snapshots share them, and the shared list identifies the paths of
//! a route that is the same in both.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::model::ids::ObjectKey;
use crate::model::maps::HashMap;
use crate::model::object::Object;
use crate::state::snapshot::namespace_key;
use crate::topology::RoutePaths;

type Known = HashMap<*const Object, RoutePaths>;

/// Caches the paths to the rules of routes.
#[derive(Clone, Debug, Default)]
pub(super) struct RoutePathCache {
    /// By the address of the route, which its list keeps alive.
    known: Rc<RefCell<Known>>,
    /// The Namespace of the last route: routes come namespace by namespace.
    namespace: Option<ObjectKey>,
}

// === impl RoutePathCache ===

impl RoutePathCache {
    /// The paths to all rules of a route.
    pub(super) fn to_rules(&self, namespace: &ObjectKey, route: &Arc<Object>) -> RoutePaths {
        let mut known = self.known.borrow_mut();
        let known = known.entry(Arc::as_ptr(route));
        known
            .or_insert_with(|| RoutePaths::to_rules(namespace, route))
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
