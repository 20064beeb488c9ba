//! The merge strategy of a policy, in the words of its own fields: `replaces (mergeType unset)`,
//! `merges (StrategicMerge)`, `overrides, atomic`.

use serde_json::{Value, json};

use crate::engine::kinds::profile::{Direction, Op, Strategies, Strategy, strategy_text};
use crate::engine::policy::{Policy, Stanza, StanzaPlace, value_at};

/// The strategy by its GEP-713 name: `atomic defaults`. A policy of GEP-713 of 2021 can have two. `None` if the
/// strategy cannot be used.
pub(super) fn strategy(policy: &Policy) -> Option<String> {
    let stanzas = policy.strategies.as_ref()?;
    let names: Vec<String> = stanzas.iter().map(|s| strategy_text(s.strategy)).collect();
    Some(names.join(" and "))
}

/// The strategy as the policy's own fields name it. `None` if it cannot be used.
pub(super) fn as_written(policy: &Policy) -> Option<String> {
    let stanzas = policy.strategies.as_ref()?;
    let spec = policy.spec();
    let strategies = &policy.profile.strategies.value;
    let each = stanzas.iter().map(|stanza| one(*stanza, &spec, strategies));
    Some(each.collect::<Vec<String>>().join(" and "))
}

fn one(stanza: Stanza, spec: &Value, strategies: &Strategies) -> String {
    let text = |path: &str| value_at(spec, path).and_then(Value::as_str);
    let by_field = strategies.path.as_deref().map(|path| (path, text(path)));
    let stanzas = strategies.stanzas;
    let name = match stanza.place {
        StanzaPlace::Spec => None,
        StanzaPlace::Defaults => stanzas.map(|stanzas| stanzas.defaults),
        StanzaPlace::Overrides => stanzas.map(|stanzas| stanzas.overrides),
    };
    if let Some(name) = name {
        let inside = spec
            .get(name)
            .and_then(|body| body.get("strategy"))
            .and_then(Value::as_str);
        let named = inside.or(by_field.and_then(|(_, named)| named));
        let named = named.map_or_else(|| unit_label(stanza.strategy), str::to_owned);
        return format!("{name}, {named}");
    }
    match by_field {
        Some((_, Some(named))) => format!("{} ({named})", verb(stanza.strategy)),
        Some((path, None)) => {
            let field = path.rsplit('.').next().unwrap_or(path);
            format!("{} ({field} unset)", verb(stanza.strategy))
        }
        // Settings outside of both stanzas count as one of the stanzas.
        None if stanzas.is_some() => unset_label(stanza.strategy),
        None => verb(stanza.strategy).to_owned(),
    }
}

/// The effect of the strategy on other policies on the path.
pub fn verb(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::None => "none",
        Strategy::Merge(Direction::Overrides, Op::Atomic) => "overrides",
        Strategy::Merge(Direction::Overrides, _) => "overrides field by field",
        Strategy::Merge(_, Op::Atomic) => "replaces",
        Strategy::Merge(_, Op::Additive) => "adds",
        Strategy::Merge(_, Op::Patch | Op::ByKey | Op::ByField | Op::Strategic | Op::Custom) => {
            "merges"
        }
    }
}

fn unset_label(strategy: Strategy) -> String {
    match strategy {
        Strategy::None => "none".to_owned(),
        Strategy::Merge(direction, op) => {
            let (direction, op) = (word(&json!(direction)), word(&json!(op)));
            format!("{direction}, {op} (unset)")
        }
    }
}

fn unit_label(strategy: Strategy) -> String {
    match strategy {
        Strategy::None => "none".to_owned(),
        Strategy::Merge(_, op) => word(&json!(op)),
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
