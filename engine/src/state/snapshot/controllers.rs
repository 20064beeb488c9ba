//! Facts about controllers that concern the objects of a snapshot.

use super::Snapshot;
use crate::kinds::profile::{ControllerFile, DelegationFile};
use crate::model::ids::GroupKind;

// === impl Snapshot ===

impl Snapshot {
    /// The facts about a controller; `None` if there are none.
    pub fn controller_facts(&self, name: &str) -> Option<&ControllerFile> {
        self.rules.controller(name)
    }

    /// Whether a kind is known not to be a policy kind, although it may look like one.
    pub fn is_no_policy_kind(&self, gk: &GroupKind) -> bool {
        self.rules.excludes(gk)
    }

    /// Whether a controller sends no requests to backends of a kind that others take.
    pub fn rejects_backends(&self, controller: &str, kind: &GroupKind) -> bool {
        self.rules.rejects_backends(controller, kind)
    }

    /// The facts about routes that delegate to others, of each controller that follows them; none if no route has a backend
    /// that may stand for routes.
    pub fn delegations(&self) -> impl Iterator<Item = &DelegationFile> {
        let hypothetical = || self.hypothetical.iter().flat_map(|one| one.backends());
        let all = self.rules.delegations();
        all.filter(move |facts| {
            let mut kinds = self.edges.backend_kinds();
            kinds.any(|kind| facts.has_kind(kind))
                || hypothetical().any(|backend| facts.has_kind(&backend.object.gk))
        })
    }
}
