//! The strategy and the settings in a policy's spec.

use serde_json::{Map, Value};

use super::targets::value_at;
use super::{Stanza, StanzaPlace, direction};
use crate::kinds::profile::op_named;
use crate::kinds::profile::{Op, Profile, SameTarget, StanzaNames, Strategies, Strategy};
use crate::policy::fuel;

/// Why the strategy of a policy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyFault {
    /// The kind has no strategy of this name.
    Unknown {
        /// The field path.
        path: String,
        /// The name.
        name: String,
        /// Whether all strategies of the kind are known.
        sure: bool,
    },
    /// Two strategies in one policy: these fields contradict each other.
    Multiple {
        /// The field path of the first.
        first: String,
        /// The field path of the second.
        second: String,
    },
}

/// The stanzas of a spec, each with its strategy.
///
/// # Errors
/// If the spec names a strategy that the kind does not have, or more than one (GEP-713, merge strategies: an instance
/// declares one).
pub fn stanzas(spec: &Value, profile: &Profile) -> Result<Vec<Stanza>, StrategyFault> {
    let strategies = &profile.strategies.value;
    let named = match &strategies.path {
        Some(path) => named(spec, path, profile)?,
        None => None,
    };
    let mut stanzas = Vec::new();
    let by_field = strategies.follows_2021 || carries_both(spec, strategies);
    if let Some(names) = strategies.stanzas {
        for (name, place) in [
            (names.overrides, StanzaPlace::Overrides),
            (names.defaults, StanzaPlace::Defaults),
        ] {
            if let Some(body) = spec.get(name).filter(|b| b.is_object()) {
                let strategy = stanza_strategy(body, name, place, named, strategies, by_field)?;
                stanzas.push((format!("spec.{name}"), Stanza { strategy, place }));
            }
        }
    }
    // Settings that a stanza cannot contain do not contradict one.
    let apart: &[String] = if stanzas.is_empty() {
        &[]
    } else {
        &strategies.apart
    };
    let outside_stanzas = first_setting(spec, profile, apart);
    if stanzas.is_empty() || (outside_stanzas.is_some() && !by_field) {
        let strategy = named.unwrap_or(profile.default_strategy.value);
        let field = outside_stanzas.unwrap_or_else(|| "spec".to_owned());
        stanzas.push((
            field,
            Stanza {
                strategy,
                place: StanzaPlace::Spec,
            },
        ));
    }
    if let ([(first, _), (second, _), ..], false) = (stanzas.as_slice(), by_field) {
        let (first, second) = (first.clone(), second.clone());
        return Err(StrategyFault::Multiple { first, second });
    }
    Ok(stanzas.into_iter().map(|(_, stanza)| stanza).collect())
}

/// Whether a policy has both stanzas, and its kind allows that without defining the result.
pub fn carries_both(spec: &Value, strategies: &Strategies) -> bool {
    let has = |name: &str| spec.get(name).is_some_and(Value::is_object);
    let both = |names: StanzaNames| has(names.defaults) && has(names.overrides);
    strategies.takes_both && strategies.stanzas.is_some_and(both)
}

/// The values of the fields in which all policies of one target must agree, as text: equal values have equal texts.
/// Empty if the kind has none.
pub(super) fn fields_that_must_agree(spec: &Value, profile: &Profile) -> String {
    if *profile.same_target != SameTarget::EqualField {
        return String::new();
    }
    let fields = profile.conflict_fields.iter();
    let values = fields.map(|field| field.iter().try_fold(spec, |value, key| value.get(key)));
    serde_json::to_string(&values.collect::<Vec<_>>()).unwrap_or_default()
}

/// Takes the settings of one stanza out of a spec: everything but targets and strategy.
pub(crate) fn take(spec: &mut Value, place: StanzaPlace, profile: &Profile) -> Value {
    let Value::Object(spec) = spec else {
        return Value::Object(Map::new());
    };
    let names = profile.strategies.value.stanzas;
    let stanza = match place {
        StanzaPlace::Spec => {
            spec.retain(|name, _| !is_excluded(name, profile));
            return Value::Object(std::mem::take(spec));
        }
        StanzaPlace::Defaults => names.map(|names| names.defaults),
        StanzaPlace::Overrides => names.map(|names| names.overrides),
    };
    let Some(Value::Object(mut stanza)) = stanza.and_then(|name| spec.remove(name)) else {
        return Value::Object(Map::new());
    };
    stanza.retain(|name, _| name != "strategy" && is_read(name, profile));
    Value::Object(stanza)
}

