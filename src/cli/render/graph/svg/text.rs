//! Text in pictures: its width, its line breaks, and its escaping.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::engine::admission::verdict::escape;

/// The width of a character at font size 1, in the widest of the fonts.
const ADVANCE: f64 = 0.62;
/// Font sizes, as in the style sheet.
pub(crate) const LARGE: f64 = 13.0;
pub(crate) const MIDDLE: f64 = 12.0;
pub(crate) const SMALL: f64 = 11.0;

/// Writes a line of text at a point.
pub(super) fn write_text(class: &str, x: f64, y: f64, line: &str, text: &mut String) {
    let _ = writeln!(
        text,
        "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
        number(x),
        number(y),
        text_of(line)
    );
}

/// The maximum width of a text.
pub(crate) fn measured(text: &str, size: f64) -> f64 {
    f64::from(u32::try_from(text.width()).unwrap_or(u32::MAX)) * ADVANCE * size
}

/// Breaks a name into lines of at most `limit` columns, after a dot, dash or slash if possible.
pub(crate) fn lines(name: &str, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for c in escape(name).chars() {
        if line.width() + c.width().unwrap_or(0) > limit {
            let at = line.rfind(['.', '-', '/']).map(|at| at + 1);
            let remaining = match at.filter(|at| *at > limit / 2) {
                Some(at) => line.split_off(at),
                None => String::new(),
            };
            lines.push(std::mem::replace(&mut line, remaining));
        }
        line.push(c);
    }
    lines.push(line);
    lines
}

/// Breaks a sentence between words into lines of at most `limit` columns; cuts it after `count` lines.
pub(crate) fn wrapped(text: &str, limit: usize, count: usize) -> Vec<String> {
    let mut sentence_lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| lines(word, limit)) {
        match sentence_lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= limit => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => sentence_lines.push(word),
        }
    }
    if sentence_lines.len() > count {
        sentence_lines.truncate(count);
        if let Some(last) = sentence_lines.last_mut() {
            last.push('…');
        }
    }
    sentence_lines
}

/// Escapes text from users for XML and HTML, in elements and in attributes.
pub(crate) fn text_of(text: &str) -> String {
    marked(&escape(text))
}

/// Escapes the special characters of XML and HTML.
pub(super) fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML forbids these even as character references.
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// A length with at most one decimal.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(integer) => integer.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{lines, wrapped};

    #[test]
    fn names_are_whole_whatever_their_length() {
        let name = "a-rather-long-name.of-a-host.example.com";
        let broken = lines(name, 20);
        assert_eq!(broken, ["a-rather-long-name.", "of-a-host.example.", "com"]);
        assert_eq!(lines(&"x".repeat(45), 20).concat(), "x".repeat(45));
        assert_eq!(lines("", 20), [""]);
    }

    #[test]
    fn sentences_break_between_words() {
        let lines = wrapped("there is no Gateway infra/edge", 16, 3);
        assert_eq!(lines, ["there is no", "Gateway", "infra/edge"]);
        assert_eq!(wrapped("one two three four", 5, 2), ["one", "two…"]);
    }
}
