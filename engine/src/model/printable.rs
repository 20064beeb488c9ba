//! Escapes names and values of users for output: in a terminal, a log, the log of a pipeline, a warning.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Characters that programs ignore (`Default_Ignorable_Code_Point`) although their category is that of visible ones,
/// and the blank Braille pattern.
const IGNORED: [RangeInclusive<char>; 10] = [
    '\u{34f}'..='\u{34f}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180d}',
    '\u{180f}'..='\u{180f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{e0100}'..='\u{e01ef}',
];

/// A string in which every character is visible and none has a special meaning to the program that shows it.
///
/// Control characters would make the API server drop a warning. Characters that change the direction of text or have
/// no width would misrepresent it. A line that begins like a command would be executed in the log of a pipeline.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push(&mut escaped, text);
    escaped
}

/// JSON text with hidden characters written as `\uXXXX`. The data are the same.
pub fn json(text: String) -> String {
    if !has_hidden(&text) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c == '\n' || !is_hidden(c) {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

/// Whether a text of several lines has a hidden character.
pub fn has_hidden(text: &str) -> bool {
    text.chars().any(|c| c != '\n' && is_hidden(c))
}

/// Appends a string, escaped.
pub(crate) fn push(line: &mut String, text: &str) {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && byte != b'#' && byte != b':';
    if text.bytes().all(is_plain) {
        return line.push_str(text);
    }
    let command = command(text);
    for (at, c) in text.char_indices() {
        let remaining = text.get(at..).unwrap_or_default();
        if Some(at) == command
            || remaining.starts_with("##") && is_of_a_pipeline(remaining)
            || is_hidden(c)
        {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
}

/// Whether a character is invisible: by its category (control, format, unassigned, private use, separators other than
/// the space), or because programs ignore it.
fn is_hidden(c: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate,
        Unassigned,
    };
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let category = get_general_category(c);
    let is_ignored = || IGNORED.iter().any(|ignored| ignored.contains(&c));
    matches!(
        category,
        Control
            | Format
            | LineSeparator
            | ParagraphSeparator
            | PrivateUse
            | SpaceSeparator
            | Surrogate
            | Unassigned
    ) || is_ignored()
}

/// The position at which a string begins like a command of GitHub Actions: `::name …::`.
fn command(text: &str) -> Option<usize> {
    let trimmed = text.trim_start();
    let name = trimmed.strip_prefix("::")?;
    let is_command = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.contains("::");
    is_command.then(|| text.len() - trimmed.len())
}

/// Whether this is a command of GitHub Actions, Azure Pipelines or `TeamCity` that counts anywhere in a line.
fn is_of_a_pipeline(text: &str) -> bool {
    ["##[", "##vso[", "##teamcity["]
        .iter()
        .any(|command| text.starts_with(command))
}

#[cfg(test)]
mod tests {
    use super::{escape, json};

    #[test]
    fn hidden_characters_are_those_of_unicode() {
        let pattern =
            r"^[\p{C}\p{Zl}\p{Zp}[\p{Zs}--\x20]\p{Default_Ignorable_Code_Point}\x{2800}]$";
        let hidden = regex::Regex::new(pattern).unwrap();
        for c in '\0'..=char::MAX {
            let is_hidden_there = hidden.is_match(c.encode_utf8(&mut [0; 4]));
            assert_eq!(
                super::is_hidden(c),
                is_hidden_there,
                "{c:?} {:x}",
                u32::from(c)
            );
        }
    }

    #[test]
    fn what_is_seen_stays() {
        for text in [
            "",
            "infra/edge#http",
            "a: b",
            "Größe 日本語 עברית 🚀",
            "[::1]:80",
            "::ffff:10.0.0.1",
            "# a",
            "## b",
            "fe80::1::x",
            "e\u{301}",
        ] {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn what_is_not_seen_is_written_out() {
        for c in [
            '\0',
            '\u{7}',
            '\u{1b}',
            '\n',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{a0}',
            '\u{ad}',
            '\u{61c}',
            '\u{115f}',
            '\u{180e}',
            '\u{200b}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202e}',
            '\u{2060}',
            '\u{2064}',
            '\u{2069}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{e000}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fffe}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{10ffff}',
        ] {
            let shown = format!("a{}b", c.escape_unicode());
            assert_eq!(escape(&format!("a{c}b")), shown);
        }
    }

    #[test]
    fn json_keeps_its_data() {
        let data = "a\u{202e}b\u{e0041}\n\"é";
        let text = json(serde_json::to_string_pretty(&[data]).unwrap());
        assert_eq!(text, "[\n  \"a\\u202eb\\udb40\\udc41\\n\\\"é\"\n]");
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [data]);
    }

    #[test]
    fn what_a_pipeline_would_obey_is_written_out() {
        for (text, shown) in [
            ("::stop-commands::x", r"\u{3a}:stop-commands::x"),
            ("  ::error file=a::b", r"  \u{3a}:error file=a::b"),
            ("##[error]a", r"\u{23}#[error]a"),
            (
                "a ##vso[task.setvariable variable=b]c",
                r"a \u{23}#vso[task.setvariable variable=b]c",
            ),
            ("##teamcity[x]", r"\u{23}#teamcity[x]"),
            ("###[x]", r"#\u{23}#[x]"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }
}
