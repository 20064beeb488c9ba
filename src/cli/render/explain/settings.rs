//! The settings that are in force on the way of a request, and the policies that are not.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::style::{Style, Tone};
use super::super::table::{Cell, Table};
use super::super::words as render_words;
use crate::answer::explanation::{Fate, Standing, Step};
use crate::answer::{Effective, Named};
use crate::engine::ids::Place;
use crate::engine::words;

/// Both tables of one way.
pub(super) fn text(step: &Step, style: Style) -> String {
    if step.policies.is_empty() {
        let line = style.paint(Tone::Faint, "No policy stands on this way.");
        return format!("\n  {line}\n");
    }
    let (everywhere, apart) = by_backend(step);
    let mut text = String::new();
    if !everywhere.is_empty() {
        let _ = write!(text, "\n{}", table(step, &everywhere).show(style, "  "));
    }
    for (end, effective) in apart {
        let title = style.paint(Tone::Heading, &format!("Only to {end}"));
        let shown = table(step, &effective).show(style, "  ");
        let _ = write!(text, "\n  {title}\n{shown}");
    }
    let beaten = beaten(&step.policies);
    if !beaten.is_empty() {
        let _ = write!(text, "\n{}", beaten.show(style, "  "));
    }
    let caveats = step.policies.iter();
    let caveats = caveats.map(|standing| (&standing.policy, &standing.caveats));
    text.push_str(&render_words::caveats(caveats, style, "  "));
    text
}

type Apart<'a> = Vec<(&'a Place, Vec<&'a Effective>)>;

/// What holds for all backends, and what holds for one alone.
fn by_backend(step: &Step) -> (Vec<&Effective>, Apart<'_>) {
    let (mut everywhere, mut apart): (Vec<&Effective>, Apart<'_>) = (Vec::new(), Vec::new());
    for effective in &step.effective {
        let Some(end) = end(effective) else {
            everywhere.push(effective);
            continue;
        };
        let of_kind = step.effective.iter().filter(|other| {
            other.policy_kind == effective.policy_kind && self::end(other).is_some()
        });
        let of_kind: Vec<&Effective> = of_kind.collect();
        let same =
            |other: &&Effective| other.spec == effective.spec && other.sources == effective.sources;
        if of_kind.iter().all(same) {
            // It is told once.
            if of_kind
                .first()
                .is_some_and(|first| std::ptr::eq(*first, effective))
            {
                everywhere.push(effective);
            }
            continue;
        }
        match apart.iter_mut().find(|(known, _)| *known == end) {
            Some((_, known)) => known.push(effective),
            None => apart.push((end, vec![effective])),
        }
    }
    (everywhere, apart)
}

/// The end of a path that goes through several objects; what stands by itself has none.
fn end(effective: &Effective) -> Option<&Place> {
    let Named(last) = effective.path.last()?;
    let mut path = effective.path.iter();
    path.any(|Named(place)| place.object != last.object)
        .then_some(last)
}

fn table(step: &Step, effective: &[&Effective]) -> Table {
    let mut table = Table::new(&["POLICY KIND", "SETTING", "VALUE", "POLICY", "FROM"]);
    let mut before = None;
    for effective in effective {
        let kind = Some(&effective.policy_kind);
        let mut name = if kind == before {
            String::new()
        } else {
            effective.policy_kind.0.to_string()
        };
        before = kind;
        for [setting, value, policy, from] in rows(step, effective) {
            let kind: Cell = std::mem::take(&mut name).into();
            table.row([
                kind,
                setting.into(),
                value.into(),
                policy.into(),
                from.into(),
            ]);
        }
    }
    table
}

/// Setting, value, policy, and where the policy stands.
fn rows(step: &Step, effective: &Effective) -> Vec<[String; 4]> {
    let Some(spec) = &effective.spec else {
        let here = step.policies.iter().filter(|standing| {
            let Named(policy) = &standing.policy;
            policy.object.gk == effective.policy_kind.0
                && matches!(standing.state, Fate::Enforced | Fate::PartiallyEnforced)
        });
        return here
            .map(|standing| {
                let Named(policy) = &standing.policy;
                let from = from(step, effective, &standing.policy);
                let merged = "merged by the kind's own rules".to_owned();
                [merged, "-".to_owned(), policy.object.path(), from]
            })
            .collect();
    };
    let row = |(pointer, source): (&String, &Named)| {
        let Named(place) = source;
        let value = spec.pointer(pointer);
        let value = match value {
            Some(_) if pointer.is_empty() => "(no settings)".to_owned(),
            Some(value) => words::value(value),
            None => "(removed)".to_owned(),
        };
        let policy = if place.object.gk == effective.policy_kind.0 {
            place.object.path()
        } else {
            format!("{place} itself")
        };
        [
            setting(pointer, spec, &place.object.path()),
            value,
            policy,
            from(step, effective, source),
        ]
    };
    effective.sources.iter().map(row).collect()
}

/// Where a policy stands on a path.
fn from(step: &Step, effective: &Effective, policy: &Named) -> String {
    let mut standings = step.policies.iter();
    let Some(standing) = standings.find(|standing| standing.policy == *policy) else {
        return String::new();
    };
    let here = standing.at.iter().filter(|at| effective.path.contains(at));
    places(here)
}

fn places<'a>(places: impl Iterator<Item = &'a Named>) -> String {
    let names: Vec<String> = places.map(|Named(place)| place.to_string()).collect();
    names.join(", ")
}

/// A JSON pointer as people write fields. Policies that are each in force whole stand under their
/// names: those are told beside it.
fn setting(pointer: &str, spec: &Value, policy: &str) -> String {
    let tokens = pointer.split('/').skip(1);
    let tokens = tokens.map(|token| token.replace("~1", "/").replace("~0", "~"));
    let mut path: Vec<String> = Vec::new();
    let mut at = Some(spec);
    for (i, token) in tokens.enumerate() {
        let is_list = at.is_some_and(Value::is_array);
        at = match at {
            Some(Value::Array(items)) => token.parse::<usize>().ok().and_then(|i| items.get(i)),
            Some(value) => value.get(&token),
            None => None,
        };
        if i == 0 && token == policy {
            continue;
        }
        match path.last_mut().filter(|_| is_list) {
            Some(last) => last.extend(["[", &token, "]"]),
            None => path.push(token),
        }
    }
    words::field(&path)
}

/// The policies of which something is not in force.
fn beaten(policies: &[Standing]) -> Table {
    let mut table = Table::new(&["NOT IN FORCE", "POLICY", "FROM", "WHAT", "BECAUSE OF"]);
    for standing in policies {
        let what = match standing.state {
            Fate::Enforced => continue,
            Fate::PartiallyEnforced => standing.lost.join(", "),
            Fate::Overridden => "all of it".to_owned(),
            Fate::Conflicted | Fate::Rejected => "all of it: rejected".to_owned(),
        };
        let Named(policy) = &standing.policy;
        let by: Vec<String> = standing
            .by
            .iter()
            .map(|Named(by)| by.object.path())
            .collect();
        table.row([
            policy.object.gk.to_string().into(),
            policy.object.path().into(),
            places(standing.at.iter()).into(),
            Cell::toned(what, Tone::Warning),
            standing
                .reason
                .clone()
                .unwrap_or_else(|| by.join(", "))
                .into(),
        ]);
    }
    table
}
