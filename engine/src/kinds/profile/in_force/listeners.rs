//! Listeners to which only some settings apply, or policies merge in other stages.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::kinds::profile::values::at_path;
use crate::kinds::profile::{Fact, Profile, SpecPath};
use crate::model::level::Level;
use crate::model::object::Listener;

/// Listeners on which only some settings are in force, or policies merge in other stages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename = "OnListenersFile",
    rename_all = "camelCase",
    deny_unknown_fields
)]
pub struct OnListeners {
    /// Their protocols: `TCP`.
    pub protocols: Vec<Arc<str>>,
    /// Only those that leave TLS to their backends (`tls.mode` of `Passthrough`).
    #[serde(default)]
    passthrough: bool,
    /// The settings that are in force there: `spec.timeout.tcp`. All by default.
    pub settings: Option<Vec<SpecPath>>,
    /// Those of `settings` that are not in force there.
    #[serde(default)]
    pub except_settings: Vec<SpecPath>,
    /// The stages there, if they are not those of `merge.stages`.
    pub stages: Option<Vec<Vec<Level>>>,
    /// The facts that apply there, if policies merge in other stages.
    #[serde(skip)]
    pub profile: Option<Arc<Profile>>,
}

// === impl OnListeners ===

impl OnListeners {
    /// Derives the facts that apply there from those for other listeners.
    pub(in crate::kinds::profile) fn add_profile(&mut self, general: &Profile) {
        self.profile = self.stages.as_ref().map(|stages| {
            let mut profile = general.clone();
            profile.merging.on_listeners = Fact::default();
            profile.merging.stages.value.clone_from(stages);
            Arc::new(profile)
        });
    }

    /// Whether it is about a listener.
    pub fn is_about(&self, listener: &Listener) -> bool {
        self.protocols.contains(&listener.protocol)
            && (!self.passthrough || listener.passes_tls_through)
    }

    /// Removes the settings that do not apply there from a spec; fields that are no settings stay.
    pub fn keep(&self, spec: &mut Value, is_setting: impl Fn(&str) -> bool) {
        for path in &self.except_settings {
            at_path::remove(spec, path);
        }
        let (Value::Object(fields), Some(settings)) = (spec, &self.settings) else {
            return;
        };
        let paths: Vec<&[String]> = settings.iter().map(|path| &**path).collect();
        let (mut settings, others): (Map<_, _>, Map<_, _>) = std::mem::take(fields)
            .into_iter()
            .partition(|(name, _)| is_setting(name));
        keep_only(&mut settings, &paths);
        *fields = others;
        fields.extend(settings);
    }
}

/// Keeps only the values at or below these paths.
fn keep_only(fields: &mut Map<String, Value>, paths: &[&[String]]) {
    fields.retain(|name, value| {
        let below = paths.iter().filter_map(|path| match path.split_first() {
            Some((first, rest)) if first == name => Some(rest),
            _ => None,
        });
        let below: Vec<&[String]> = below.collect();
        match value {
            _ if below.iter().any(|nested| nested.is_empty()) => true,
            Value::Object(map) => {
                keep_only(map, &below);
                !map.is_empty()
            }
            _ => false,
        }
    });
}
