//! Listeners on which only some settings act.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::read::{setting_paths, texts};

/// Listeners on which only some settings act.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnListenersFile {
    /// Their protocols: `TCP`.
    pub protocols: Vec<String>,
    /// The settings that act there: `spec.timeout.tcp`.
    pub settings: Vec<String>,
}

/// Listeners on which only some settings act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnListeners {
    /// Their protocols.
    pub protocols: Vec<Arc<str>>,
    /// The settings that act there, as paths within the settings.
    pub settings: Vec<Vec<String>>,
}

// === impl OnListeners ===

impl OnListeners {
    pub(super) fn read(file: &OnListenersFile) -> Self {
        Self {
            protocols: texts(&file.protocols),
            settings: setting_paths(&file.settings),
        }
    }

    /// Removes the settings that do not act there from a spec; fields that are no settings stay.
    pub fn keep(&self, spec: &mut Value, is_setting: impl Fn(&str) -> bool) {
        let Value::Object(fields) = spec else {
            return;
        };
        let paths: Vec<&[String]> = self.settings.iter().map(Vec::as_slice).collect();
        let (mut settings, others): (Map<_, _>, Map<_, _>) = std::mem::take(fields)
            .into_iter()
            .partition(|(name, _)| is_setting(name));
        keep_only(&mut settings, &paths);
        *fields = others;
        fields.extend(settings);
    }
}

/// Keeps only what is at or below these paths.
fn keep_only(fields: &mut Map<String, Value>, paths: &[&[String]]) {
    fields.retain(|name, value| {
        let below = paths.iter().filter_map(|path| match path.split_first() {
            Some((first, rest)) if first == name => Some(rest),
            _ => None,
        });
        let below: Vec<&[String]> = below.collect();
        match value {
            _ if below.iter().any(|rest| rest.is_empty()) => true,
            Value::Object(map) => {
                keep_only(map, &below);
                !map.is_empty()
            }
            _ => false,
        }
    });
}
