//! A text that a regular expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::text_match::Text;

/// Expressions that repeat more often have no example.
const MOST_REPEATED: u32 = 64;
/// The longest example.
const LONGEST: usize = 1024;

/// A text that an expression matches as a whole; `None` if none is found, or if the expression cannot be parsed here.
///
/// What may be repeated any number of times stands `filler` for, if that fits: the example of `/a/.*` is `/a/filler`.
pub(super) fn example(expression: &str, filler: &str) -> Option<String> {
    let hir = regex_syntax::parse(expression).ok()?;
    let fits = |text: &String| {
        text.len() <= LONGEST && Text::Expression(expression.to_owned()).covers(text) == Some(true)
    };
    let with = |filler: &str| {
        let mut text = String::new();
        write(&hir, filler, &mut text).then_some(text).filter(fits)
    };
    with(filler).or_else(|| with(""))
}

/// Adds an example of an expression to a text; `false` if there is none.
fn write(hir: &Hir, filler: &str, text: &mut String) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(literal) => {
                text.push_str(literal);
                true
            }
            Err(_) => false,
        },
        HirKind::Class(class) => match first(class) {
            Some(character) => {
                text.push(character);
                true
            }
            None => false,
        },
        HirKind::Repetition(repetition) => {
            let is_any =
                repetition.max.is_none() && matches!(repetition.sub.kind(), HirKind::Class(_));
            if is_any && repetition.min <= 1 && !filler.is_empty() {
                text.push_str(filler);
                return true;
            }
            repetition.min <= MOST_REPEATED
                && text.len() <= LONGEST
                && (0..repetition.min).all(|_| write(&repetition.sub, filler, text))
        }
        HirKind::Capture(capture) => write(&capture.sub, filler, text),
        HirKind::Concat(parts) => parts.iter().all(|part| write(part, filler, text)),
        HirKind::Alternation(parts) => {
            let start = text.len();
            parts.iter().any(|part| {
                text.truncate(start);
                write(part, filler, text)
            })
        }
    }
}

/// A character of a class: a letter or digit if there is one.
fn first(class: &Class) -> Option<char> {
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
    let has = |wanted: char| {
        ranges
            .iter()
            .any(|(start, end)| (*start..=*end).contains(&wanted))
    };
    let plain = ('a'..='z').chain('A'..='Z').chain('0'..='9');
    let plain = plain.chain("-_.~".chars());
    let mut plain = plain.filter(|character| has(*character));
    plain.next().or_else(|| ranges.first().map(|range| range.0))
}

#[cfg(test)]
mod tests {
    use super::example;

    #[test]
    fn it_matches_the_expression() {
        for (expression, expected) in [
            ("/api/.*", Some("/api/any")),
            ("/v[12]/(cart|order)", Some("/v1/cart")),
            ("/users/[0-9]+", Some("/users/0")),
            ("^/a$", Some("/a")),
            ("/(?:x|y){3}z?", Some("/xxx")),
            (".*", Some("any")),
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
}
