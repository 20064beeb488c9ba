//! The settings in force on the path of a request, and the policies that are not in force.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::kind_names::Kinds;
use super::super::phrases as render_words;
use super::super::style::{Style, Tone};
use super::super::table::{Cell, Table};
use super::super::values::{FormattedValue, shown};
use crate::answer::explanation::{PolicyOnRequest, StateOnRequest, Step};
use crate::answer::{EffectiveSettings, Named};
use crate::engine::model::ids::Place;
use crate::engine::model::wording;

/// Both tables of one path.
pub(super) fn text(step: &Step, style: Style) -> String {
    if step.policies.is_empty() {
        let line = style.paint(Tone::Faint, "No policy applies to this request.");
        return format!("\n  {line}\n");
    }
    let (everywhere, apart) = by_backend(step);
    let mut text = String::new();
    let on_all = table(step, &everywhere, style);
    if !on_all.is_empty() {
        let _ = write!(text, "\n{}", on_all.show(style, "  "));
    }
    for (end, effective) in apart {
        let table = table(step, &effective, style);
        if table.is_empty() {
            continue;
        }
        let title = style.paint(Tone::Heading, &format!("Only to {end}"));
        let shown = table.show(style, "  ");
        let _ = write!(text, "\n  {title}\n{shown}");
    }
    let beaten = beaten(&step.policies, &kinds(step));
    if !beaten.is_empty() {
        let _ = write!(text, "\n{}", beaten.show(style, "  "));
    }
    let caveats = step.policies.iter();
    let caveats = caveats.map(|policy_state| (&policy_state.policy, &policy_state.caveats));
    text.push_str(&render_words::caveats(caveats, style, "  "));
    text
}

type ByBackend<'a> = Vec<(&'a Place, Vec<&'a EffectiveSettings>)>;

