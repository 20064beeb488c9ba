//! Text in pictures: how wide it is, what of it fits, and how it is written so that it stays text.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::engine::verdict::escape;

/// The width of a character of a text of one pixel in the widest of the fonts.
pub(super) const ADVANCE: f64 = 0.62;
/// Sizes of type, as in the style.
pub(super) const LARGE: f64 = 13.0;
pub(super) const MIDDLE: f64 = 12.0;
pub(super) const SMALL: f64 = 10.0;

/// A line at a place.
pub(super) fn write_text(class: &str, x: f64, y: f64, line: &str, text: &mut String) {
    let _ = writeln!(
        text,
        "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
        number(x),
        number(y),
        text_of(line)
    );
}

/// How wide a text is at most.
pub(super) fn measured(text: &str, size: f64) -> f64 {
    f64::from(u32::try_from(text.width()).unwrap_or(u32::MAX)) * ADVANCE * size
}

/// A text with its middle left out where it has not enough room.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    let text = escape(text);
    if measured(&text, size) <= room {
        return text;
    }
    let fits = |taken: &[char]| {
        let width: usize = taken.iter().map(|c| c.width().unwrap_or(0)).sum();
        f64::from(u32::try_from(width + 1).unwrap_or(u32::MAX)) * ADVANCE * size <= room
    };
    let chars: Vec<char> = text.chars().collect();
    let (mut front, mut back): (Vec<char>, Vec<char>) = (Vec::new(), Vec::new());
    let (mut ahead, mut behind) = (chars.iter(), chars.iter().rev());
    loop {
        let next = if front.len() <= back.len() {
            ahead.next().map(|c| (true, *c))
        } else {
            behind.next().map(|c| (false, *c))
        };
        let Some((is_front, c)) = next else { break };
        let both: Vec<char> = front.iter().chain(&back).copied().chain([c]).collect();
        if !fits(&both) {
            break;
        }
        if is_front {
            front.push(c);
        } else {
            back.push(c);
        }
    }
    back.reverse();
    front.into_iter().chain(['…']).chain(back).collect()
}

/// Text from users for XML and HTML, in elements and between quotes.
pub(crate) fn text_of(text: &str) -> String {
    marked(&escape(text))
}

/// Text with what means something to XML and HTML marked as text.
pub(super) fn marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not even as a number may these stand in XML.
            '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// A length with one decimal at most.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
