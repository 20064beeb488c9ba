//! Facts that differ on routes of some kinds: only some settings act there, and each is filled in separately.

use std::sync::Arc;

use super::{Direction, EmptySpec, Fact, MergeWith, Op, Profile, Strategy};
use crate::model::ids::GroupKind;

/// The facts that differ on routes of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnRoutes {
    /// The kinds of routes.
    pub kinds: Vec<GroupKind>,
    /// The settings that act there, as fields of `spec`.
    pub settings: Vec<String>,
    /// Whether policies on a rule act.
    pub sections: bool,
    /// Whether any other setting makes a policy on such a route invalid.
    pub refuses_others: bool,
    /// The facts that apply there.
    pub profile: Arc<Profile>,
}

// === impl OnRoutes ===

impl OnRoutes {
    /// Derives it from the facts for other routes.
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
        // The most specific policy comes first, and each policy above it fills in missing settings.
        profile.default_strategy = fact(Strategy::Merge(Direction::Defaults, Op::ByKey));
        profile.merging.fills = settings.iter().map(|name| vec![name.clone()]).collect();
        profile.merging.parent_first = *general.merging.merge_with == MergeWith::NearestAboveRoutes;
        profile.merging.merge_with.value = MergeWith::AllAncestors;
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
    /// The facts that differ on routes of a kind, and their index in the list.
    pub fn on_routes_of(&self, route: &GroupKind) -> Option<(usize, &OnRoutes)> {
        let mut all = self.on_routes.iter().enumerate();
        all.find(|(_, on)| on.kinds.contains(route))
    }
}
