//! Requests that a rule of a changed route takes from another rule of it. A guardrail that was broken on the path of a
//! rule is broken anew if the rule takes requests that had no such fault before.

use std::cell::OnceCell;

use attache_engine::effective::renames::Renames;
use attache_engine::model::object::is_route;
use attache_engine::routing::{ReroutedRequests, rerouted_within};

use crate::change::GuardedChange;
use crate::path::PathId;

/// The requests that rules of the changed route take from each other, found when they are first asked for.
pub(crate) struct TakenRequests<'a> {
    change: &'a GuardedChange<'a>,
    renames: &'a Renames,
    moved: OnceCell<ReroutedRequests>,
}

// === impl TakenRequests ===

impl<'a> TakenRequests<'a> {
    pub(crate) fn new(change: &'a GuardedChange<'a>, renames: &'a Renames) -> Self {
        Self {
            change,
            renames,
            moved: OnceCell::new(),
        }
    }

    /// Whether a path leads through a rule that takes requests from one which had no fault. Paths have the names after the change.
    pub(crate) fn had_no_fault(&self, path: &PathId, had_fault: impl Fn(&PathId) -> bool) -> bool {
        let route = self.change.object;
        let Some(rule) = path.section_of(route).filter(|_| is_route(&route.gk)) else {
            return false;
        };
        let mut moved = self.moved().moved.iter();
        moved.any(|((from, to), _)| {
            let from = self.renames.later_place(&route.section(from.clone()));
            to == rule && !had_fault(&path.through_section(&from))
        })
    }

    /// Whether some requests were not compared, because there are too many.
    pub(crate) fn is_cut(&self) -> bool {
        self.moved.get().is_some_and(|moved| moved.is_cut)
    }

    fn moved(&self) -> &ReroutedRequests {
        self.moved.get_or_init(|| {
            let versions = self.change.route_versions.get(self.change.object);
            let moved = |[old, new]: &[_; 2]| rerouted_within(self.change.after, old, new);
            versions.map(moved).unwrap_or_default()
        })
    }
}
