//! The text of `attache kinds`.

use serde_json::{Value, json};

use super::style::{Style, Tone};
use super::table::Table;
use super::text::paragraph;
use crate::answer::kinds::{Kind, Kinds};
use crate::engine::kinds::profile::Source;

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
            with_source(&kind.strategies.join(", "), strategies_from).into(),
            with_source(&targets, targets_from).into(),
        ]);
    }
    table.show(style, "")
}

/// One kind with every fact.
pub(crate) fn details(kind: &Kind, style: Style) -> String {
    let title = format!("{}{}", full_name(kind), about(kind));
    let mut text = paragraph(style, Tone::Plain, "", &title, "  ");
    for fact in kind.profile.facts() {
        let (from, value) = (word(&json!(fact.from)), word(&fact.value));
        let before = format!("  {:24} {from:8} ", fact.name);
        let longest = value.split(' ').map(str::len).max().unwrap_or(0);
        if style
            .width
            .is_none_or(|width| before.len() + longest <= width)
        {
            let hanging = " ".repeat(before.len());
            text.push_str(&paragraph(style, Tone::Plain, &before, &value, &hanging));
        } else {
            text.push_str(&paragraph(style, Tone::Plain, "", before.trim_end(), ""));
            text.push_str(&paragraph(style, Tone::Plain, BELOW, &value, BELOW));
        }
    }
    text
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
