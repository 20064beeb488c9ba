//! A set of paths: ancestor paths combined with route paths.

use crate::model::ids::{ObjectKey, Place, dedup_consecutive};
use crate::model::level::Step;
use crate::topology::{AncestorPaths, RoutePaths};

/// Paths: each ancestor path combined with each route path.
#[derive(Clone, Debug)]
pub struct PathSet {
    /// The ancestor paths; one without steps if the paths begin below the listeners.
    pub ancestors: AncestorPaths,
    /// The route paths; none, or one without steps, if the paths end above the routes.
    pub routes: RoutePaths,
}

impl PathSet {
    /// The effective targets.
    pub fn targets(&self) -> impl Iterator<Item = &Place> {
        // Without steps below, the paths end above the routes.
        let ends_above = self
            .routes
            .iter()
            .all(|route_path| route_path.steps.is_empty());
        let above = if ends_above { &*self.ancestors } else { &[] };
        let above = above
            .iter()
            .filter_map(|ancestor_path| ancestor_path.last());
        self.routes
            .iter()
            .filter_map(|route_path| route_path.target())
            .chain(above)
    }

    /// The objects of the effective targets, without consecutive duplicates.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectKey> {
        let route = self.routes.route();
        let others = route.is_none().then(|| self.targets());
        let others = others.into_iter().flatten().map(|target| &target.object);
        route.into_iter().chain(dedup_consecutive(others))
    }

    /// The steps of the ancestor paths and of the route paths.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let above = self
            .ancestors
            .iter()
            .flat_map(|ancestor_path| &ancestor_path.steps);
        above.chain(self.routes.iter().flat_map(|route_path| &route_path.steps))
    }
}
