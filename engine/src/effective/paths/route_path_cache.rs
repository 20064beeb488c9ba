//! A cache of the route paths to the rules of routes: every policy kind asks for them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::ids::{ObjectKey, PrehashedBuildHasher};
use crate::model::object::Object;
use crate::state::snapshot::namespace_key;
use crate::topology::RoutePaths;

/// Caches the paths to the rules of routes.
#[derive(Debug, Default)]
pub(in crate::effective) struct RoutePathCache {
    known: HashMap<ObjectKey, RoutePaths, PrehashedBuildHasher>,
    /// The Namespace of the last route: routes come namespace by namespace.
    namespace: Option<ObjectKey>,
}

// === impl RoutePathCache ===

impl RoutePathCache {
    /// The paths to all rules of a route.
    pub(in crate::effective) fn of_route(
        &mut self,
        namespace: &ObjectKey,
        route: &Arc<Object>,
    ) -> RoutePaths {
        let known = self.known.entry(route.key.clone());
        known
            .or_insert_with(|| RoutePaths::to_rules(namespace, route))
            .clone()
    }

    /// The Namespace of a route.
    pub(in crate::effective) fn namespace(&mut self, route: &Object) -> ObjectKey {
        let known = self.namespace.take();
        let known = known.filter(|known| known.name == route.key.namespace);
        let namespace = known.unwrap_or_else(|| namespace_key(&route.key.namespace));
        self.namespace.insert(namespace).clone()
    }
}
