//! A set of paths: ancestor paths combined with route paths.

use crate::engine::ids::{ObjectKey, Place, in_runs};
use crate::engine::level::Step;
use crate::engine::topology::{Lowers, Uppers};

/// Paths: each ancestor path combined with each route path.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The ancestor paths; one without steps if the paths begin below the listeners.
    pub uppers: Uppers,
    /// The route paths; none, or one without steps, if the paths end above the routes.
    pub lowers: Lowers,
}

impl Ends {
    /// The effective targets.
    pub fn targets(&self) -> impl Iterator<Item = &Place> {
        // Without steps below, the paths end above the routes.
        let ends_above = self.lowers.iter().all(|lower| lower.steps.is_empty());
        let above = if ends_above { &*self.uppers } else { &[] };
        let above = above.iter().filter_map(|upper| upper.last());
        self.lowers
            .iter()
            .filter_map(|lower| lower.target())
            .chain(above)
    }

    /// The objects of the effective targets, without consecutive duplicates.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectKey> {
        let route = self.lowers.route();
        let others = route.is_none().then(|| self.targets());
        let others = others.into_iter().flatten().map(|target| &target.object);
        route.into_iter().chain(in_runs(others))
    }

    /// The steps of the ancestor paths and of the route paths.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let above = self.uppers.iter().flat_map(|upper| &upper.steps);
        above.chain(self.lowers.iter().flat_map(|lower| &lower.steps))
    }
}
