//! Effective policies below a Gateway, `GatewayClass` or Namespace: the most common result, then a row for each route
//! that differs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{nearby, settings};
use crate::answer::description::TargetDescription;
use crate::answer::effective::{EffectiveOnPaths, EffectiveSettings};
use crate::answer::{KindName, Named};
use crate::cli::render::phrases;
use crate::cli::render::style::{Style, Tone};
use crate::cli::render::table::Table;
use crate::cli::render::text::side_by_side;
use crate::engine::model::flow::flow;

/// The limits of a row.
#[derive(Clone, Copy)]
struct Limits {
    /// Settings that are named; the others are counted.
    settings: usize,
    /// Characters of a value.
    value: usize,
}

// === impl Limits ===

impl Limits {
    const SHORT: Self = Self {
        settings: 4,
        value: 30,
    };
    const NONE: Self = Self {
        settings: usize::MAX,
        value: usize::MAX,
    };
}

/// A target; with its listeners if it has several results.
type Key<'a> = (&'a Named, Vec<&'a Named>);

/// The most common results, then the rows.
pub(super) fn show(about: &TargetDescription, style: Style) -> String {
    let common = common(about);
    let mut text = String::new();
    for (result, on, total) in common.values() {
        let kind = &result.effective.policy_kind.0.kind;
        let title = (Some(Tone::Heading), format!("EFFECTIVE {kind}"));
        let scope = if on == total {
            "(all paths)".to_owned()
        } else {
            format!("(on {on} of {total} effective targets; the differences are below)")
        };
        text.push('\n');
        text.push_str(&side_by_side(
            style,
            &[title, (Some(Tone::Faint), scope)],
            "  ",
            "    ",
        ));
        text.push_str(&settings(about, &result.effective, style));
    }
    let limits = if style.full {
        Limits::NONE
    } else {
        Limits::SHORT
    };
    let table = table(about, &common, limits);
    if !table.is_empty() {
        text.push('\n');
        text.push_str(&table.show(style, ""));
    }
    text
}

/// For each kind, the result that most targets have, the number of these targets, and the number of all targets. Of equally many,
/// that of policies on the object or above it.
fn common(about: &TargetDescription) -> BTreeMap<&KindName, (&EffectiveOnPaths, usize, usize)> {
    let mut common = BTreeMap::new();
    for result in &about.effective {
        let kind = &result.effective.policy_kind;
        if common.contains_key(kind) {
            continue;
        }
        let of_kind = || {
            about
                .effective
                .iter()
                .filter(|e| e.effective.policy_kind == *kind)
        };
        let targets = |like: &EffectiveOnPaths| {
            let same = of_kind().filter(|e| is_same(&e.effective, &like.effective));
            same.flat_map(|e| &e.targets).collect::<BTreeSet<_>>().len()
        };
        let without_policies = about
            .without
            .iter()
            .filter(|e| e.effective.policy_kind == *kind);
        let all: BTreeSet<&Named> = of_kind()
            .chain(without_policies)
            .flat_map(|e| &e.targets)
            .collect();
        let mut best = (result, (targets(result), is_of_object(about, result)));
        for other in of_kind() {
            let rank = (targets(other), is_of_object(about, other));
            if rank > best.1 {
                best = (other, rank);
            }
        }
        let (result, (targets, _)) = best;
        common.insert(kind, (result, targets, all.len()));
    }
    common
}

/// Whether all policies of a result are on the object or above it.
fn is_of_object(about: &TargetDescription, result: &EffectiveOnPaths) -> bool {
    let effective = &result.effective;
    let mut policies = effective.sources.values().chain(&effective.merged_of);
    policies.all(|policy| about.policies.iter().any(|known| known.policy == *policy))
}

fn is_same(one: &EffectiveSettings, other: &EffectiveSettings) -> bool {
    (&one.spec, &one.sources, &one.merged_of) == (&other.spec, &other.sources, &other.merged_of)
}

/// The row of a target.
#[derive(Default, PartialEq)]
struct Row {
    through: BTreeSet<String>,
    policies: Vec<String>,
    differs: Vec<String>,
}

