//! Settings of a policy that protect less than they seem to.

use super::{Policy, StanzaRef};
use crate::kinds::profile::{SpecPath, Weakness};
use crate::model::setting_path::is_under;

// === impl Policy ===

impl Policy {
    /// Whether some of its settings protect less than they seem to, or may because of an object that they name.
    pub(crate) fn may_be_weak(&self) -> bool {
        let mut weaknesses = self.profile.weakened_by.iter();
        let mut references = self.references.iter();
        weaknesses.any(|weakness| self.has_weakness(weakness))
            || references.any(|named| {
                let reference = self.profile.references.get(named.field);
                reference.is_some_and(|reference| !reference.weakened_by.is_empty())
            })
    }

    /// Whether its own settings protect less than they seem to.
    pub(crate) fn has_weakness(&self, weakness: &Weakness) -> bool {
        let condition = weakness.condition();
        condition.holds_for(Some(&self.object.meta))
            && self.sets_one(&weakness.settings)
            && self
                .stanzas()
                .any(|part| condition.holds_in_lazy(|| part.as_in_force().json()))
    }

    /// Whether it has a setting at or below one of these paths.
    pub(crate) fn sets_one(&self, settings: &[SpecPath]) -> bool {
        let mut paths = self.stanzas().flat_map(StanzaRef::paths);
        paths.any(|path| settings.iter().any(|setting| is_under(&path, setting)))
    }
}
