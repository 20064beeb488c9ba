//! Departures of the schema of a policy kind from the pattern (GEP-713; GEP-2648 for target limits).

use serde_json::Value;

use super::{Derived, REF_FIELDS, Schemas, entry_schema, max_items, property};
use crate::kinds::profile::{StanzaNames, StatusShape, Strategy};

/// One departure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departure {
    /// The status does not report the outcome of a policy anywhere.
    NoStatus,
    /// Status is not a subresource.
    NoSubresource,
    /// The conditions at this path are not a list keyed by type.
    Conditions(&'static str),
    /// `spec` has no target references.
    NoTargets,
    /// Entries of a field lack a member.
    EntryLacks(&'static str, &'static str),
    /// A list has no `maxItems`, or more than the pattern allows.
    Limit(&'static str, Option<usize>),
    /// Nothing excludes the singular and the plural field together.
    BothForms,
    /// The names of strategies are not an enum.
    NoNames(String),
    /// The strategy has no default.
    NoDefault(String),
    /// The field at this path allows None together with other strategies.
    NoneBesideOthers(String),
    /// A policy may have both of these stanzas, and the result is undefined.
    BothStanzas(StanzaNames),
    /// There are no settings.
    NoSettings,
}

/// The maximum number of targets in the pattern.
pub const MOST_TARGETS: usize = 16;

/// All departures of a schema.
pub(super) fn departures(schemas: &Schemas, derived: &Derived) -> Vec<Departure> {
    let mut departures = status(schemas, derived);
    departures.extend(targets(schemas, derived));
    departures.extend(strategy(schemas, derived));
    departures.extend(none_beside_others(derived));
    departures.extend(both_stanzas(derived));
    departures.extend(settings(schemas, derived));
    departures
}

fn status(schemas: &Schemas, derived: &Derived) -> Vec<Departure> {
    let status = &schemas.status;
    let conditions = match derived.status {
        Some(StatusShape::Ancestors) => {
            let entry = property(status, "ancestors").and_then(|list| list.get("items"));
            let conditions = entry.and_then(|entry| property(entry, "conditions"));
            (conditions, "status.ancestors[].conditions")
        }
        Some(StatusShape::Conditions) => (property(status, "conditions"), "status.conditions"),
        _ => return vec![Departure::NoStatus],
    };
    let mut departures = Vec::new();
    if !schemas.status_subresource {
        departures.push(Departure::NoSubresource);
    }
    let (list, path) = conditions;
    if !list.is_some_and(is_keyed_by_type) {
        departures.push(Departure::Conditions(path));
    }
    departures
}

fn is_keyed_by_type(list: &Value) -> bool {
    let keys = list.get("x-kubernetes-list-map-keys");
    let mut keys = keys.and_then(Value::as_array).into_iter().flatten();
    keys.any(|key| key == "type")
}

fn targets(schemas: &Schemas, derived: &Derived) -> Vec<Departure> {
    let mut departures = Vec::new();
    let [single, plural, _] = REF_FIELDS;
    let mut present = 0;
    for field in [single, plural] {
        let Some((entry, many)) = entry_schema(&schemas.spec, field) else {
            continue;
        };
        present += 1;
        let parts = ["group", "kind", "name"].into_iter();
        let lacking = parts.filter(|part| property(entry, part).is_none());
        departures.extend(lacking.map(|part| Departure::EntryLacks(field, part)));
        if many {
            let most = property(&schemas.spec, field).and_then(max_items);
            if most.is_none_or(|most| most > MOST_TARGETS) {
                departures.push(Departure::Limit(field, most));
            }
        }
    }
    if present == 0 && derived.refs.is_empty() {
        departures.push(Departure::NoTargets);
    }
    if present == 2 && !derived.one_form {
        departures.push(Departure::BothForms);
    }
    departures
}

fn strategy(schemas: &Schemas, derived: &Derived) -> Option<Departure> {
    let strategies = &derived.strategies;
    let path = strategies.path.clone()?;
    if !strategies.complete {
        return Some(Departure::NoNames(path));
    }
    let default = property(&schemas.spec, &path)?.get("default");
    default.is_none().then_some(Departure::NoDefault(path))
}

fn none_beside_others(derived: &Derived) -> Option<Departure> {
    let strategies = &derived.strategies;
    let mut named = strategies.values.values();
    let has_none_and_others =
        strategies.values.len() > 1 && named.any(|named| *named == Strategy::None);
    let path = strategies.path.clone().filter(|_| has_none_and_others);
    path.map(Departure::NoneBesideOthers)
}

fn both_stanzas(derived: &Derived) -> Option<Departure> {
    let strategies = &derived.strategies;
    let apart = !(strategies.follows_2021 || strategies.takes_both);
    let names = strategies.stanzas.filter(|_| !apart);
    names.map(Departure::BothStanzas)
}

/// Only for schemas that list their fields: others allow any.
fn settings(schemas: &Schemas, derived: &Derived) -> Option<Departure> {
    let fields = schemas.spec.get("properties")?.as_object()?;
    let strategies = &derived.strategies;
    let mut left = fields
        .keys()
        .filter(|name| !REF_FIELDS.contains(&name.as_str()))
        .filter(|name| strategies.path.as_ref() != Some(name));
    left.next().is_none().then_some(Departure::NoSettings)
}
