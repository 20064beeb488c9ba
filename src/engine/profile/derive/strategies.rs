//! Strategies: a field that names one, and the stanzas `defaults` and `overrides`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::property;
use super::rules::{some, texts};
use crate::engine::cel::Rule;
use crate::engine::policy::op_named;
use crate::engine::profile::{Direction, Op, StanzaNames, Strategies, Strategy};

/// Fields of `spec` that name a strategy.
const STRATEGY_FIELDS: [&str; 3] = ["mergeStrategy", "mergeType", "strategy"];

/// What the schema of `spec` says of strategies.
///
/// The names of a field are complete only when it is an enum. Both stanzas must be objects: other
/// kinds use these words for lists and bodies. A kind with both, and nothing that names a strategy or
/// keeps them apart, follows the older dialect (design 9, ruling 11).
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
        .map(|(_, schema)| names(schema).map(named).collect())
        .unwrap_or_default();
    let inside = stanzas.map(|names| inside(spec, names)).unwrap_or_default();
    let default = field.and_then(|(_, schema)| schema.get("default")?.as_str());
    let keeps_apart = stanzas.is_some_and(|names| excludes_both(spec, names));
    Strategies {
        path: field.map(|(name, _)| name.to_owned()),
        complete: !values.is_empty(),
        legacy: stanzas.is_some() && field.is_none() && inside.is_empty() && !keeps_apart,
        default: default.map(str::to_owned),
        maps: maps(spec),
        values,
        inside,
        stanzas,
    }
}

/// The names of an enum.
fn names(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("enum").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// What `strategy` inside the stanzas may say; names that say nothing are custom.
fn inside(spec: &Value, stanzas: StanzaNames) -> BTreeMap<String, Op> {
    let bodies = [stanzas.defaults, stanzas.overrides].into_iter();
    let fields = bodies.filter_map(|name| property(property(spec, name)?, "strategy"));
    let names = fields.flat_map(names);
    names
        .map(|name| (name.to_owned(), op_named(name).unwrap_or(Op::Custom)))
        .collect()
}

/// Maps of strings to something, as opposed to objects with fields: the older dialect and what is
/// written into targets replace them whole (design 9, ruling 7). Paths within the settings.
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
        w if w.contains("atomic") || ["defaults", "overrides", "replace"].contains(&w) => {
            Strategy::Merge(direction, Op::Atomic)
        }
        _ => Strategy::Merge(direction, Op::Custom),
    };
    (name.to_owned(), strategy)
}

/// Whether a validation rule keeps the stanzas apart (ruling 11).
fn excludes_both(spec: &Value, stanzas: StanzaNames) -> bool {
    let body = || some([]);
    let both = some([(stanzas.defaults, body()), (stanzas.overrides, body())]);
    let mut rules = texts(spec).filter_map(Rule::parse);
    rules.any(|rule| rule.holds(&both) == Some(false))
}