fn table(
    about: &TargetDescription,
    common: &BTreeMap<&KindName, (&EffectiveOnPaths, usize, usize)>,
    limits: Limits,
) -> Table {
    let mut rows: BTreeMap<Key<'_>, Row> = BTreeMap::new();
    let mut results: BTreeMap<(&KindName, &Named), usize> = BTreeMap::new();
    for result in about.effective.iter().chain(&about.without) {
        for target in &result.targets {
            *results
                .entry((&result.effective.policy_kind, target))
                .or_default() += 1;
        }
    }
    let with = about.effective.iter().map(|result| (result, true));
    let without_policies = about.without.iter().map(|result| (result, false));
    for (result, has_policies) in with.chain(without_policies) {
        let Some((most, ..)) = common.get(&result.effective.policy_kind) else {
            continue;
        };
        for target in &result.targets {
            let several = results.get(&(&result.effective.policy_kind, target));
            let through = if several.is_some_and(|count| *count > 1) {
                result.listeners.iter().collect()
            } else {
                Vec::new()
            };
            let row = rows.entry((target, through)).or_default();
            row.through.extend(
                result
                    .listeners
                    .iter()
                    .map(|listener| nearby(about, listener)),
            );
            if !has_policies {
                row.differs
                    .push(format!("no {}", result.effective.policy_kind.0.kind));
                continue;
            }
            let sources = result
                .effective
                .sources
                .values()
                .chain(&result.effective.merged_of);
            for source in sources {
                let name = phrases::path(source);
                if !row.policies.contains(&name) {
                    row.policies.push(name);
                }
            }
            row.differs
                .extend(differs(&most.effective, &result.effective, limits));
        }
    }
    let mut table = Table::new(&["ON", "THROUGH", "POLICIES", "DIFFERS"])
        .sentences(&["POLICIES", "DIFFERS"])
        .dropping(&["THROUGH"]);
    let mut rows = rows.into_iter().peekable();
    while let Some(((target, _), row)) = rows.next() {
        let mut name = nearby(about, target);
        // Rules of one route with equal rows share a row.
        while let Some(((next, _), _)) =
            rows.next_if(|((next, _), other)| next.0.object == target.0.object && *other == row)
        {
            if let Some(section) = &next.0.section {
                name = format!("{name}, #{section}");
            }
        }
        let through: Vec<String> = row.through.into_iter().collect();
        table.row([
            name.into(),
            through.join(", ").into(),
            row.policies.join(", ").into(),
            row.differs.join("; ").into(),
        ]);
    }
    table
}

/// The differences of a result from the most common one.
fn differs(most: &EffectiveSettings, other: &EffectiveSettings, limits: Limits) -> Option<String> {
    if is_same(most, other) {
        return None;
    }
    let (Some(spec), Some(usual)) = (&other.spec, &most.spec) else {
        return Some(format!(
            "{} is merged by its controller",
            other.policy_kind.0.kind
        ));
    };
    if let Some(empty) = other.sources.get("") {
        return Some(format!(
            "{} is empty: no {}",
            phrases::path(empty),
            other.policy_kind.0.kind
        ));
    }
    let value = |spec: &Value, pointer: &String| spec.pointer(pointer).cloned();
    let own = other
        .sources
        .keys()
        .filter(|pointer| value(spec, pointer) != value(usual, pointer));
    let own: Vec<String> = own
        .map(|pointer| match spec.pointer(pointer) {
            Some(value) => format!("{}: {}", phrases::field(pointer), flow(value, limits.value)),
            None => format!("{} removed", phrases::field(pointer)),
        })
        .collect();
    let lost = most
        .sources
        .keys()
        .filter(|pointer| !other.sources.contains_key(*pointer));
    let lost: Vec<String> = lost.map(|pointer| phrases::field(pointer)).collect();
    let is_other = lost.len() == most.sources.len();
    let mut text = if is_other {
        "only ".to_owned()
    } else {
        String::new()
    };
    text.push_str(&first(&own, limits));
    if !is_other && !lost.is_empty() {
        let before = if own.is_empty() { "" } else { ", " };
        text = format!("{text}{before}without {}", first(&lost, limits));
    }
    // `None` here means the same values from other policies.
    (!own.is_empty() || !lost.is_empty()).then_some(text)
}

fn first(all: &[String], limits: Limits) -> String {
    let shown = all
        .get(..all.len().min(limits.settings))
        .unwrap_or_default()
        .join(", ");
    match all.len().saturating_sub(limits.settings) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
