//! Comments on pull requests: escaped, folded, and within the size limit.

use std::fmt::Write as _;

use crate::engine::admission::verdict::escape;

/// The longest comment, in characters. GitHub allows 65,536; the rest is for what a bot adds.
const MAX_COMMENT_CHARACTERS: usize = 65_000;
/// Space for the line about omitted items and for the end of a fold.
const RESERVED: usize = 200;

/// A comment under construction. Items that do not fit are counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comment {
    text: String,
    length: usize,
    left_out: usize,
}

// === impl Comment ===

impl Comment {
    /// Adds a paragraph. Paragraphs are short and always fit.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.push(&format!("{text}\n\n"));
    }

    /// Adds the items of a list that fit.
    pub(crate) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        for item in items {
            let line = format!("- {item}\n");
            if self.length + line.chars().count() + RESERVED > MAX_COMMENT_CHARACTERS {
                self.left_out += 1;
            } else {
                self.push(&line);
            }
        }
        self.push("\n");
    }

    /// Adds a list that is folded behind its title.
    pub(crate) fn folded(&mut self, title: &str, items: impl IntoIterator<Item = String>) {
        if self.length + title.chars().count() + 2 * RESERVED > MAX_COMMENT_CHARACTERS {
            self.left_out += items.into_iter().count();
            return;
        }
        self.push(&format!("<details><summary>{}</summary>\n\n", text(title)));
        self.list(items);
        self.push("</details>\n\n");
    }

    /// Adds preformatted lines that are folded behind their title.
    pub(crate) fn folded_code(&mut self, title: &str, lines: &str) {
        let room = MAX_COMMENT_CHARACTERS
            .saturating_sub(self.length + title.chars().count() + 2 * RESERVED);
        let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(3.max(longest + 1));
        if lines.chars().count() + 2 * fence.len() > room {
            self.left_out += 1;
            return;
        }
        self.push(&format!(
            "<details><summary>{}</summary>\n\n{fence}text\n{lines}{fence}\n\n</details>\n\n",
            text(title)
        ));
    }

    /// The whole comment.
    pub(crate) fn done(mut self) -> String {
        if self.left_out > 0 {
            let _ = writeln!(
                self.text,
                "And {} more that do not fit into a comment.",
                self.left_out
            );
        }
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        self.text.push('\n');
        self.text
    }

    fn push(&mut self, text: &str) {
        self.length += text.chars().count();
        self.text.push_str(text);
    }
}

/// Escapes text: no markup, no mention of a person, no reference to an issue.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Text as code.
pub(crate) fn code(text: &str) -> String {
    let text = escape(text);
    if text.contains('`') {
        // The fence must be longer than any in the text.
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        return format!("{fence} {text} {fence}");
    }
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::{Comment, MAX_COMMENT_CHARACTERS, code, text};

    #[test]
    fn names_are_no_markup() {
        assert_eq!(text("<b>@team #1 a_b"), "&lt;b&gt;&#64;team &#35;1 a\\_b");
        assert_eq!(text("a\u{1b}[2J"), "a\\\\u{1b}\\[2J");
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
    }

    #[test]
    fn a_comment_is_never_too_long() {
        let mut comment = Comment::default();
        comment.paragraph("title");
        comment.folded("many", (0..10_000).map(|i| format!("finding {i}")));
        comment.folded("more", (0..10_000).map(|i| format!("finding {i}")));
        let done = comment.done();
        assert!(
            done.chars().count() <= MAX_COMMENT_CHARACTERS,
            "{}",
            done.chars().count()
        );
        assert!(
            done.ends_with("more that do not fit into a comment.\n"),
            "{done}"
        );
        assert_eq!(
            done.matches("<details>").count(),
            done.matches("</details>").count()
        );
    }
}