/// The effective policies for all backends, and those for a single backend.
fn by_backend(step: &Step) -> (Vec<&EffectiveSettings>, ByBackend<'_>) {
    let (mut everywhere, mut apart): (Vec<&EffectiveSettings>, ByBackend<'_>) =
        (Vec::new(), Vec::new());
    for effective in &step.effective {
        let Some(end) = end(effective) else {
            everywhere.push(effective);
            continue;
        };
        let of_kind = step.effective.iter().filter(|other| {
            other.policy_kind == effective.policy_kind && self::end(other).is_some()
        });
        let of_kind: Vec<&EffectiveSettings> = of_kind.collect();
        let same = |other: &&EffectiveSettings| {
            other.spec == effective.spec && other.sources == effective.sources
        };
        if of_kind.iter().all(same) {
            // Shown once.
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

/// The last place of a path through several objects. `None` for a single object.
fn end(effective: &EffectiveSettings) -> Option<&Place> {
    let Named(last) = effective.path.last()?;
    let mut path = effective.path.iter();
    path.any(|Named(place)| place.object != last.object)
        .then_some(last)
}

fn table(step: &Step, effective: &[&EffectiveSettings], style: Style) -> Table {
    let mut table = Table::new(&["SETTING", "VALUE", "POLICY", "FROM"]).dropping(&["FROM"]);
    let mut before = None;
    // A policy that is not in force at all has its place among the others that are not.
    let has_rows = |one: &&&EffectiveSettings| one.spec.is_none() || !one.sources.is_empty();
    for effective in effective.iter().filter(has_rows) {
        let kind = Some(&effective.policy_kind);
        if kind != before {
            table.title(&effective.policy_kind.0.to_string());
        }
        before = kind;
        rows(&mut table, step, effective, style);
    }
    table
}

/// Setting, value, policy, and where the policy is attached.
fn rows(table: &mut Table, step: &Step, effective: &EffectiveSettings, style: Style) {
    let Some(spec) = &effective.spec else {
        let acting = step.policies.iter().filter(|policy_state| {
            let Named(policy) = &policy_state.policy;
            policy.object.gk == effective.policy_kind.0
                && matches!(
                    policy_state.state,
                    StateOnRequest::Enforced | StateOnRequest::PartiallyEnforced
                )
        });
        for policy_state in acting {
            let Named(policy) = &policy_state.policy;
            let from = from(step, effective, &policy_state.policy);
            table.row([
                "merged by the kind's own rules".into(),
                "-".into(),
                policy.object.path().into(),
                from.into(),
            ]);
        }
        return;
    };
    let is_rejected = |policy: &Named| {
        let mut policies = step.policies.iter();
        policies.any(|one| one.policy == *policy && one.state == StateOnRequest::Rejected)
    };
    for (pointer, source) in &effective.sources {
        let Named(place) = source;
        let value = spec.pointer(pointer).filter(|_| !pointer.is_empty());
        let value = value.map(|value| shown(value, style));
        let cell = match &value {
            Some(value) => value.cell(),
            None if pointer.is_empty() && is_rejected(source) => {
                Cell::toned("not in force", Tone::Warning)
            }
            None if pointer.is_empty() => Cell::toned("no settings", Tone::Warning),
            None => Cell::toned("removed", Tone::Warning),
        };
        let policy = if place.object.gk == effective.policy_kind.0 {
            place.object.path()
        } else {
            format!("{place} itself")
        };
        table.row([
            setting(pointer, spec, &place.object.path()).into(),
            cell,
            policy.into(),
            from(step, effective, source).into(),
        ]);
        table.below(value.into_iter().flat_map(FormattedValue::below));
    }
}

/// The place on a path to which a policy is attached.
fn from(step: &Step, effective: &EffectiveSettings, policy: &Named) -> String {
    let mut policies = step.policies.iter();
    let Some(policy_state) = policies.find(|policy_state| policy_state.policy == *policy) else {
        return String::new();
    };
    let on_path = policy_state
        .at
        .iter()
        .filter(|at| effective.path.contains(at));
    places(on_path)
}

fn places<'a>(places: impl Iterator<Item = &'a Named>) -> String {
    let names: Vec<String> = places.map(|Named(place)| place.to_string()).collect();
    names.join(", ")
}

/// A JSON pointer as a field. Policies that are in force side by side are keyed by name in the spec; the name has its
/// own column.
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
    wording::field(&path)
}

/// The policies that are not, or not wholly, in force.
fn beaten(policies: &[PolicyOnRequest], kinds: &Kinds) -> Table {
    let is_partial = |policy: &PolicyOnRequest| policy.state == StateOnRequest::PartiallyEnforced;
    let title = if policies.iter().any(is_partial) {
        "NOT FULLY ENFORCED"
    } else {
        "NOT ENFORCED"
    };
    let mut table =
        Table::new(&[title, "POLICY", "FROM", "STATE", "REASON"]).sentences(&["REASON"]);
    for policy_state in policies {
        let tone = match policy_state.state {
            StateOnRequest::Enforced => continue,
            StateOnRequest::PartiallyEnforced
            | StateOnRequest::Overridden
            | StateOnRequest::NoEffect
            | StateOnRequest::Unknown => Tone::Warning,
            StateOnRequest::Conflicted | StateOnRequest::Rejected => Tone::Bad,
        };
        let Named(policy) = &policy_state.policy;
        table.row([
            kinds.name(&policy.object.gk).into(),
            policy.object.path().into(),
            places(policy_state.at.iter()).into(),
            Cell::toned(policy_state.state.as_str(), tone),
            why(policy_state).into(),
        ]);
    }
    table
}

/// The names of the policies' kinds.
fn kinds(step: &Step) -> Kinds {
    let policies = step.policies.iter();
    Kinds::among(policies.map(|policy_state| &policy_state.policy.0.object.gk))
}

/// Why a policy is not, or not wholly, in force.
fn why(policy_state: &PolicyOnRequest) -> String {
    let by = policy_state.by.iter().map(|Named(by)| by.object.path());
    let by: Vec<String> = by.collect();
    let by = by.join(", ");
    let who = match policy_state.state {
        _ if by.is_empty() => None,
        StateOnRequest::PartiallyEnforced if !policy_state.lost.is_empty() => Some(format!(
            "{} overridden by {by}",
            policy_state.lost.join(", ")
        )),
        StateOnRequest::PartiallyEnforced => Some(format!("partly overridden by {by}")),
        StateOnRequest::Overridden => Some(format!("overridden by {by}")),
        StateOnRequest::Conflicted => Some(format!("conflicts with {by}")),
        StateOnRequest::Enforced
        | StateOnRequest::Rejected
        | StateOnRequest::NoEffect
        | StateOnRequest::Unknown => None,
    };
    who.into_iter()
        .chain(policy_state.reason.clone())
        .collect::<Vec<_>>()
        .join("; ")
}
