//! Texts that a regular expression matches.

use regex_syntax::hir::{Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind};

use super::expression::Expression;

/// Expressions that repeat more often have no example.
const MOST_REPEATED: u32 = 64;
/// The longest example.
const MAX_EXAMPLE_LENGTH: usize = 1024;
/// The largest number of alternatives with an example; those after them have none.
const MOST_ALTERNATIVES: usize = 8;

/// A text that an expression matches as a whole; `None` if none is found, or if the expression cannot be parsed here.
pub(super) fn example(expression: &str, filler: &str) -> Option<String> {
    examples(expression, filler).next()
}

/// Texts that an expression matches as a whole, one for each of its alternatives; none if the expression cannot be parsed
/// here.
///
/// `filler` takes the place of whatever may be repeated any number of times, if that fits: the example of `/a/.*` is
/// `/a/filler`.
pub(super) fn examples<'a>(
    expression: &'a str,
    filler: &'a str,
) -> impl Iterator<Item = String> + 'a {
    let compiled = Expression::from(expression.to_owned());
    let fits = move |text: &String| {
        text.len() <= MAX_EXAMPLE_LENGTH && compiled.covers(text) == Some(true)
    };
    let hir = regex_syntax::parse(expression).ok();
    let mut known: Vec<String> = Vec::new();
    let texts = (0..MOST_ALTERNATIVES).map_while(move |alternative| {
        let hir = hir.as_ref()?;
        let [whole, bare] = [filler, ""].map(|filler| {
            let mut text = String::new();
            let writer = Writer {
                filler,
                alternative,
            };
            writer.write(hir, &mut text).then_some(text)
        });
        if whole.iter().chain(&bare).any(|text| known.contains(text)) {
            return None;
        }
        let text = whole.filter(&fits).or(bare.filter(&fits));
        known.extend(text.clone());
        Some(text)
    });
    texts.flatten()
}

/// Writes one example of an expression.
#[derive(Clone, Copy)]
struct Writer<'a> {
    filler: &'a str,
    /// The alternative to choose, or the last one if there are fewer.
    alternative: usize,
}

// === impl Writer ===

impl Writer<'_> {
    /// Adds an example of an expression to a text; `false` if there is none.
    fn write(self, hir: &Hir, text: &mut String) -> bool {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(literal) => {
                    text.push_str(literal);
                    true
                }
                Err(_) => false,
            },
            HirKind::Class(class) => {
                let limit = if members(class) > MOST_ALTERNATIVES {
                    1
                } else {
                    self.alternative + 1
                };
                let character = characters(class, limit).last();
                text.extend(character);
                character.is_some()
            }
            HirKind::Repetition(repetition) => {
                let is_any =
                    repetition.max.is_none() && matches!(repetition.sub.kind(), HirKind::Class(_));
                if is_any && repetition.min <= 1 && !self.filler.is_empty() {
                    text.push_str(self.filler);
                    return true;
                }
                repetition.min <= MOST_REPEATED
                    && text.len() <= MAX_EXAMPLE_LENGTH
                    && (0..repetition.min).all(|_| self.write(&repetition.sub, text))
            }
            HirKind::Capture(capture) => self.write(&capture.sub, text),
            HirKind::Concat(parts) => parts.iter().all(|part| self.write(part, text)),
            HirKind::Alternation(parts) => {
                let last = parts.len().saturating_sub(1);
                let part = parts.get(self.alternative.min(last));
                part.is_some_and(|part| self.write(part, text))
            }
        }
    }
}

/// The number of characters of a class.
fn members(class: &Class) -> usize {
    match class {
        Class::Unicode(class) => class.iter().map(ClassUnicodeRange::len).sum(),
        Class::Bytes(class) => class.iter().map(ClassBytesRange::len).sum(),
    }
}

/// The first characters of a class, letters and digits first.
fn characters(class: &Class, limit: usize) -> impl Iterator<Item = char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect(),
        Class::Bytes(class) => {
            let ranges = class.iter();
            ranges
                .map(|range| (range.start().into(), range.end().into()))
                .collect()
        }
    };
    let other = ranges.first().map(|range| range.0);
    let has = move |wanted: &char| {
        let mut ranges = ranges.iter();
        ranges.any(|(start, end)| (*start..=*end).contains(wanted))
    };
    let plain = ('a'..='z').chain('A'..='Z').chain('0'..='9');
    let plain = plain.chain("-_.~".chars()).filter(has).take(limit);
    let mut plain = plain.peekable();
    let other = other.filter(|_| plain.peek().is_none());
    plain.chain(other)
}

#[cfg(test)]
mod tests {
    use super::{example, examples};

    #[test]
    fn it_matches_the_expression() {
        for (expression, expected) in [
            ("/api/.*", Some("/api/any")),
            ("/v[12]/(cart|order)", Some("/v1/cart")),
            ("/users/[0-9]+", Some("/users/0")),
            ("^/a$", Some("/a")),
            ("/(?:x|y){3}z?", Some("/xxx")),
            (".*", Some("any")),
            ("/(api|v1)/.*", Some("/api/any")),
            ("(", None),
            ("a{1000}", None),
            (r"\bx\B", None),
        ] {
            assert_eq!(
                example(expression, "any").as_deref(),
                expected,
                "{expression}"
            );
        }
    }

    #[test]
    fn each_alternative_has_an_example() {
        for (expression, expected) in [
            ("/(api|v1)/.*", vec!["/api/any", "/v1/any"]),
            ("/v[12]", vec!["/v1", "/v2"]),
            ("/(a|b)/(c|d|e)", vec!["/a/c", "/b/d", "/b/e"]),
            ("/[a-z]/x", vec!["/a/x"]),
            ("/a", vec!["/a"]),
        ] {
            let found: Vec<String> = examples(expression, "any").collect();
            assert_eq!(found, expected, "{expression}");
        }
    }
}
