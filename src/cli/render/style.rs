//! The capabilities of the terminal: colours and width.

use std::env;
use std::io::{self, IsTerminal as _};

use anstyle::{AnsiColor, Effects};
use colorchoice::ColorChoice;

use crate::engine::admission::verdict::escape;

/// The style of text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Whether to use colours.
    pub colour: bool,
    /// Columns of the terminal. `None`: lines of any length.
    pub width: Option<usize>,
    /// Whether long values are shown in full.
    pub full: bool,
}

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing in particular.
    Plain,
    Heading,
    /// All is well.
    Good,
    /// Needs attention.
    Warning,
    /// An error.
    Bad,
    /// Less important.
    Faint,
}

// === impl Style ===

impl Style {
    /// The style of standard output: plain if it is not a terminal or `NO_COLOR` is set, unless `--color` says
    /// otherwise.
    pub(crate) fn of_stdout() -> Self {
        let choice = ColorChoice::global();
        if !io::stdout().is_terminal() {
            return Self {
                colour: matches!(choice, ColorChoice::Always | ColorChoice::AlwaysAnsi),
                ..Self::default()
            };
        }
        let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self {
            colour: match choice {
                ColorChoice::Auto => !set("NO_COLOR") && !dumb,
                ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
                ColorChoice::Never => false,
            },
            width,
            full: false,
        }
    }

    /// The same style, with or without long values in full.
    pub(crate) fn full(self, full: bool) -> Self {
        Self { full, ..self }
    }

    /// The same style with lines of any length.
    pub(crate) fn wide(self) -> Self {
        Self {
            width: None,
            ..self
        }
    }

    /// Paints text from users, escaped for a terminal.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let text = escape(text);
        if !self.colour || text.is_empty() || tone == Tone::Plain {
            return text;
        }
        let style = match tone {
            Tone::Plain => anstyle::Style::new(),
            Tone::Heading => anstyle::Style::new().effects(Effects::BOLD),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warning => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
            Tone::Faint => anstyle::Style::new().effects(Effects::DIMMED),
        };
        format!("{style}{text}{style:#}")
    }
}
