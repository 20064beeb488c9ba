//! Settings that do nothing where a policy stands on some levels.

use std::sync::Arc;

use super::{Fact, Profile};
use crate::engine::level::Level;

/// What does nothing on a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The level.
    pub level: Level,
    /// The settings, as fields of `spec`.
    pub settings: Vec<String>,
    /// The facts that hold there: these are no settings.
    pub profile: Arc<Profile>,
}

// === impl Idle ===

impl Idle {
    /// From the facts that hold on other levels.
    pub(super) fn new(general: &Profile, level: Level, settings: Vec<String>) -> Self {
        let mut profile = general.clone();
        profile.idle = Fact::default();
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
    /// What does nothing on a level, and its place in the list.
    pub fn idle_at(&self, level: Level) -> Option<(usize, &Idle)> {
        let mut all = self.idle.iter().enumerate();
        all.find(|(_, idle)| idle.level == level)
    }
}
