//! Wraps text to the width of the terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::style::{Style, Tone};
use crate::engine::admission::verdict::escape;

/// Wraps text to lines of at most `width` columns. Breaks only at spaces, so that no name is cut.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if !line.is_empty() && line.width() + word.trim_end().width() > width {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        line.push_str(word);
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// Cuts a line to at most `width` columns.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut kept = String::new();
    let mut room = width.saturating_sub(1);
    for c in line.chars() {
        let wide = c.width().unwrap_or(0);
        if wide > room {
            break;
        }
        room -= wide;
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// A wrapped sentence in one tone; all lines but the first are indented by `hanging`.
pub(crate) fn paragraph(
    style: Style,
    tone: Tone,
    indent: &str,
    text: &str,
    hanging: &str,
) -> String {
    parts(style, indent, &[(Some(tone), text.to_owned())], hanging)
}

/// Pieces on one line, each in its own tone, with `gap` between them; on separate lines if they do not fit.
pub(crate) fn side_by_side(
    style: Style,
    pieces: &[(Option<Tone>, String)],
    gap: &str,
    hanging: &str,
) -> String {
    let total: usize = pieces.iter().map(|(_, text)| escape(text).width()).sum();
    let total = total + pieces.len().saturating_sub(1) * gap.width();
    if style.width.is_none_or(|width| total <= width) {
        let painted = pieces
            .iter()
            .map(|(tone, text)| tone.map_or_else(|| escape(text), |tone| style.paint(tone, text)));
        return painted.collect::<Vec<_>>().join(gap) + "\n";
    }
    let lines = pieces.iter().enumerate().map(|(i, piece)| {
        let indent = if i == 0 { "" } else { hanging };
        parts(style, indent, std::slice::from_ref(piece), hanging)
    });
    lines.collect()
}

/// Pieces with a space between them, wrapped at spaces.
pub(crate) fn parts(
    style: Style,
    indent: &str,
    pieces: &[(Option<Tone>, String)],
    hanging: &str,
) -> String {
    let mut text = indent.to_owned();
    let (mut at, mut start) = (indent.width(), indent.width());
    for (i, (tone, piece)) in pieces.iter().enumerate() {
        let mut line = String::new();
        let mut gap = usize::from(i > 0);
        let paint =
            |line: &str| tone.map_or_else(|| line.to_owned(), |tone| style.paint(tone, line));
        for word in escape(piece).split(' ') {
            let room = style.width.unwrap_or(usize::MAX);
            if at > start && at + gap + word.width() > room {
                text.push_str(&paint(line.trim_end()));
                line.clear();
                text.truncate(text.trim_end().len());
                text.push('\n');
                text.push_str(hanging);
                (at, start, gap) = (hanging.width(), hanging.width(), 0);
            }
            if gap > 0 {
                if line.is_empty() {
                    text.push(' ');
                } else {
                    line.push(' ');
                }
            }
            line.push_str(word);
            at += gap + word.width();
            gap = 1;
        }
        text.push_str(&paint(&line));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{Style, Tone, cut, paragraph, side_by_side, wrapped};

    fn narrow(width: usize) -> Style {
        Style {
            width: Some(width),
            ..Style::default()
        }
    }

    #[test]
    fn text_is_broken_at_spaces_alone() {
        assert_eq!(
            wrapped("a/long/name and more", 8),
            ["a/long/name", "and more"]
        );
        assert_eq!(wrapped("fits", 8), ["fits"]);
        assert_eq!(
            paragraph(narrow(12), Tone::Bad, "  ", "one two three", "    "),
            "  one two\n    three\n"
        );
        assert_eq!(
            paragraph(Style::default(), Tone::Bad, "", "one two", ""),
            "one two\n"
        );
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("日本語", 4), "日…");
    }

    #[test]
    fn pieces_stand_beside_each_other_or_each_in_its_line() {
        let pieces = [
            (None, "Gateway a".to_owned()),
            (None, "hosts b c".to_owned()),
        ];
        assert_eq!(
            side_by_side(narrow(30), &pieces, "   ", "  "),
            "Gateway a   hosts b c\n"
        );
        assert_eq!(
            side_by_side(narrow(10), &pieces, "   ", "  "),
            "Gateway a\n  hosts b\n  c\n"
        );
    }
}
