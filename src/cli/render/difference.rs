//! The text of `attache diff`: what the states are, losses, then the differences, equal ones together.

use std::collections::BTreeSet;

use super::impact::{count, few, group_text, groups, line, lost_protection, lost_traffic, traffic};
use super::kind_names::Kinds;
use super::markdown::{Comment, text as plain};
use super::style::{Style, Tone};
use crate::answer::difference::Difference;
use crate::answer::impact::TargetChange;
use crate::answer::named::Named;
use crate::engine::model::ids::ObjectKey;

/// The whole answer.
pub(crate) fn text(difference: &Difference, style: Style) -> String {
    let kinds = kinds(difference);
    let mut text = line(style, Tone::Faint, &format!("A, before: {}", difference.a));
    text.push_str(&line(
        style,
        Tone::Faint,
        &format!("B, after:  {}", difference.b),
    ));
    for note in notes(difference, &kinds) {
        text.push_str(&line(style, Tone::Warning, &note));
    }
    text.push('\n');
    text.push_str(&traffic(&difference.traffic, &kinds, style));
    text.push_str(&lost_protection(&difference.lost_protection, &kinds, style));
    text.push_str(&line(style, Tone::Heading, &headline(difference, &kinds)));
    for (title, objects) in only(difference) {
        if !objects.is_empty() {
            text.push('\n');
            text.push_str(&line(style, Tone::Heading, title));
            let names = objects.iter().map(|object| kinds.place(&object.0));
            text.push_str(&few(style, Tone::Faint, names, "; -o json has all"));
        }
    }
    for group in groups(&difference.changes) {
        text.push('\n');
        text.push_str(&group_text(&group, &kinds, style));
    }
    if let Some(hint) = hint(difference) {
        text.push('\n');
        text.push_str(&line(style, Tone::Faint, &hint));
    }
    text
}

/// The same as a comment on a pull request: losses in full, fields folded.
pub(crate) fn markdown(difference: &Difference) -> String {
    let kinds = kinds(difference);
    let mut comment = Comment::default();
    let (a, b) = (plain(&difference.a), plain(&difference.b));
    let headline = plain(&headline(difference, &kinds));
    comment.paragraph(&format!(
        "**attache diff** {a} (A) with {b} (B): {headline}"
    ));
    for note in notes(difference, &kinds) {
        comment.paragraph(&plain(&note));
    }
    let lost = lost_traffic(&difference.traffic, &kinds);
    if !lost.is_empty() {
        comment.paragraph("**Traffic**");
        comment.list(lost.iter().map(|line| plain(line)));
    }
    super::impact::markdown_of_protection(&mut comment, &difference.lost_protection, &kinds);
    for (title, objects) in only(difference) {
        if !objects.is_empty() {
            let names = objects.iter().map(|object| plain(&kinds.place(&object.0)));
            comment.folded(title, names);
        }
    }
    for group in groups(&difference.changes) {
        let group_text = group_text(&group, &kinds, Style::default());
        let (title, table) = group_text.split_once('\n').unwrap_or((&group_text, ""));
        comment.folded_code(title, table);
    }
    comment.done()
}

/// A Gateway that may have taken the place of another.
fn hint(difference: &Difference) -> Option<String> {
    let gateway = |objects: &[Named]| {
        let keys = objects.iter().map(|named| &named.0.object);
        let mut gateways = keys.filter(|key| key.gk.is_gateway_api("Gateway"));
        let one = gateways.next()?.path();
        gateways.next().is_none().then_some(one)
    };
    let (a, b) = (
        gateway(&difference.only_in_a)?,
        gateway(&difference.only_in_b)?,
    );
    Some(format!(
        "If Gateway {b} takes the place of Gateway {a}, compare them with --map Gateway/{a}=Gateway/{b}"
    ))
}

fn only(difference: &Difference) -> [(&'static str, &[Named]); 2] {
    [
        ("Only in A", &difference.only_in_a),
        ("Only in B", &difference.only_in_b),
    ]
}

/// Notes on renamed objects that are compared, and on kinds that are not compared.
fn notes(difference: &Difference, kinds: &Kinds) -> Vec<String> {
    let renamed = difference.renamed.iter().map(|renamed| {
        let (a, b) = (kinds.place(&renamed.a.0), kinds.place(&renamed.b.0));
        format!("{a} of A is compared with {b} of B")
    });
    let left_out = difference.not_compared.iter().map(|left_out| {
        format!(
            "{} is not compared: in {}, {}",
            left_out.policy_kind.0, left_out.state, left_out.reason
        )
    });
    renamed.chain(left_out).collect()
}

/// `Effective policies differ on 2 HTTPRoutes; policies apply to HTTPRoute shop/new only in B.`
fn headline(difference: &Difference, kinds: &Kinds) -> String {
    if difference.nothing_in_force {
        return "No policy is in force in A or in B.".to_owned();
    }
    if difference.is_empty() {
        return "The same settings are in force in A and in B.".to_owned();
    }
    let objects_with = |what: TargetChange| -> BTreeSet<ObjectKey> {
        let changes = difference
            .changes
            .iter()
            .filter(|change| change.change == what);
        changes
            .map(|change| change.object.0.object.clone())
            .collect()
    };
    let changed = objects_with(TargetChange::Changed);
    // An object that differs on some paths counts once, even if it has others in one state only.
    let (mut added, mut removed) = (
        objects_with(TargetChange::Added),
        objects_with(TargetChange::Removed),
    );
    added.retain(|object| !changed.contains(object));
    removed.retain(|object| !changed.contains(object) && !added.contains(object));
    let parts = [
        ("effective policies differ on", changed),
        ("policies are in force only in A on", removed),
        ("policies are in force only in B on", added),
    ];
    let parts = parts.iter().filter(|(_, objects)| !objects.is_empty());
    let parts: Vec<String> = parts
        .map(|(what, objects)| format!("{what} {}", count(objects, kinds)))
        .collect();
    let text = if parts.is_empty() {
        "the objects that A and B share have the same policies in force".to_owned()
    } else {
        parts.join("; ")
    };
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

fn kinds(difference: &Difference) -> Kinds {
    let changes = &difference.changes;
    let named = changes.iter().flat_map(|change| &change.path);
    let named = named.chain(difference.only_in_a.iter().chain(&difference.only_in_b));
    let named = named.chain(difference.renamed.iter().flat_map(|r| [&r.a, &r.b]));
    let of_policies = changes.iter().map(|change| &change.policy_kind.0);
    let of_traffic = super::impact::named_in(&difference.traffic);
    let all = named.chain(of_traffic).map(|named| &named.0.object.gk);
    Kinds::among(all.chain(of_policies))
}
