//! The conditions on an object of the API server: those of attache, and those of others.

use std::collections::BTreeSet;

use serde_json::Value;

use super::CONTROLLER;
use super::own_conditions::{OwnConditions, Part};
use super::place::Place;
use crate::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};

/// An object as the API server sends it.
pub(super) struct Live<'a>(pub(super) &'a Value);

// === impl Live ===

impl<'a> Live<'a> {
    /// The conditions of attache on it.
    pub(super) fn own_conditions(&self, key: &ObjectKey, place: Place) -> OwnConditions {
        let mut own_conditions = OwnConditions::default();
        match place {
            Place::Parents => {
                for entry in self.parents().filter(|entry| is_own(entry)) {
                    let part = part(key, entry.get("parentRef").unwrap_or(&Value::Null));
                    for condition in list(entry.get("conditions")) {
                        own_conditions.add(part.clone(), condition);
                    }
                }
            }
            Place::Conditions => {
                let owned = self.owned(&["f:status", "f:conditions"], type_of_key);
                for condition in list(self.status("conditions")) {
                    if text(condition, "type").is_some_and(|name| owned.contains(name)) {
                        own_conditions.add(Part::Whole, condition);
                    }
                }
            }
            Place::Annotation => {
                let owned = self.owned(&["f:metadata", "f:annotations"], |key| {
                    key.strip_prefix("f:").map(str::to_owned)
                });
                if !owned.is_empty() {
                    let all = owned.into_iter().map(|name| (name, String::new()));
                    own_conditions.parts.insert(Part::Whole, all.collect());
                }
            }
        }
        own_conditions
    }

    pub(super) fn generation(&self) -> Option<i64> {
        self.0.get("metadata")?.get("generation")?.as_i64()
    }

    pub(super) fn parents(&self) -> impl Iterator<Item = &'a Value> {
        list(self.status("parents"))
    }

    /// A member of the status.
    pub(super) fn status(&self, name: &str) -> Option<&'a Value> {
        self.0.get("status")?.get(name)
    }

    /// The condition types of `status.conditions` that attache owns.
    pub(super) fn owned_conditions(&self) -> BTreeSet<String> {
        self.owned(&["f:status", "f:conditions"], type_of_key)
    }

    /// The names under a path of the fields that attache owns.
    fn owned(&self, path: &[&str], name: impl Fn(&str) -> Option<String>) -> BTreeSet<String> {
        let metadata = self.0.get("metadata");
        let managers = list(metadata.and_then(|metadata| metadata.get("managedFields")));
        let own = managers.filter(|manager| text(manager, "manager") == Some(CONTROLLER));
        let fields = own.filter_map(|manager| {
            let fields = manager.get("fieldsV1")?;
            path.iter()
                .try_fold(fields, |fields, step| fields.get(step))?
                .as_object()
        });
        let names = fields.flat_map(|fields| fields.keys());
        names.filter_map(|key| name(key)).collect()
    }
}

/// Whether an entry of `status.parents` is of attache.
pub(super) fn is_own(entry: &Value) -> bool {
    text(entry, "controllerName") == Some(CONTROLLER)
}

/// The parent that a reference in the status of a route names.
pub(super) fn part(route: &ObjectKey, reference: &Value) -> Part {
    let gk = GroupKind::new(
        text(reference, "group").unwrap_or(GATEWAY_API),
        text(reference, "kind").unwrap_or("Gateway"),
    );
    let namespace = text(reference, "namespace").unwrap_or(&route.namespace);
    let name = text(reference, "name").unwrap_or_default();
    let port = reference.get("port").and_then(Value::as_u64);
    let section = text(reference, "sectionName").filter(|name| !name.is_empty());
    Part::Parent(
        ObjectKey::new(gk, namespace, name),
        section.map(str::to_owned),
        port.and_then(|port| u16::try_from(port).ok()),
    )
}

/// The type in `k:{"type":"Accepted"}`.
fn type_of_key(key: &str) -> Option<String> {
    let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    text(&key, "type").map(str::to_owned)
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

pub(super) fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

// === impl OwnConditions ===

impl OwnConditions {
    fn add(&mut self, part: Part, condition: &Value) {
        let (Some(name), Some(message)) = (text(condition, "type"), text(condition, "message"))
        else {
            return;
        };
        let seen = condition.get("observedGeneration").and_then(Value::as_i64);
        self.generation = match (self.generation, seen) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let messages = self.parts.entry(part).or_default();
        messages.insert(name.to_owned(), message.to_owned());
    }
}
