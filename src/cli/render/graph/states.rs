//! The look of policy states: a colour and a glyph for each, the same in every picture.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::answer::graph::{Graph, Role};
use crate::answer::state::PolicyState;
use crate::engine::model::ids::GroupKind;

/// The look of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StateAppearance {
    pub state: PolicyState,
    /// The CSS class of its colours.
    pub class: &'static str,
    /// Its glyph: an SVG path in a 12 by 12 square.
    pub glyph: &'static str,
    /// Its glyph as a character.
    pub sign: &'static str,
    /// Its meaning.
    pub words: &'static str,
}

const CHECK: &str = "M2.5 6.5L5 9L9.5 3.5";
const HALF: &str = "M6 2A4 4 0 1 0 6 10A4 4 0 1 0 6 2M6 3.5V8.5M7.5 4V8";
const SLASH: &str = "M6 2A4 4 0 1 0 6 10A4 4 0 1 0 6 2M3.4 8.6L8.6 3.4";
const STOP: &str = "M6 2A4 4 0 1 0 6 10A4 4 0 1 0 6 2M4 6H8";
/// The glyph for errors.
pub(crate) const CROSS: &str = "M3 3L9 9M9 3L3 9";
const QUESTION: &str = "M4 4.5A2 2 0 1 1 6.8 6.3C6.2 6.6 6 6.9 6 7.5M6 9V9.4";
const RING: &str = "M6 2.5A3.5 3.5 0 1 0 6 9.5A3.5 3.5 0 1 0 6 2.5";

/// The looks of all states, in the order of lists.
pub(crate) fn looks() -> Vec<StateAppearance> {
    PolicyState::ALL.into_iter().map(look).collect()
}

/// The look of a state.
pub(crate) fn look(state: PolicyState) -> StateAppearance {
    let (class, glyph, sign, words) = match state {
        PolicyState::Enforced => ("in-force", CHECK, "✓", "all of it is in force"),
        PolicyState::PartiallyEnforced => (
            "partly",
            HALF,
            "◐",
            "some of it is in force, or on some paths",
        ),
        PolicyState::Overridden => (
            "overridden",
            SLASH,
            "⊘",
            "nothing of it is in force: other policies override it",
        ),
        PolicyState::Conflicted => (
            "rejected",
            STOP,
            "⊖",
            "another policy of the kind already has its target",
        ),
        PolicyState::Rejected => (
            "rejected",
            STOP,
            "⊖",
            "its controllers reject it, or attache expects them to",
        ),
        PolicyState::Invalid => (
            "broken",
            CROSS,
            "✗",
            "its strategy cannot be used, it may not name its target, or the API server refuses it",
        ),
        PolicyState::TargetNotFound => ("broken", CROSS, "✗", "its target does not exist"),
        PolicyState::NoEffect => ("no-effect", RING, "○", "it is attached and has no effect"),
        PolicyState::Unknown => (
            "no-effect",
            QUESTION,
            "?",
            "attache cannot know whether it has an effect",
        ),
    };
    StateAppearance {
        state,
        class,
        glyph,
        sign,
        words,
    }
}

/// A short name for each policy kind in a graph: its initials, or its full name if another kind has the same initials.
pub(crate) fn badges(graph: &Graph) -> BTreeMap<GroupKind, String> {
    let policies = graph.nodes.iter().filter(|node| node.role == Role::Policy);
    let kinds: BTreeSet<&GroupKind> = policies.map(|node| &node.object.0.object.gk).collect();
    let mut badge_counts: BTreeMap<String, usize> = BTreeMap::new();
    for kind in &kinds {
        *badge_counts.entry(initials(&kind.kind)).or_default() += 1;
    }
    let badge = |kind: &GroupKind| {
        let short = initials(&kind.kind);
        let is_clear = short.chars().count() > 1 && badge_counts.get(&short) == Some(&1);
        if is_clear {
            short
        } else {
            kind.kind.to_string()
        }
    };
    kinds
        .into_iter()
        .map(|kind| (kind.clone(), badge(kind)))
        .collect()
}

/// The capital letters of a kind.
fn initials(kind: &str) -> String {
    kind.chars().filter(char::is_ascii_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn initials_are_those_that_people_use() {
        for (kind, short) in [
            ("BackendTrafficPolicy", "BTP"),
            ("SecurityPolicy", "SP"),
            ("BackendTLSPolicy", "BTLSP"),
            ("DNSPolicy", "DNSP"),
            ("policy", ""),
        ] {
            assert_eq!(initials(kind), short);
        }
    }
}
