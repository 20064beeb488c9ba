//! What holds on routes of some kinds: only some settings act there, and each is filled in by itself.

use std::sync::Arc;

use super::{Direction, EmptySpec, Fact, Op, Profile, Strategy, With};
use crate::engine::ids::GroupKind;

/// What holds on routes of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnRoutes {
    /// The kinds of routes.
    pub kinds: Vec<GroupKind>,
    /// The settings that act there, as fields of `spec`.
    pub settings: Vec<String>,
    /// Whether policies on a rule act.
    pub sections: bool,
    /// Whether a policy on such a route is refused for any other setting.
    pub refuses_others: bool,
    /// The facts that hold there.
    pub profile: Arc<Profile>,
}

// === impl OnRoutes ===

impl OnRoutes {
    /// From the facts that hold on other routes.
    pub(super) fn new(
        general: &Profile,
        kinds: Vec<GroupKind>,
        settings: Vec<String>,
        sections: bool,
        refuses_others: bool,
    ) -> Self {
        let from = general.on_routes.from;
        let fact = |value| Fact { value, from };
        let mut profile = general.clone();
        profile.on_routes = Fact::default();
        profile.only = Some(settings.clone());
        // The more specific policy is there first, and each above it fills in the settings that are missing.
        profile.unset = fact(Strategy::Merge(Direction::Defaults, Op::ByKey));
        profile.merging.fills = settings.iter().map(|name| vec![name.clone()]).collect();
        profile.merging.with.value = With::AllAncestors;
        profile.merging.empty_spec.value = Some(EmptySpec::Ignored);
        Self {
            kinds,
            settings,
            sections,
            refuses_others,
            profile: Arc::new(profile),
        }
    }
}

// === impl Profile ===

impl Profile {
    /// What holds on routes of a kind where that is something else than on others, and its place in the list.
    pub fn on_routes_of(&self, route: &GroupKind) -> Option<(usize, &OnRoutes)> {
        let mut all = self.on_routes.iter().enumerate();
        all.find(|(_, on)| on.kinds.contains(route))
    }
}
