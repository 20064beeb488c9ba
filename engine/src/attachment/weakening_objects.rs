//! Objects that the settings of a policy name, and with whose values these settings protect less than they seem to: a
//! `GatewayExtension` that lets requests pass while its service does not answer.

use serde_json::Value;

use super::unresolved::known_spec;
use crate::kinds::profile::ObjectWeakness;
use crate::policy::Policy;
use crate::state::snapshot::Snapshot;

// === impl Policy ===

impl Policy {
    /// The weaknesses of its settings because of the objects that they name. An object that the state does not have weakens nothing.
    pub(crate) fn weakened_by_objects(&self, snapshot: &Snapshot) -> Vec<&ObjectWeakness> {
        let mut applying = Vec::new();
        for named in &self.references {
            let reference = self.profile.references.get(named.field);
            let weaknesses = reference.map_or(&[][..], |reference| &reference.weakened_by);
            if weaknesses.is_empty() {
                continue;
            }
            let Some(spec) = known_spec(snapshot, &named.object) else {
                continue;
            };
            let settings: Vec<Value> = self
                .stanzas()
                .map(|part| part.as_in_force().json())
                .collect();
            let applies = |weakness: &&ObjectWeakness| {
                let mut settings = settings.iter();
                settings.any(|settings| weakness.applies(settings, &spec))
            };
            for weakness in weaknesses.iter().filter(applies) {
                if !applying.contains(&weakness) {
                    applying.push(weakness);
                }
            }
        }
        applying
    }
}
