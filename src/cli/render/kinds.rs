//! The text of `attache kinds`.

use serde_json::{Value, json};

use super::style::{Style, Tone};
use super::table::Table;
use super::text::paragraph;
use crate::answer::kinds::{Kind, Kinds};
use crate::answer::strategy::verb;
use crate::engine::kinds::profile::{Source, strategy_text};

/// The indent of a value that does not fit next to its name.
const BELOW: &str = "      ";

/// One line per kind, each fact with its source.
pub(crate) fn table(kinds: &Kinds, style: Style) -> String {
    let mut table = Table::new(&["KIND", "CLASS", "STRATEGIES", "TARGETS"])
        .sentences(&["STRATEGIES", "TARGETS"]);
    for kind in &kinds.kinds {
        let profile = &kind.profile;
        let targets = kind.targets.as_ref().map_or_else(
            || "any".to_owned(),
            |targets| {
                let names: Vec<String> = targets.iter().map(|kind| kind.0.to_string()).collect();
                names.join(", ")
            },
        );
        let allow = profile.allow.as_ref();
        let targets_from = allow.map_or(Source::Default, |allow| allow.from);
        let strategies_from = profile.strategies.from.min(profile.default_strategy.from);
        table.row([
            full_name(kind).into(),
            with_source(&word(&json!(kind.class)), profile.class.from).into(),
            with_source(&strategies(kind), strategies_from).into(),
            with_source(&targets, targets_from).into(),
        ]);
    }
    table.show(style, "")
}

/// One kind with every fact.
pub(crate) fn details(kind: &Kind, style: Style) -> String {
    let title = format!("{}{}", full_name(kind), about(kind));
    let mut text = paragraph(style, Tone::Plain, "", &title, "  ");
    let facts = kind.profile.facts();
    let width = facts.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
    for fact in facts {
        let (from, values) = (word(&json!(fact.from)), lines(&fact.value));
        let before = format!("  {:width$} {from:8} ", fact.name);
        let words = values.iter().flat_map(|value| value.split(' '));
        let longest = words.map(str::len).max().unwrap_or(0);
        let is_beside = style
            .width
            .is_none_or(|width| before.len() + longest <= width);
        let indent = if is_beside {
            " ".repeat(before.len())
        } else {
            text.push_str(&paragraph(style, Tone::Plain, "", before.trim_end(), ""));
            BELOW.to_owned()
        };
        let mut first = if is_beside { &before } else { &indent };
        // Only the first line of a sentence among several has no further indent.
        let hanging = if values.len() > 1 {
            format!("{indent}  ")
        } else {
            indent.clone()
        };
        for value in &values {
            text.push_str(&paragraph(style, Tone::Plain, first, value, &hanging));
            first = &indent;
        }
    }
    text
}

/// The names of its strategies, or what policies of the kind do without names, in the words of `attache policies`.
fn strategies(kind: &Kind) -> String {
    let default = kind.profile.default_strategy.value;
    if kind.strategies == [strategy_text(default)] {
        verb(default).to_owned()
    } else {
        kind.strategies.join(", ")
    }
}

/// The lines of a value: each sentence of a list has its own.
fn lines(value: &Value) -> Vec<String> {
    let is_sentence = |item: &Value| {
        let text = item.as_str().or_else(|| item.get("text")?.as_str());
        text.is_some_and(|text| text.contains(' '))
    };
    match value {
        Value::Array(items) if items.iter().any(is_sentence) => items.iter().map(word).collect(),
        _ => vec![word(value)],
    }
}

/// Versions and scope, if there is a CRD.
fn about(kind: &Kind) -> String {
    match kind.scope {
        Some(scope) => format!(" ({}; {scope:?})", kind.versions.join(", ")),
        None => " (no CRD found)".to_owned(),
    }
}

fn full_name(kind: &Kind) -> String {
    format!("{}.{}", kind.kind, kind.group)
}

fn with_source(text: &str, from: Source) -> String {
    format!("{text} ({})", word(&json!(from)))
}

/// A value as users read it and write it in a configuration: a dash for nothing, kinds of Gateway API and core without
/// group, no quotes.
fn word(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(word).collect::<Vec<_>>().join(", "),
        Value::Object(map) if map.is_empty() => "-".to_owned(),
        Value::Object(map) => {
            let parts = map.iter().map(|(key, value)| match value {
                Value::Array(_) => format!("{key}: [{}]", word(value)),
                _ => format!("{key}: {}", word(value)),
            });
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
