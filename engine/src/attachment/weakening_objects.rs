//! Objects that the settings of a policy name, and with whose values these settings protect less than they seem to: a
//! `GatewayExtension` that lets requests pass while its service does not answer.

use std::cell::LazyCell;

use serde_json::Value;

use super::unresolved::known_spec;
use crate::kinds::profile::ObjectWeakness;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

// === impl Policy ===

impl Policy {
    /// Those of these weaknesses of its settings that apply because of the objects that the settings name. An object that the state does
    /// not have weakens nothing.
    pub(crate) fn weakened_by_objects(
        &self,
        snapshot: &Snapshot,
        counts: impl Fn(&ObjectWeakness) -> bool,
    ) -> Vec<&ObjectWeakness> {
        let mut applying = Vec::new();
        let written = LazyCell::new(|| {
            let parts = self.stanzas().map(|part| part.as_in_force().json());
            parts.collect::<Vec<Value>>()
        });
        for named in &self.references {
            let reference = self.profile.references.get(named.field);
            let weaknesses = reference
                .into_iter()
                .flat_map(|reference| &reference.weakened_by);
            let mut weaknesses = weaknesses.filter(|weakness| counts(weakness)).peekable();
            // The object is read only if that may matter.
            let spec = weaknesses
                .peek()
                .and_then(|_| known_spec(snapshot, &named.object));
            let Some(spec) = spec else {
                continue;
            };
            for weakness in weaknesses {
                let mut settings = written.iter();
                let applies = settings.any(|settings| weakness.applies(settings, &spec));
                if applies && !applying.contains(&weakness) {
                    applying.push(weakness);
                }
            }
        }
        applying
    }
}
