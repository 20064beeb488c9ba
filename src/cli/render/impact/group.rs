//! Targets with the same changes: their names, and one table of the changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::super::kind_names::Kinds;
use super::super::style::{Style, Tone};
use super::super::table::{Cell, Table};
use super::super::values::{FormattedValue, shown};
use super::{few, line};
use crate::answer::impact::{Change, Field, TargetChange};
use crate::answer::named::Named;
use crate::engine::model::ids::{ObjectKey, Place};
use crate::engine::model::wording;

/// Changes that differ only in their target.
pub(in crate::cli::render) struct Group<'a> {
    like: &'a Change,
    all: Vec<&'a Change>,
}

// === impl Group ===

impl Group<'_> {
    /// Whether the change deletes all targets.
    pub(in crate::cli::render) fn is_gone(&self) -> bool {
        self.all.iter().all(|change| change.is_gone)
    }
}

/// Groups equal changes, sorted by their effect on the target and by kind.
pub(in crate::cli::render) fn groups(changes: &[Change]) -> Vec<Group<'_>> {
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for change in changes {
        let sides = change.fields.is_empty().then_some((
            &change.before,
            &change.before_from,
            &change.after,
            &change.after_from,
        ));
        let alike = (
            change.change,
            change.is_gone,
            &change.policy_kind,
            &change.fields,
            sides,
        );
        let alike = serde_json::to_string(&alike).unwrap_or_default();
        let at = *index.entry(alike).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.all.push(change),
            None => groups.push(Group {
                like: change,
                all: vec![change],
            }),
        }
    }
    groups.sort_by_key(|group| (group.like.change, group.like.policy_kind.clone()));
    groups
}

/// One group: its targets, then the settings.
pub(in crate::cli::render) fn group_text(group: &Group<'_>, kinds: &Kinds, style: Style) -> String {
    let kind = kinds.name(&group.like.policy_kind.0);
    let how = match group.like.change {
        TargetChange::Changed => "on",
        TargetChange::Added => "now applies to",
        TargetChange::Removed => "no longer applies to",
    };
    let targets = group.all.iter().map(|change| &change.object.0.object);
    let objects: BTreeSet<ObjectKey> = targets.cloned().collect();
    let names = names(&group.all, kinds);
    let mut text = match names.as_slice() {
        [one] => line(style, Tone::Heading, &format!("{kind} {how} {one}")),
        many => {
            let heading = format!("{kind} {how} {}", wording::count(&objects));
            let mut text = line(style, Tone::Heading, &heading);
            let names = many.iter().cloned();
            text.push_str(&few(style, Tone::Faint, names, "; -o json has all"));
            text
        }
    };
    text.push_str(&table(group.like, kinds, style).show(style, "  "));
    text
}

/// The targets: `HTTPRoute shop/cart#browse, #checkout`, with the path if only some paths change.
fn names(changes: &[&Change], kinds: &Kinds) -> Vec<String> {
    let mut named: Vec<(&ObjectKey, String)> = Vec::new();
    for change in changes {
        let place = &change.object.0;
        let partly = partly(change, kinds);
        match (named.last_mut(), &place.section) {
            (Some((object, name)), Some(section)) if **object == place.object => {
                let _ = write!(name, ", #{section}{partly}");
            }
            _ => named.push((&place.object, format!("{}{partly}", kinds.place(place)))),
        }
    }
    named.into_iter().map(|(_, name)| name).collect()
}

/// ` (1 of 3 paths: Gateway infra/edge#http > HTTPRoute shop/cart#browse)`.
fn partly(change: &Change, kinds: &Kinds) -> String {
    let (changed, total) = (change.paths.changed, change.paths.of);
    if changed >= total {
        return String::new();
    }
    // The most specific places: sections in place of their objects, without Namespaces and GatewayClasses.
    let target = &change.object.0.object;
    let path: Vec<&Place> = change.path.iter().map(|named| &named.0).collect();
    let is_shown = |place: &&&Place| {
        let in_part = |other: &&Place| other.object == place.object && other.section.is_some();
        let gk = &place.object.gk;
        place.object != *target
            && !gk.is_core("Namespace")
            && !gk.is_gateway_api("GatewayClass")
            && (place.section.is_some() || !path.iter().any(in_part))
    };
    let places: Vec<String> = path
        .iter()
        .filter(is_shown)
        .map(|place| kinds.place(place))
        .collect();
    let more = match changed {
        0 | 1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    if places.is_empty() {
        format!(" ({changed} of {total} paths)")
    } else {
        format!(
            " ({changed} of {total} paths: {}{more})",
            places.join(" > ")
        )
    }
}

fn table(change: &Change, kinds: &Kinds, style: Style) -> Table {
    if change.fields.is_empty() {
        let mut table = Table::new(&["BEFORE", "AFTER"]);
        let before = side(change.before.as_ref(), &change.before_from, style);
        let after = side(change.after.as_ref(), &change.after_from, style);
        table.row([before.cell(), after.cell()]);
        table.below(sides(Some(before), Some(after)));
        return table;
    }
    let mut table = Table::new(&["FIELD", "BEFORE", "AFTER", "FROM"]);
    for field in &change.fields {
        let value = |value: Option<&Value>| value.map(|value| shown(value, style));
        let (before, after) = (value(field.before.as_ref()), value(field.after.as_ref()));
        let cell = |value: &Option<FormattedValue>| match value {
            Some(value) => value.cell(),
            None => Cell::toned("-", Tone::Faint),
        };
        table.row([
            (&field.field).into(),
            cell(&before),
            cell(&after),
            source(change, field, kinds).into(),
        ]);
        table.below(sides(before, after));
    }
    table
}

/// The long values of both sides, one below the other.
fn sides(before: Option<FormattedValue>, after: Option<FormattedValue>) -> Vec<String> {
    let all = [("before:", before), ("after:", after)];
    let side = |(name, value): (&str, Option<FormattedValue>)| {
        let lines = value.map(FormattedValue::below).unwrap_or_default();
        let heading = (!lines.is_empty()).then(|| name.to_owned());
        let lines = lines.into_iter().map(|line| format!("  {line}"));
        heading.into_iter().chain(lines).collect::<Vec<String>>()
    };
    all.into_iter().flat_map(side).collect()
}

/// The policy or object that the setting comes from.
fn source(change: &Change, field: &Field, kinds: &Kinds) -> String {
    let Named(Place { object, .. }) = &field.source;
    if object.gk != change.policy_kind.0 {
        return format!("{} itself", kinds.object(object));
    }
    let name = object.path();
    if field.removed {
        format!("removed by {name}")
    } else if field.after.is_none() {
        format!("was {name}")
    } else {
        name
    }
}

/// One side as a whole, if the change is not shown field by field.
fn side(spec: Option<&Value>, from: &[Named], style: Style) -> FormattedValue {
    let names: Vec<String> = from.iter().map(|from| from.0.object.path()).collect();
    match spec {
        _ if names.is_empty() => FormattedValue::Here("nothing".to_owned()),
        None => FormattedValue::Here(format!(
            "known only to the controller, from {}",
            names.join(", ")
        )),
        Some(spec) => shown(spec, style),
    }
}
