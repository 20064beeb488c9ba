//! Names, fields, values and counts as people read them; escaped where they are painted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::style::{Style, Tone};
use crate::answer::Named;
use crate::answer::state::PolicyState;
use crate::engine::ids::Place;
use crate::engine::object::section_noun;

/// Names shown before "and N more".
const SHOWN: usize = 3;
/// Characters of a value shown in a line.
const LONGEST_VALUE: usize = 60;

/// `infra/edge` or `infra/edge#http`.
pub(crate) fn path(named: &Named) -> String {
    let Place { object, section } = &named.0;
    match section {
        Some(section) => format!("{}#{section}", object.path()),
        None => object.path(),
    }
}

/// The field that a JSON pointer leads to: `retry.codes`, `listeners[0].port`; `spec` for all of it.
pub(crate) fn field(pointer: &str) -> String {
    let mut text = String::new();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        if !token.is_empty() && token.chars().all(|c| c.is_ascii_digit()) {
            text.extend(["[", &token, "]"]);
        } else {
            text.push_str(if text.is_empty() { "" } else { "." });
            text.push_str(&token);
        }
    }
    if text.is_empty() {
        "spec".to_owned()
    } else {
        text
    }
}

/// A value in a line; long ones are described.
pub(crate) fn value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let length = text.chars().count();
    match value {
        _ if length <= LONGEST_VALUE => text,
        Value::Array(items) => format!("[{}]", count(items.len(), "item", "items")),
        Value::Object(map) => format!("{{{}}}", count(map.len(), "field", "fields")),
        _ => {
            let shown: String = text.chars().take(LONGEST_VALUE).collect();
            format!("{shown}… ({length} characters)")
        }
    }
}

/// What is not modelled of policies, each sentence once with the policies that it is about.
pub(crate) fn caveats<'a>(
    all: impl Iterator<Item = (&'a Named, &'a Vec<String>)>,
    style: Style,
    indent: &str,
) -> String {
    let mut about: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (policy, caveats) in all {
        for caveat in caveats {
            let names = about.entry(caveat).or_default();
            let name = format!("{} {}", policy.0.object.gk.kind, path(policy));
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let mut text = String::new();
    for (caveat, names) in about {
        let title = style.paint(Tone::Heading, "NOT MODELLED");
        let line = format!("{}: {caveat}", list(names));
        let _ = write!(
            text,
            "\n{indent}{title}  {}\n",
            style.paint(Tone::Warning, &line)
        );
    }
    text
}

/// `1 path`, `3 paths`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Names, the first few, and how many more there are.
pub(crate) fn list(names: impl IntoIterator<Item = String>) -> String {
    let names: BTreeSet<String> = names.into_iter().collect();
    let more = names.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = names.into_iter().take(SHOWN).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

/// A place seen from an object: `this route`, `this Gateway listener http`, `Gateway infra/edge`.
pub(crate) fn seen_from(object: &Named, place: &Named) -> String {
    let Place {
        object: owner,
        section,
    } = &place.0;
    let owner_text = if *owner == object.0.object {
        format!("this {}", owner.gk.kind)
    } else {
        owner.to_string()
    };
    match (section, section_noun(&owner.gk)) {
        (Some(section), Some(noun)) => format!("{owner_text} {noun} {section}"),
        (Some(section), None) => format!("{owner_text} {section}"),
        (None, _) => owner_text,
    }
}

/// The tone of a state.
pub(crate) fn tone(state: PolicyState) -> Tone {
    match state {
        PolicyState::Enforced => Tone::Good,
        PolicyState::PartiallyEnforced | PolicyState::Overridden | PolicyState::NoEffect => {
            Tone::Warning
        }
        PolicyState::Conflicted
        | PolicyState::Rejected
        | PolicyState::Invalid
        | PolicyState::TargetNotFound => Tone::Bad,
    }
}

fn state_words(state: PolicyState) -> &'static str {
    match state {
        PolicyState::Enforced => "enforced",
        PolicyState::PartiallyEnforced => "partly overridden",
        PolicyState::Overridden => "overridden",
        PolicyState::Conflicted => "conflicted",
        PolicyState::Rejected => "rejected",
        PolicyState::Invalid => "invalid",
        PolicyState::TargetNotFound => "target not found",
        PolicyState::NoEffect => "no effect",
    }
}

/// A state with whoever brought it about. One that is in force may be rejected on another target: that is told there.
pub(crate) fn state(state: PolicyState, by: &[Named], reason: Option<&str>) -> String {
    let mut text = state_words(state).to_owned();
    if !by.is_empty() && state != PolicyState::Enforced {
        let with = if state == PolicyState::Conflicted {
            "with"
        } else {
            "by"
        };
        text = format!("{text} {with} {}", list(by.iter().map(path)));
    }
    // Who is there already has been said.
    let is_said = state == PolicyState::Conflicted && !by.is_empty();
    match reason.filter(|_| !is_said) {
        Some(reason) => format!("{text}: {reason}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn pointers_are_fields() {
        assert_eq!(field("/retry/codes/0"), "retry.codes[0]");
        assert_eq!(field("/a~1b/c~0d"), "a/b.c~d");
        assert_eq!(field(""), "spec");
    }
}