/// Like [`take`], by reference.
pub(crate) fn settings_of<'a>(
    spec: &'a Value,
    place: StanzaPlace,
    profile: &'a Profile,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let names = profile.strategies.value.stanzas;
    let stanza = match place {
        StanzaPlace::Spec => Some(spec),
        StanzaPlace::Defaults => names.and_then(|names| spec.get(names.defaults)),
        StanzaPlace::Overrides => names.and_then(|names| spec.get(names.overrides)),
    };
    let fields = stanza.and_then(Value::as_object).into_iter().flatten();
    fields.filter(move |(name, _)| match place {
        StanzaPlace::Spec => !is_excluded(name, profile),
        StanzaPlace::Defaults | StanzaPlace::Overrides => {
            *name != "strategy" && is_read(name, profile)
        }
    })
}

/// Leaves out empty lists, but for those in other lists: an empty list is as none for a controller that writes settings from its own types.
pub(super) fn drop_empty_lists(value: &mut Value) {
    let Value::Object(fields) = value else {
        return;
    };
    fields.retain(|_, value| !matches!(value, Value::Array(items) if items.is_empty()));
    fields.values_mut().for_each(drop_empty_lists);
}

/// The number of values in a value, including itself; a map counts several times.
pub(super) fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(map) => fuel::MAP + map.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

/// Whether a field of `spec` is no setting.
pub(super) fn is_excluded(name: &str, profile: &Profile) -> bool {
    profile.exclude.iter().any(|known| known == name) || !is_read(name, profile)
}

/// Whether a setting is among those in force on the routes that the profile is for.
fn is_read(name: &str, profile: &Profile) -> bool {
    let only = profile.only.as_ref();
    only.is_none_or(|only| only.iter().any(|known| known == name))
}

/// The strategy that a field names. A name that the engine does not know is custom, unless all names of the kind are
/// known.
fn named(spec: &Value, path: &str, profile: &Profile) -> Result<Option<Strategy>, StrategyFault> {
    let Some(name) = value_at(spec, path).and_then(Value::as_str) else {
        return Ok(None);
    };
    let strategies = &profile.strategies.value;
    match strategies.values.get(name) {
        Some(strategy) => Ok(Some(*strategy)),
        None if strategies.complete => Err(StrategyFault::Unknown {
            path: format!("spec.{path}"),
            name: name.to_owned(),
            sure: true,
        }),
        None => {
            let op = op_named(name).unwrap_or(Op::Custom);
            Ok(Some(Strategy::Merge(direction(StanzaPlace::Spec), op)))
        }
    }
}

/// The strategy of a stanza: its own `strategy` decides the units of merging, the stanza decides who wins.
fn stanza_strategy(
    body: &Value,
    stanza: &str,
    place: StanzaPlace,
    of_policy: Option<Strategy>,
    strategies: &Strategies,
    by_field: bool,
) -> Result<Strategy, StrategyFault> {
    let path = || format!("spec.{stanza}.strategy");
    let inside = body.get("strategy").and_then(Value::as_str);
    let inside = inside.map(|name| {
        let op = match strategies.values.get(name) {
            _ if !strategies.nested.is_empty() => strategies.nested.get(name).copied(),
            Some(Strategy::Merge(_, op)) => Some(*op),
            _ if strategies.complete => None,
            _ => op_named(name),
        };
        op.ok_or_else(|| StrategyFault::Unknown {
            path: path(),
            name: name.to_owned(),
            sure: !strategies.nested.is_empty() || strategies.complete,
        })
    });
    let op = match (inside.transpose()?, of_policy) {
        (Some(inside), Some(Strategy::Merge(_, beside))) if inside != beside => {
            return Err(StrategyFault::Multiple {
                first: format!("spec.{}", strategies.path.as_deref().unwrap_or("strategy")),
                second: path(),
            });
        }
        (Some(op), _) | (None, Some(Strategy::Merge(_, op))) => op,
        // GEP-713 of 2021 merges field by field (hierarchy).
        (None, _) if by_field => Op::Patch,
        (None, _) => Op::Atomic,
    };
    Ok(Strategy::Merge(direction(place), op))
}

fn first_setting(spec: &Value, profile: &Profile, apart: &[String]) -> Option<String> {
    let fields = spec.as_object()?.keys();
    let mut settings = fields.filter(|name| !is_excluded(name, profile) && !apart.contains(*name));
    settings.next().map(|name| format!("spec.{name}"))
}
