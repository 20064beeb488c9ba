//! Settings that do nothing if a policy is attached at some levels.

use std::sync::Arc;

use super::{Fact, Profile};
use crate::model::level::Level;

/// Settings that do nothing at a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ineffective {
    /// The level.
    pub level: Level,
    /// The settings, as fields of `spec`.
    pub settings: Vec<String>,
    /// The facts that apply there, under which these fields are not settings.
    pub profile: Arc<Profile>,
}

// === impl Ineffective ===

impl Ineffective {
    /// Derives it from the facts for other levels.
    pub(super) fn new(general: &Profile, level: Level, settings: Vec<String>) -> Self {
        let mut profile = general.clone();
        profile.ineffective = Fact::default();
        profile.exclude.value.extend(settings.iter().cloned());
        Self {
            level,
            settings,
            profile: Arc::new(profile),
        }
    }
}

// === impl Profile ===

impl Profile {
    /// The settings that do nothing at a level, and their index in the list.
    pub fn idle_at(&self, level: Level) -> Option<(usize, &Ineffective)> {
        let mut all = self.ineffective.iter().enumerate();
        all.find(|(_, idle)| idle.level == level)
    }
}
