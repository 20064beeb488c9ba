//! Facts that differ on routes of some kinds: only some settings apply there, and each is filled in separately.

use std::sync::Arc;

use crate::kinds::profile::file::IneffectiveFile;
use crate::kinds::profile::{
    Class, Direction, EmptySpec, Fact, Ineffective, MergeWith, Op, Profile, Source, Strategy,
};
use crate::model::ids::GroupKind;
use crate::model::object::is_route;

/// The facts that differ on routes of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnRoutes {
    /// The kinds of routes.
    pub kinds: Vec<GroupKind>,
    /// The settings that apply there, as fields of `spec`.
    pub settings: Vec<String>,
    /// Whether policies on a rule apply.
    pub sections: bool,
    /// The facts that apply there.
    pub profile: Arc<Profile>,
}

// === impl OnRoutes ===

impl OnRoutes {
    /// Derives it from the facts for other routes.
    pub(in crate::kinds::profile) fn new(
        general: &Profile,
        kinds: Vec<GroupKind>,
        settings: Vec<String>,
        sections: bool,
    ) -> Self {
        let from = general.on_routes.from;
        let fact = |value| Fact { value, from };
        let mut profile = general.clone();
        profile.on_routes = Fact::default();
        profile.only = Some(settings.clone());
        // The most specific policy comes first, and each policy above it fills in missing settings.
        profile.default_strategy = fact(Strategy::Merge(Direction::Defaults, Op::ByKey));
        profile.merging.units_by_key = settings.iter().map(|name| vec![name.clone()]).collect();
        profile.merging.parent_first = *general.merging.merge_with == MergeWith::NearestAboveRoutes;
        profile.merging.merge_with.value = MergeWith::AllAncestors;
        profile.merging.empty_spec.value = Some(EmptySpec::Ignored);
        Self {
            kinds,
            settings,
            sections,
            profile: Arc::new(profile),
        }
    }

    /// Adds the settings that do nothing at some levels, of those that apply there.
    pub(in crate::kinds::profile) fn add_ineffective(&mut self, idle: &Fact<Vec<IneffectiveFile>>) {
        let mut profile = Profile::clone(&self.profile);
        profile.ineffective.from = idle.from;
        profile.ineffective.value = Ineffective::read(&profile, &idle.value);
        self.profile = Arc::new(profile);
    }

    /// The kinds of routes on which policies of an inherited kind do nothing: those that are not among its effective targets,
    /// although routes are.
    pub(in crate::kinds::profile) fn not_effective(profile: &Profile) -> Vec<GroupKind> {
        let is_known = profile.effective.from != Source::Default;
        let has_routes = profile.effective.iter().any(is_route);
        if *profile.class != Class::Inherited || !is_known || !has_routes {
            return Vec::new();
        }
        let all = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"];
        let all = all.map(GroupKind::gateway_api).into_iter();
        let others = all.filter(|route| {
            let known = profile.on_routes_of(route).is_some();
            !known && !profile.effective.contains(route)
        });
        others.collect()
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
