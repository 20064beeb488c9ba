//! The description of a policy as text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::answer::description::{PolicyDescription, PolicyOnTarget};
use crate::answer::state::PolicyState;
use crate::cli::render::impact::{group_text, groups};
use crate::cli::render::kind_names::Kinds;
use crate::cli::render::phrases;
use crate::cli::render::style::{Style, Tone};
use crate::cli::render::table::Table;
use crate::cli::render::text::{paragraph, side_by_side};
use crate::cli::render::values::shown;

/// The limit of changes shown; the others are counted.
const MOST_CHANGES: usize = 20;

/// The description of a policy.
pub(super) fn show(about: &PolicyDescription, style: Style) -> String {
    let strategy = about
        .written_strategy
        .as_deref()
        .unwrap_or("no usable strategy");
    let class = serde_json::to_value(about.class).unwrap_or_default();
    let class = class.as_str().unwrap_or_default().to_owned();
    let state = phrases::state_line(
        &about.object,
        about.state,
        &about.by,
        about.reason.as_deref(),
    );
    let pieces = [
        (Some(Tone::Heading), about.object.0.to_string()),
        (Some(Tone::Faint), format!("{class}, {strategy}")),
        (Some(phrases::tone(about.state)), state),
    ];
    let mut text = side_by_side(style, &pieces, "   ", "  ");
    let caveats = std::iter::once((&about.object, &about.caveats));
    text.push_str(&phrases::caveats(caveats, style, ""));
    text.push_str(&conditions(about, style));
    text.push_str(&settings(about, style));
    text.push_str(&targets(about, style));
    for target in &about.targets {
        // Where no order is known, another policy sets the value or this one.
        if target.lost.is_empty() || target.state == PolicyState::Unknown {
            continue;
        }
        let name = target.target.0.to_string();
        let heading = (Some(Tone::Heading), "OVERRIDDEN".to_owned());
        let on = (Some(Tone::Faint), format!("(on {name})"));
        text.push('\n');
        text.push_str(&side_by_side(style, &[heading, on], "  ", "    "));
        let mut table = Table::new(&[]);
        for (field, by) in &target.lost {
            table.row([
                field.as_str().into(),
                format!("by {}", phrases::list(by.iter().map(phrases::path))).into(),
            ]);
        }
        text.push_str(&table.show(style, "  "));
        if !target.overridden_on.is_empty() {
            let names = target.overridden_on.iter().map(|on| on.0.to_string());
            let line = format!("overridden as a whole on {}", phrases::list(names));
            text.push_str(&paragraph(style, Tone::Faint, "  ", &line, "    "));
        }
    }
    text.push_str(&changes(about, style));
    text
}

/// The conditions that its status should have.
fn conditions(about: &PolicyDescription, style: Style) -> String {
    let mut table = Table::new(&["CONDITION", "STATUS", "REASON", "MESSAGE"]);
    for condition in &about.conditions {
        table.row([
            condition.kind.into(),
            condition.status.into(),
            condition.reason.into(),
            condition.message.as_str().into(),
        ]);
    }
    format!("\n{}", table.show(style, ""))
}

fn settings(about: &PolicyDescription, style: Style) -> String {
    let mut text = String::new();
    for (stanza, settings) in &about.settings {
        let _ = writeln!(
            text,
            "\n{}",
            style.paint(Tone::Heading, &format!("SETS  {stanza}"))
        );
        let mut table = Table::new(&[]);
        for (field, value) in settings.as_object().into_iter().flatten() {
            let value = shown(value, style);
            table.row([field.into(), value.cell()]);
            table.below(value.below());
        }
        if table.is_empty() {
            text.push_str("  nothing\n");
        }
        text.push_str(&table.show(style, "  "));
    }
    text
}

fn targets(about: &PolicyDescription, style: Style) -> String {
    if about.targets.is_empty() {
        let none = match about.state {
            PolicyState::Unknown => "Its targets are not known; the reason above says why.",
            _ => "It has no target.",
        };
        return format!("\n{none}\n");
    }
    let mut table = Table::new(&["TARGET", "STATE", "OBJECTS", "REASON"]).sentences(&["REASON"]);
    for target in &about.targets {
        let [state, reason] = phrases::state(
            &about.object,
            target.state,
            &target.by,
            target.reason.as_deref(),
        );
        table.row([
            target.target.0.to_string().into(),
            state,
            objects(target).to_string().into(),
            reason,
        ]);
    }
    format!("\n{}", table.show(style, ""))
}

/// The number of objects on which the policy is in force. As in `policies`, sections do not count separately.
fn objects(target: &PolicyOnTarget) -> usize {
    let objects: BTreeSet<_> = target.acts_on.iter().map(|place| &place.0.object).collect();
    objects.len()
}

/// The changes that the policy makes.
fn changes(about: &PolicyDescription, style: Style) -> String {
    let kinds = Kinds::among(about.changes.iter().map(|change| &change.policy_kind.0));
    let groups = groups(&about.changes);
    let mut text = String::new();
    for group in groups.iter().take(MOST_CHANGES) {
        text.push('\n');
        text.push_str(&group_text(group, &kinds, style));
    }
    if groups.len() > MOST_CHANGES {
        let more = groups.len() - MOST_CHANGES;
        let _ = writeln!(text, "\nand {more} more changes: -o json has all");
    }
    if !groups.is_empty() {
        let heading = style.paint(Tone::Heading, "EFFECT");
        let from = style.paint(Tone::Faint, "(compared with the state without this policy)");
        text = format!("\n{heading}  {from}\n{text}");
    }
    text
}
