//! A regular expression of a schema. It is compiled when it is first needed.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

/// The maximum length of an expression in bytes.
const MAX_PATTERN_BYTES: usize = 4_096;
/// The maximum size of a compiled expression in bytes.
const LARGEST: usize = 1 << 18;
/// The maximum length of a string that is matched, in bytes.
const MOST_MATCHED: usize = 1 << 16;

/// A regular expression in the dialect of Go, as the API server reads it.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Arc<str>,
    /// The compiled expression; `None` if it means something else here, or is too large.
    compiled: OnceLock<Option<Box<Regex>>>,
}

// === impl Pattern ===

impl Pattern {
    /// An expression.
    pub fn new(text: Arc<str>) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    /// The expression as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it means here what it means in Go, so that texts can be compared with it.
    pub fn is_usable(&self) -> bool {
        self.compiled().is_some()
    }

    fn compiled(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| compile(&self.text));
        compiled.as_deref()
    }

    /// Whether a string matches it somewhere; `None` if that is not certain. Takes time linear in the string.
    pub fn matches(&self, text: &str) -> Option<bool> {
        // Classes such as `\d` have more characters here than in Go.
        let differs = !text.is_ascii() && has_class(&self.text);
        if differs || text.len() > MOST_MATCHED {
            return None;
        }
        self.compiled().map(|regex| regex.is_match(text))
    }
}

fn compile(text: &str) -> Option<Box<Regex>> {
    if text.len() > MAX_PATTERN_BYTES || has_set_operation(text) {
        return None;
    }
    let built = RegexBuilder::new(text).size_limit(LARGEST).build();
    built.ok().map(Box::new)
}

fn has_class(text: &str) -> bool {
    let classes = ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B"];
    classes.into_iter().any(|class| text.contains(class)) || text.contains("(?i")
}

/// Whether a class contains what Go reads as plain characters: an operation on sets, or a class inside.
fn has_set_operation(text: &str) -> bool {
    let mut is_inside = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (is_inside, c) {
            (_, '\\') => {
                chars.next();
            }
            (false, '[') => {
                is_inside = true;
                // A bracket that comes first is a plain character.
                if next == Some('^') {
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    chars.next();
                }
            }
            (true, ']') => is_inside = false,
            (true, '[') if next == Some(':') => {
                // A named class: `[:alpha:]`.
                for c in chars.by_ref() {
                    if c == ']' {
                        break;
                    }
                }
            }
            (true, '[') => return true,
            (true, '&' | '-' | '~') if next == Some(c) => return true,
            _ => {}
        }
    }
    false
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pattern {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn matches(pattern: &str, text: &str) -> Option<bool> {
        Pattern::new(pattern.into()).matches(text)
    }

    #[test]
    fn an_expression_matches_anywhere_unless_it_is_anchored() {
        assert_eq!(matches("b+", "abc"), Some(true));
        assert_eq!(matches("^b+$", "abc"), Some(false));
        assert_eq!(
            matches(r"^([0-9]{1,5}(h|m|s|ms)){1,4}$", "1h30m"),
            Some(true)
        );
    }

    #[test]
    fn what_go_reads_otherwise_is_not_guessed() {
        for unsure in ["[a--b]", "[a&&b]", "[[a]", "(", r"(a)\1", r"\Qa\E"] {
            assert_eq!(matches(unsure, "a"), None, "{unsure}");
        }
        assert_eq!(matches("^[]a-]+$", "]-a"), Some(true));
        assert_eq!(matches("^[[:alpha:]]+$", "abc"), Some(true));
        assert_eq!(matches(r"^\d$", "٣"), None);
    }

    #[test]
    fn large_expressions_and_long_strings_are_not_read() {
        assert_eq!(matches("(((a{1000}){1000}){1000})", "a"), None);
        assert_eq!(matches("a", &"b".repeat(100_000)), None);
        assert_eq!(matches("(a*)*b", &"a".repeat(60_000)), Some(false));
    }
}
