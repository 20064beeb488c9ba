//! Paths by their ways in and on: the steps on them and where they end.

use crate::engine::ids::{ObjectKey, Place, in_runs};
use crate::engine::level::Step;
use crate::engine::topology::{Lowers, Uppers};

/// Paths, by which it is known where they end: each way in with each way on.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The ways in; one without steps where the paths begin below the listeners.
    pub uppers: Uppers,
    /// The ways on; none, or one without steps, where nothing leads on.
    pub lowers: Lowers,
}

impl Ends {
    /// The effective targets.
    pub fn targets(&self) -> impl Iterator<Item = &Place> {
        // Where nothing leads on they end above the routes.
        let ends_above = self.lowers.iter().all(|lower| lower.steps.is_empty());
        let above = if ends_above { &*self.uppers } else { &[] };
        let above = above.iter().filter_map(|upper| upper.last());
        self.lowers
            .iter()
            .filter_map(|lower| lower.target())
            .chain(above)
    }

    /// The objects that they are, or are sections of; in runs, each once.
    pub fn objects(&self) -> impl Iterator<Item = &ObjectKey> {
        let route = self.lowers.route();
        let others = route.is_none().then(|| self.targets());
        let others = others.into_iter().flatten().map(|target| &target.object);
        route.into_iter().chain(in_runs(others))
    }

    /// The steps of the ways in and of those on.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let above = self.uppers.iter().flat_map(|upper| &upper.steps);
        above.chain(self.lowers.iter().flat_map(|lower| &lower.steps))
    }
}
