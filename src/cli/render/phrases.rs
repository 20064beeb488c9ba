//! Names, fields and counts as text. Escaped when they are painted.

use std::collections::{BTreeMap, BTreeSet};

use super::style::{Style, Tone};
use super::table::Cell;
use super::text::parts;
use crate::answer::Named;
use crate::answer::state::PolicyState;
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::Place;
use crate::engine::model::object::section_noun;

/// The limit of names before "and N more".
const MAX_NAMES: usize = 3;

/// `infra/edge` or `infra/edge#http`.
pub(crate) fn path(named: &Named) -> String {
    let Place { object, section } = &named.0;
    match section {
        Some(section) => format!("{}#{section}", object.path()),
        None => object.path(),
    }
}

/// A JSON pointer as a field: `retry.codes`, `listeners[0].port`; `spec` for the whole spec.
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

/// The caveats of policies, each sentence once with its policies.
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
        let title = (Some(Tone::Heading), "NOTE ".to_owned());
        let line = (Some(Tone::Warning), format!("{}: {caveat}", list(names)));
        let hanging = format!("{indent}  ");
        text.push('\n');
        text.push_str(&parts(style, indent, &[title, line], &hanging));
    }
    text
}

/// `1 path`, `3 paths`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The first names, and the number of the others.
pub(crate) fn list(names: impl IntoIterator<Item = String>) -> String {
    let names: BTreeSet<String> = names.into_iter().collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut shown: Vec<String> = names.into_iter().take(MAX_NAMES).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

/// A place relative to an object: `this route`, `this Gateway listener http`, `Gateway infra/edge`.
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

/// `retrypolicy.policies.example.com/edge-retries`, as kubectl names objects; one per line.
pub(crate) fn names_of<'a>(objects: impl IntoIterator<Item = &'a Named>) -> String {
    let line = |named: &Named| {
        let key = &named.0.object;
        let kind = key.gk.kind.to_lowercase();
        let group = &key.gk.group;
        let dot = if group.is_empty() { "" } else { "." };
        format!("{}\n", escape(&format!("{kind}{dot}{group}/{}", key.name)))
    };
    objects.into_iter().map(line).collect()
}

/// The tone of a state.
pub(crate) fn tone(state: PolicyState) -> Tone {
    match state {
        PolicyState::Enforced => Tone::Good,
        PolicyState::PartiallyEnforced
        | PolicyState::Overridden
        | PolicyState::NoEffect
        | PolicyState::Unknown => Tone::Warning,
        PolicyState::Conflicted
        | PolicyState::Rejected
        | PolicyState::Invalid
        | PolicyState::TargetNotFound => Tone::Bad,
    }
}

/// Why a policy is in its state: the policies that caused it, and further reasons.
pub(crate) fn reason(
    policy: &Named,
    state: PolicyState,
    by: &[Named],
    reason: Option<&str>,
) -> String {
    let name = |by: &Named| {
        if by.0.object.gk == policy.0.object.gk {
            path(by)
        } else {
            format!("{} itself", by.0)
        }
    };
    let names = list(by.iter().map(name));
    let who = match state {
        _ if by.is_empty() => None,
        PolicyState::Overridden => Some(format!("overridden by {names}")),
        PolicyState::PartiallyEnforced => Some(format!("partly overridden by {names}")),
        // The reason names the other policy.
        PolicyState::Conflicted if reason.is_some() => None,
        PolicyState::Conflicted => Some(format!("conflicts with {names}")),
        PolicyState::Enforced
        | PolicyState::Rejected
        | PolicyState::Invalid
        | PolicyState::TargetNotFound
        | PolicyState::NoEffect
        | PolicyState::Unknown => None,
    };
    let all: Vec<&str> = who.as_deref().into_iter().chain(reason).collect();
    all.join("; ")
}

/// The cells for a state and its reason.
pub(crate) fn state(
    policy: &Named,
    state: PolicyState,
    by: &[Named],
    reason: Option<&str>,
) -> [Cell; 2] {
    let why = self::reason(policy, state, by, reason);
    [Cell::toned(state.as_str(), tone(state)), why.into()]
}

/// A state and its reason in one line.
pub(crate) fn state_line(
    policy: &Named,
    state: PolicyState,
    by: &[Named],
    reason: Option<&str>,
) -> String {
    let why = self::reason(policy, state, by, reason);
    if why.is_empty() {
        state.as_str().to_owned()
    } else {
        format!("{}: {why}", state.as_str())
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
