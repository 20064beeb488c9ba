//! The terminal: colours where they are wanted, and how wide it is.

use std::env;
use std::io::{self, IsTerminal as _};

use anstyle::{AnsiColor, Effects};

use crate::engine::verdict::escape;

/// How text is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Whether colours are wanted.
    pub colour: bool,
    /// Columns of the terminal; none where lines may be of any length.
    pub width: Option<usize>,
}

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A heading.
    Heading,
    /// All is well.
    Good,
    /// It should be looked at.
    Warning,
    /// It is wrong.
    Bad,
    /// It matters less.
    Faint,
}

// === impl Style ===

impl Style {
    /// That of the standard output: plain where it is no terminal or `NO_COLOR` is set.
    pub(crate) fn of_stdout() -> Self {
        if !io::stdout().is_terminal() {
            return Self::default();
        }
        let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self {
            colour: !set("NO_COLOR") && !dumb,
            width,
        }
    }

    /// Text that comes from users, safe for a terminal, in a tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let text = escape(text);
        if !self.colour || text.is_empty() {
            return text;
        }
        let style = match tone {
            Tone::Heading => anstyle::Style::new().effects(Effects::BOLD),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warning => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
            Tone::Faint => anstyle::Style::new().effects(Effects::DIMMED),
        };
        format!("{style}{text}{style:#}")
    }
}
