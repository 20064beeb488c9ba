//! What a policy does, for people.

use std::fmt::Write as _;

use crate::answer::description::OfPolicy;
use crate::cli::render::style::{Style, Tone};
use crate::cli::render::table::{Cell, Table};
use crate::cli::render::words;

/// Effective targets that are listed; the rest are counted.
const MOST_TARGETS: usize = 20;

/// Shows a policy.
pub(super) fn show(about: &OfPolicy, style: Style) -> String {
    let mut text = style.paint(Tone::Heading, &about.object.0.to_string());
    let strategy = about.strategy.as_deref().unwrap_or("no usable strategy");
    let class = serde_json::to_value(about.class).unwrap_or_default();
    let class = class.as_str().unwrap_or_default().to_owned();
    let facts = style.paint(Tone::Faint, &format!("{class}, {strategy}"));
    let state = words::state(about.state, &about.by, about.reason.as_deref());
    let state = style.paint(words::tone(about.state), &state);
    let _ = writeln!(text, "   {facts}   {state}");
    text.push_str(&settings(about, style));
    text.push_str(&targets(about, style));
    for target in &about.targets {
        if target.lost.is_empty() {
            continue;
        }
        let name = target.target.0.to_string();
        let heading = style.paint(Tone::Heading, "OVERRIDDEN");
        let _ = writeln!(
            text,
            "\n{heading}  {}",
            style.paint(Tone::Faint, &format!("(on {name})"))
        );
        let mut table = Table::new(&[]);
        for (field, by) in &target.lost {
            table.row([
                field.as_str().into(),
                format!("by {}", words::list(by.iter().map(words::path))).into(),
            ]);
        }
        text.push_str(&table.show(style, "  "));
        if !target.overridden_on.is_empty() {
            let names = target.overridden_on.iter().map(|on| on.0.to_string());
            let line = format!("replaced whole on {}", words::list(names));
            let _ = writeln!(text, "  {}", style.paint(Tone::Faint, &line));
        }
    }
    text.push_str(&acts_on(about, style));
    text
}

fn settings(about: &OfPolicy, style: Style) -> String {
    let mut text = String::new();
    for (stanza, settings) in &about.settings {
        let _ = writeln!(
            text,
            "\n{}",
            style.paint(Tone::Heading, &format!("SETS  {stanza}"))
        );
        let mut table = Table::new(&[]);
        for (field, value) in settings.as_object().into_iter().flatten() {
            table.row([field.as_str().into(), words::value(value).into()]);
        }
        if table.is_empty() {
            text.push_str("  nothing\n");
        }
        text.push_str(&table.show(style, "  "));
    }
    text
}

fn targets(about: &OfPolicy, style: Style) -> String {
    if about.targets.is_empty() {
        return "\nIt names no target that is there.\n".to_owned();
    }
    let mut table = Table::new(&["TARGET", "STATE", "ACTS ON"]);
    for target in &about.targets {
        let state = words::state(target.state, &target.by, target.reason.as_deref());
        table.row([
            target.target.0.to_string().into(),
            Cell::toned(state, words::tone(target.state)),
            target.acts_on.len().to_string().into(),
        ]);
    }
    format!("\n{}", table.show(style, ""))
}

/// The effective targets, each once.
fn acts_on(about: &OfPolicy, style: Style) -> String {
    let mut places: Vec<_> = about.targets.iter().flat_map(|t| &t.acts_on).collect();
    places.sort();
    places.dedup();
    if places.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", style.paint(Tone::Heading, "ACTS ON"));
    for place in places.iter().take(MOST_TARGETS) {
        let _ = writeln!(text, "  {}", style.paint(Tone::Faint, &place.0.to_string()));
    }
    if places.len() > MOST_TARGETS {
        let _ = writeln!(text, "  and {} more", places.len() - MOST_TARGETS);
    }
    text
}
