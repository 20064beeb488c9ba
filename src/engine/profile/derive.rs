//! Facts read off the schema of a CRD.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Class, Direction, Op, RefField, StanzaNames, Strategies, Strategy};
use crate::engine::object::Crd;

/// Fields of `spec` that hold references, in every kind that follows the pattern.
const REF_FIELDS: [&str; 3] = ["targetRef", "targetRefs", "targetSelectors"];

/// Fields of `spec` that name a strategy.
const STRATEGY_FIELDS: [&str; 3] = ["mergeStrategy", "mergeType", "strategy"];

/// Whether a schema of `spec` has target references: group, kind, and a name or labels.
pub fn is_policy_schema(spec: &Value) -> bool {
    REF_FIELDS.iter().any(|field| {
        entry_schema(spec, field).is_some_and(|(entry, _)| {
            let has = |name: &str| property(entry, name).is_some();
            let named = has("name") || has("selector") || has("matchLabels");
            has("group") && has("kind") && (named || *field == "targetSelectors")
        })
    })
}

/// The label of the CRD, read without case; `true` says nothing of the class.
pub(super) fn class(crd: &Crd) -> Option<Class> {
    let label = crd.policy_label.as_deref()?;
    if label.eq_ignore_ascii_case("direct") {
        Some(Class::Direct)
    } else if label.eq_ignore_ascii_case("inherited") {
        Some(Class::Inherited)
    } else {
        None
    }
}

/// Fields that hold references.
pub(super) fn refs(spec: &Value) -> Option<Vec<RefField>> {
    let mut found = Vec::new();
    for field in ["targetRef", "targetRefs"] {
        let Some((entry, many)) = entry_schema(spec, field) else {
            continue;
        };
        let group = property(entry, "group").and_then(|g| g.get("default"));
        found.push(RefField {
            path: field.to_owned(),
            many,
            default_group: group.and_then(Value::as_str).map(Into::into),
            sections: Some(property(entry, "sectionName").is_some()),
            namespace: Some(property(entry, "namespace").is_some()),
            max: many.then(|| max_items(spec, field)).flatten(),
            unique: many && is_keyed(spec, field),
        });
    }
    (!found.is_empty()).then_some(found)
}

fn max_items(spec: &Value, field: &str) -> Option<usize> {
    let most = property(spec, field)?.get("maxItems")?.as_u64()?;
    usize::try_from(most).ok()
}

/// Whether a list has keys, so that the API server refuses equal entries.
fn is_keyed(spec: &Value, field: &str) -> bool {
    let list_type = property(spec, field).and_then(|list| list.get("x-kubernetes-list-type"));
    matches!(list_type.and_then(Value::as_str), Some("map" | "set"))
}

/// Whether the schema itself demands a reference.
pub(super) fn required(spec: &Value) -> bool {
    let required = spec.get("required").and_then(Value::as_array);
    required.is_some_and(|fields| {
        let mut names = fields.iter().filter_map(Value::as_str);
        names.any(|name| REF_FIELDS.contains(&name))
    })
}

/// Strategies: a field that names one, and the stanzas `defaults` and `overrides`.
///
/// The names of a field are complete only when it is an enum. Both stanzas must be objects: other
/// kinds use these words for lists and bodies (reference of real kinds, B.13).
pub(super) fn strategies(spec: &Value) -> Strategies {
    let object = |name: &str| property(spec, name).is_some_and(|s| s.get("properties").is_some());
    let stanzas = [StanzaNames::PLURAL, StanzaNames::SINGULAR]
        .into_iter()
        .find(|names| object(names.defaults) && object(names.overrides));
    let field = STRATEGY_FIELDS.iter().find_map(|name| {
        let schema = property(spec, name)?;
        (schema.get("type").and_then(Value::as_str) == Some("string")).then_some((*name, schema))
    });
    let values: BTreeMap<String, Strategy> = field
        .and_then(|(_, schema)| schema.get("enum"))
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(named).collect())
        .unwrap_or_default();
    Strategies {
        path: field.map(|(name, _)| name.to_owned()),
        complete: !values.is_empty(),
        legacy: stanzas.is_some() && field.is_none() && !excludes_both(spec),
        maps: maps(spec),
        values,
        stanzas,
        ..Strategies::default()
    }
}

/// Maps of strings to something, as opposed to objects with fields: the older dialect replaces them
/// whole (design 9, ruling 7). Paths within the settings.
fn maps(spec: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let stanzas = ["defaults", "overrides", "default", "override"]
        .iter()
        .filter_map(|name| property(spec, name));
    for body in std::iter::once(spec).chain(stanzas) {
        collect_maps(body, &mut Vec::new(), &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn collect_maps(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let fields = schema.get("properties").and_then(Value::as_object);
    if fields.is_none()
        && schema
            .get("additionalProperties")
            .is_some_and(Value::is_object)
    {
        found.push(path.clone());
    }
    for (name, field) in fields.into_iter().flatten() {
        path.push(name.clone());
        collect_maps(field, path, found);
        path.pop();
    }
}

/// What a name most likely means. A name that says nothing is custom: named, not computed.
fn named(name: &str) -> (String, Strategy) {
    let word: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let word = word.to_ascii_lowercase();
    let direction = if word.contains("override") {
        Direction::Overrides
    } else {
        Direction::Defaults
    };
    let strategy = match word.as_str() {
        "none" => Strategy::None,
        w if w.contains("strategic") => Strategy::Merge(direction, Op::Strategic),
        w if w.contains("patch") || w.contains("json") => Strategy::Merge(direction, Op::Patch),
        w if w.contains("atomic") || w == "defaults" || w == "overrides" => {
            Strategy::Merge(direction, Op::Atomic)
        }
        _ => Strategy::Merge(direction, Op::Custom),
    };
    (name.to_owned(), strategy)
}

/// Whether a validation rule of the CRD keeps `defaults` and `overrides` apart (ruling 11).
fn excludes_both(spec: &Value) -> bool {
    let rules = spec
        .get("x-kubernetes-validations")
        .and_then(Value::as_array);
    rules.is_some_and(|rules| {
        let mut texts = rules.iter().filter_map(|r| r.get("rule")?.as_str());
        texts.any(|text| text.contains("self.default") && text.contains("self.override"))
    })
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// The schema of one entry of a field, and whether the field is a list.
fn entry_schema<'a>(spec: &'a Value, field: &str) -> Option<(&'a Value, bool)> {
    let schema = property(spec, field)?;
    match schema.get("items") {
        Some(items) => Some((items, true)),
        None => Some((schema, false)),
    }
}
