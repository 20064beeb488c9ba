//! Variants of a policy: not all of its settings apply to every listener, route and level.

use std::sync::Arc;

use super::Policy;
use crate::kinds::profile::{OnPath, Profile};
use crate::model::level::Level;

/// The facts of the listener at the start of a path that policies of a kind depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListenerFacts {
    /// Its port, for kinds with settings for single ports.
    pub(crate) port: Option<u16>,
    /// The index of the profile's facts for listeners of its protocol, if it has some. It is small, because every group
    /// of paths has one.
    pub(crate) on: Option<u8>,
}

/// The places at which a variant of a policy applies; the default is the policy with all of its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    /// The listeners.
    pub(super) at: ListenerFacts,
    /// The index of the profile's facts for the routes.
    pub(super) on_routes: Option<u8>,
    /// The index of the profile's facts for the level.
    pub(super) at_level: Option<u8>,
}

// === impl Variant ===

impl Variant {
    /// The listeners at which it applies.
    pub(super) fn at(self) -> ListenerFacts {
        self.at
    }

    /// The variant under the other facts of a profile at this index, first those for some routes and then those for some
    /// levels.
    pub(super) fn at_index(self, index: usize, first_of_levels: usize) -> Self {
        let level = index.checked_sub(first_of_levels);
        match level.map(u8::try_from) {
            Some(level) => Self {
                at_level: level.ok(),
                ..self
            },
            None => Self {
                on_routes: u8::try_from(index).ok(),
                ..self
            },
        }
    }
}

// === impl Policy ===

impl Policy {
    /// The variant of its object that it is.
    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    /// Its variant on routes for which the profile has other facts, by index in the profile.
    pub(crate) fn on_routes(&self, place: usize) -> Option<&Arc<Self>> {
        self.variant_at(place)
    }

    /// Its variant at a level at which some settings do nothing for a path; `None` at other levels.
    pub(crate) fn at_level(&self, level: Level, path: OnPath<'_>) -> Option<&Arc<Self>> {
        let (place, _) = self.profile.idle_at(level, path, || self.spec())?;
        self.variant_at(self.profile.on_routes.len() + place)
    }

    fn variant_at(&self, place: usize) -> Option<&Arc<Self>> {
        let made = self.variants.get(place)?;
        let profile = profile_variants(&self.profile).nth(place)?;
        let read = || Arc::new(self.under(profile, place));
        Some(made.get_or_init(read))
    }

    /// Its variant under other facts, for the same listeners.
    pub(super) fn under(&self, profile: &Arc<Profile>, place: usize) -> Self {
        let policy = Self::read(self.object.clone(), profile.clone());
        let policy = policy.at_listeners(self.variant.at).unwrap_or(policy);
        let first_of_levels = self.profile.on_routes.len();
        let variant = Variant {
            at: policy.variant.at,
            ..self.variant.at_index(place, first_of_levels)
        };
        Self { variant, ..policy }
    }
}

/// The facts that hold on some routes, and then those that hold on some levels.
pub(super) fn profile_variants(profile: &Profile) -> impl Iterator<Item = &Arc<Profile>> {
    let on_routes = profile.on_routes.iter().map(|on| &on.profile);
    on_routes.chain(profile.ineffective.iter().map(|idle| &idle.profile))
}
