//! A text that two regular expressions match.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};

/// The largest automaton of an expression, in bytes.
const LARGEST: usize = 1 << 20;
/// The most automata that are kept.
const MOST_AUTOMATA: usize = 128;
/// More pairs of states are not visited.
const MOST_PAIRS: usize = 10_000;
/// The longest text.
const MAX_TEXT_LENGTH: usize = 1024;

/// A state of each automaton.
type StatePair = (StateID, StateID);

/// The automata of expressions, each built once: a match is compared with many others.
#[derive(Debug, Default)]
pub(super) struct Automata(RefCell<HashMap<String, Option<Rc<Dfa>>>>);

type Dfa = dense::DFA<Vec<u32>>;

// === impl Automata ===

impl Automata {
    /// `None` if an expression is too large or cannot be read here.
    fn automaton(&self, expression: &str) -> Option<Rc<Dfa>> {
        let mut known = self.0.borrow_mut();
        if let Some(known) = known.get(expression) {
            return known.clone();
        }
        if known.len() >= MOST_AUTOMATA {
            known.clear();
        }
        let automaton = automaton(expression).map(Rc::new);
        known.insert(expression.to_owned(), automaton.clone());
        automaton
    }
}

/// The shortest text that both expressions match as a whole; `None` if there is none, if it is too long, or if an expression
/// is too large or cannot be read here. It is made of printable ASCII characters, letters first.
pub(super) fn common_text(automata: &Automata, one: &str, other: &str) -> Option<String> {
    let (one, other) = (automata.automaton(one)?, automata.automaton(other)?);
    let anchored = start::Config::new().anchored(Anchored::Yes);
    let first: StatePair = (
        one.start_state(&anchored).ok()?,
        other.start_state(&anchored).ok()?,
    );
    let is_match = |(a, b): StatePair| {
        one.is_match_state(one.next_eoi_state(a)) && other.is_match_state(other.next_eoi_state(b))
    };
    // By pair of states: the pair before it, and the byte that leads from there.
    let mut before: HashMap<StatePair, Option<(StatePair, u8)>> = HashMap::from([(first, None)]);
    let mut queue = VecDeque::from([first]);
    while let Some(pair) = queue.pop_front() {
        if is_match(pair) {
            return text(&before, pair);
        }
        for byte in characters() {
            let next = (one.next_state(pair.0, byte), other.next_state(pair.1, byte));
            if one.is_dead_state(next.0) || other.is_dead_state(next.1) {
                continue;
            }
            if !before.contains_key(&next) && before.len() < MOST_PAIRS {
                before.insert(next, Some((pair, byte)));
                queue.push_back(next);
            }
        }
    }
    None
}

fn automaton(expression: &str) -> Option<Dfa> {
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .dfa_size_limit(Some(LARGEST))
        .determinize_size_limit(Some(LARGEST));
    let build = |expression: &str| {
        let mut builder = dense::Builder::new();
        builder.configure(config.clone());
        builder.syntax(syntax::Config::new());
        builder.build(expression).ok()
    };
    // An unbalanced expression may become valid inside the group.
    regex_syntax::parse(expression).ok()?;
    build(&format!("(?:{expression})\\z"))
}

/// The characters of a text, in the order in which they are preferred.
fn characters() -> impl Iterator<Item = u8> {
    let letters = (b'a'..=b'z').chain(b'A'..=b'Z').chain(b'0'..=b'9');
    let others = (0x20..0x7f).filter(|byte: &u8| !byte.is_ascii_alphanumeric());
    letters.chain(others)
}

/// The bytes that lead to a pair of states.
fn text(before: &HashMap<StatePair, Option<(StatePair, u8)>>, last: StatePair) -> Option<String> {
    let mut bytes = Vec::new();
    let mut at = last;
    while let Some(Some((pair, byte))) = before.get(&at) {
        bytes.push(*byte);
        at = *pair;
        if bytes.len() > MAX_TEXT_LENGTH {
            return None;
        }
    }
    bytes.reverse();
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Automata, common_text};

    #[test]
    fn both_expressions_match_it() {
        for (one, other, expected) in [
            ("/[a-z]+/admin", "/api(?:/.*)?", Some("/api/admin")),
            ("/(v1|api)/.*", "/api(?:/.*)?", Some("/api/")),
            ("a|ab", "ab", Some("ab")),
            ("a", "b", None),
            (".*", ".*", Some("")),
            ("(", ".*", None),
            ("a)|(b", "b", None),
            (r"\d{2}", "[5-9]+", Some("55")),
            ("(?i)API", "api", Some("api")),
            (r"é.*", r"é", None),
        ] {
            assert_eq!(
                common_text(&Automata::default(), one, other).as_deref(),
                expected,
                "{one} and {other}"
            );
        }
    }

    #[test]
    fn large_expressions_have_none() {
        let large = "(a|b|c|ab|bc){1,500}(d|e){1,500}".repeat(20);
        assert_eq!(common_text(&Automata::default(), &large, ".*"), None);
    }
}
