//! Strategies: a field that names one, and the stanzas `defaults` and `overrides`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rules::{some, texts};
use super::{Schemas, property};
use crate::kinds::cel::{CelBudget, CelRule};
use crate::kinds::profile::op_named;
use crate::kinds::profile::{Direction, Op, StanzaNames, Strategies, Strategy};

/// The maximum total length of the paths of maps in bytes. Further maps are merged key by key.
const LONGEST_PATHS: usize = 100_000;

/// Fields of `spec` that may name a strategy.
const STRATEGY_FIELDS: [&str; 3] = ["mergeStrategy", "mergeType", "strategy"];

/// The strategies in the schemas of `spec`: those of the stored version, with the names of other versions.
pub(super) fn strategies(schemas: &Schemas, budget: &mut CelBudget) -> Strategies {
    let mut strategies = of_version(&schemas.spec, budget);
    for spec in &schemas.others {
        let other = of_version(spec, budget);
        if strategies.path.is_some() && strategies.path == other.path {
            strategies.complete &= other.complete;
            strategies.values.extend(other.values);
        }
        if strategies.stanzas.is_some()
            && strategies.stanzas == other.stanzas
            && !strategies.nested.is_empty()
        {
            // If one version does not list its names, not all names are known.
            if other.nested.is_empty() {
                strategies.nested = other.nested;
            } else {
                strategies.nested.extend(other.nested);
            }
        }
    }
    strategies
}

/// The strategies of one version. The names of a field are complete only if it is an enum. Both stanzas must be
/// objects with a common field: other kinds use these words for lists and bodies.
///
/// If nothing names a strategy or excludes both stanzas, a kind with a single target follows GEP-713
/// of 2021. For a kind with a list of targets this is unknown: under GEP-713 a stanza is atomic, and a policy has one.
fn of_version(spec: &Value, budget: &mut CelBudget) -> Strategies {
    let stanzas = [StanzaNames::PLURAL, StanzaNames::SINGULAR]
        .into_iter()
        .find(|names| say_the_same(spec, *names));
    let field = STRATEGY_FIELDS.iter().find_map(|name| {
        let schema = property(spec, name)?;
        let is_text = schema.get("type").and_then(Value::as_str) == Some("string");
        (is_text && is_of_merging(name, schema)).then_some((*name, schema))
    });
    let values: BTreeMap<String, Strategy> = field
        .map(|(_, schema)| names(schema).map(named).collect())
        .unwrap_or_default();
    let inside = stanzas.map(|names| inside(spec, names)).unwrap_or_default();
    let default = field.and_then(|(_, schema)| schema.get("default")?.as_str());
    let keeps_apart = stanzas.is_some_and(|names| excludes_both(spec, names, budget));
    // A field inside with other values than strategies does not exclude both stanzas.
    let named_inside = inside.values().any(|op| *op != Op::Custom);
    let takes_both = stanzas.is_some() && field.is_none() && !named_inside && !keeps_apart;
    // GEP-713 of 2021 predates lists of targets.
    let is_older = property(spec, "targetRefs").is_none();
    Strategies {
        path: field.map(|(name, _)| name.to_owned()),
        complete: !values.is_empty(),
        follows_2021: takes_both && is_older,
        takes_both: takes_both && !is_older,
        default: default.map(str::to_owned),
        apart: stanzas.map(|names| apart(spec, names)).unwrap_or_default(),
        maps: maps(spec),
        values,
        nested: inside,
        stanzas,
    }
}

/// Whether two fields are objects with a common field, as far as they list their fields.
fn say_the_same(spec: &Value, names: StanzaNames) -> bool {
    let fields = |name: &str| property(spec, name)?.get("properties")?.as_object();
    let both = fields(names.defaults).zip(fields(names.overrides));
    both.is_some_and(|(defaults, overrides)| {
        let unlisted = defaults.is_empty() || overrides.is_empty();
        unlisted || defaults.keys().any(|name| overrides.contains_key(name))
    })
}

/// Whether a field names a merge strategy. `strategy` may have another meaning, and does if none of its names is a
/// known strategy.
fn is_of_merging(field: &str, schema: &Value) -> bool {
    let of_merging = |name| !matches!(named(name).1, Strategy::Merge(_, Op::Custom));
    let mut names = names(schema).peekable();
    field != "strategy" || names.peek().is_none() || names.any(of_merging)
}

/// Fields of `spec` that neither stanza contains.
fn apart(spec: &Value, stanzas: StanzaNames) -> Vec<String> {
    let bodies = [stanzas.defaults, stanzas.overrides];
    let in_one = |name: &str| {
        let mut bodies = bodies.iter().filter_map(|body| property(spec, body));
        bodies.any(|body| property(body, name).is_some())
    };
    let fields = spec.get("properties").and_then(Value::as_object);
    let fields = fields.into_iter().flatten().map(|(name, _)| name);
    fields.filter(|name| !in_one(name)).cloned().collect()
}

/// The names of an enum.
fn names(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("enum").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// The values of `strategy` inside the stanzas; unknown names are custom.
fn inside(spec: &Value, stanzas: StanzaNames) -> BTreeMap<String, Op> {
    let bodies = [stanzas.defaults, stanzas.overrides].into_iter();
    let fields = bodies.filter_map(|name| property(property(spec, name)?, "strategy"));
    let names = fields.flat_map(names);
    names
        .map(|name| (name.to_owned(), op_named(name).unwrap_or(Op::Custom)))
        .collect()
}

/// Maps with arbitrary keys, as opposed to objects with fields: GEP-713 of 2021 and `project-fields` replace them
/// as a whole. Paths within the settings.
fn maps(spec: &Value) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let stanzas = ["defaults", "overrides", "default", "override"]
        .iter()
        .filter_map(|name| property(spec, name));
    for body in std::iter::once(spec).chain(stanzas) {
        let mut left = LONGEST_PATHS;
        collect_maps(body, &mut Vec::new(), &mut paths, &mut left);
    }
    paths.sort();
    paths.dedup();
    paths
}

fn collect_maps(
    schema: &Value,
    path: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
    left: &mut usize,
) {
    let fields = schema.get("properties").and_then(Value::as_object);
    if fields.is_none()
        && schema
            .get("additionalProperties")
            .is_some_and(Value::is_object)
    {
        let length: usize = path.iter().map(String::len).sum();
        let Some(less) = left.checked_sub(length) else {
            return;
        };
        *left = less;
        paths.push(path.clone());
    }
    for (name, field) in fields.into_iter().flatten() {
        path.push(name.clone());
        collect_maps(field, path, paths, left);
        path.pop();
    }
}

/// The most likely meaning of a name. An unknown name is custom: named, not computed.
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

/// Whether a validation rule excludes both stanzas together.
fn excludes_both(spec: &Value, stanzas: StanzaNames, budget: &mut CelBudget) -> bool {
    let body = || some([]);
    let both = some([(stanzas.defaults, body()), (stanzas.overrides, body())]);
    let mut rules = texts(spec);
    rules.any(|text| {
        let rule = CelRule::parse(text, budget);
        rule.is_some_and(|rule| rule.holds(&both, budget) == Some(false))
    })
}
