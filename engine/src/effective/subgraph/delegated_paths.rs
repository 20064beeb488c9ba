//! Ancestor paths of routes through routes that delegate to them.

use std::rc::Rc;
use std::sync::Arc;

use super::Subgraphs;
use crate::model::object::{Node, Object};
use crate::policy::fuel;
use crate::state::snapshot::Snapshot;
use crate::topology::{AncestorPath, OwnPaths};

/// The labels of the rules of a route that requests reach, if delegation keeps some of them away.
pub(in crate::effective) type RulesReached = Option<Vec<Arc<str>>>;

impl OwnPaths for Subgraphs<'_> {
    fn snapshot(&self) -> &Snapshot {
        self.snapshot
    }

    fn own_paths(&mut self, route: &Arc<Object>) -> Vec<Rc<AncestorPath>> {
        let Node::Route { hostnames, .. } = &route.node else {
            return Vec::new();
        };
        if self.fuel.is_spent() {
            return Vec::new();
        }
        let candidate_listeners = self.candidate_listeners(route);
        let closed = self.closed(route);
        let compared = candidate_listeners.hostname_count() * hostnames.len().max(1);
        self.fuel.spend(1 + compared / fuel::HOSTNAMES);
        let paths = candidate_listeners.fitting(hostnames);
        let open = paths.filter(|path| !closed.contains(*path));
        let open: Vec<Rc<AncestorPath>> = open.cloned().collect();
        self.by_hostname(route, &open).unwrap_or(open)
    }
}

impl Subgraphs<'_> {
    /// The ancestor paths of a route through routes that delegate to it.
    pub(super) fn delegated_paths(&mut self, route: &Arc<Object>) -> Vec<Rc<AncestorPath>> {
        let mut delegated = std::mem::take(&mut self.delegated);
        let paths = delegated.paths_to(self, route);
        let work = delegated.work();
        self.delegated = delegated;
        self.fuel
            .spend(paths.len() / fuel::GROUPS + work / fuel::PASSED_OVER);
        paths
    }

    /// The rules of a route that requests on an ancestor path reach.
    pub(in crate::effective) fn rules_reached(
        &self,
        path: &Rc<AncestorPath>,
        route: &Arc<Object>,
    ) -> RulesReached {
        self.delegated.rules_reached(self.snapshot, path, route)
    }
}
