//! Routes whose requests get the policies of a listener that they are not attached to.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Subgraphs;
use crate::effective::Resolver;
use crate::model::ids::{ObjectKey, Place};
use crate::model::object::Object;
use crate::policy::fuel;
use crate::topology::AncestorPath;

impl Subgraphs<'_> {
    /// The ancestor paths whose policies apply to the requests that a route takes through these, sorted; `None` if they are the
    /// same.
    pub(super) fn by_hostname(
        &mut self,
        route: &Object,
        taken: &[Rc<AncestorPath>],
    ) -> Option<Vec<Rc<AncestorPath>>> {
        let parents = route.parents().iter();
        let mut parents = parents.filter_map(|parent| self.parents.get(&parent.object));
        parents.find(|parent| parent.by_hostname.is_some())?;
        let mut acting: Vec<Rc<AncestorPath>> = Vec::with_capacity(taken.len());
        for path in taken {
            // Paths through a delegating route already have the listeners whose policies apply.
            let at = path.last().filter(|_| !path.is_delegated());
            let parent = at.and_then(|at| self.parents.get(&at.object));
            let by_hostname = parent.and_then(|parent| parent.by_hostname.as_ref());
            let (Some(at), Some(by_hostname)) = (at, by_hostname) else {
                acting.push(path.clone());
                continue;
            };
            let compared = by_hostname.count() * route.hostnames().len().max(1);
            self.fuel.spend(compared / fuel::HOSTNAMES);
            match &*by_hostname.paths(at, route.hostnames()) {
                [] => acting.push(path.clone()),
                others => acting.extend(others.iter().copied().cloned()),
            }
        }
        acting.sort();
        acting.dedup();
        (acting != taken).then_some(acting)
    }
}

impl Resolver<'_> {
    /// The listeners and mesh Services at which requests to an object arrive; sorted.
    pub fn listeners_reaching(&mut self, key: &ObjectKey) -> BTreeSet<Place> {
        let subgraph = self.subgraph(key);
        let taken = &self.subgraphs.taken;
        let routes = subgraph.routes.iter();
        let paths = routes.flat_map(|(route, paths)| taken.get(&route.key).unwrap_or(paths).iter());
        let last = paths
            .chain(&subgraph.ancestor_paths)
            .filter_map(|path| path.last());
        last.cloned().collect()
    }
}
