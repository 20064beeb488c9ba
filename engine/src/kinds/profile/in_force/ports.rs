//! Settings for single ports: entries of a list, each of which applies only to the listeners of its port.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kinds::profile::SpecPath;
use crate::kinds::profile::values::at_path;

/// A list of settings for single ports.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename = "PortSettingsFile", deny_unknown_fields)]
pub struct PortSettings {
    /// The list, as a path from the root of the object: `spec.perPort`.
    pub list: SpecPath,
    /// The member of an entry with the number of the port.
    pub port: String,
    /// Settings that an entry replaces on its port as a whole: `spec.default`. Without them, an entry adds to the
    /// other settings.
    #[serde(default)]
    pub replaces: Vec<SpecPath>,
}

// === impl PortSettings ===

impl PortSettings {
    /// The ports for which a spec has settings.
    pub fn ports(&self, spec: &Value) -> BTreeSet<u16> {
        let list = self.list.iter().try_fold(spec, |at, key| at.get(key));
        let entries = list.and_then(Value::as_array).into_iter().flatten();
        entries.filter_map(|entry| self.port_of(entry)).collect()
    }

    /// Removes the settings that do not apply to a port from a spec: those for other ports, and those
    /// that its settings for this port replace.
    pub fn keep(&self, spec: &mut Value, port: u16) {
        if self.ports(spec).contains(&port) {
            for path in &self.replaces {
                at_path::remove(spec, path);
            }
        }
        let others = |entry: &Value| self.port_of(entry) != Some(port);
        remove_entries(spec, &self.list, &others);
    }

    fn port_of(&self, entry: &Value) -> Option<u16> {
        let port = entry.get(&self.port)?.as_u64()?;
        u16::try_from(port).ok()
    }
}

/// Removes entries of the list at a path, and the list and the objects around it that are empty then.
fn remove_entries(value: &mut Value, path: &[String], is_removed: &impl Fn(&Value) -> bool) {
    match (path.split_first(), value) {
        (None, Value::Array(entries)) => entries.retain(|entry| !is_removed(entry)),
        (Some((key, rest)), Value::Object(map)) => {
            let Some(below) = map.get_mut(key) else {
                return;
            };
            let was_filled = !is_empty(below);
            remove_entries(below, rest, is_removed);
            if was_filled && is_empty(below) {
                map.remove(key);
            }
        }
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
