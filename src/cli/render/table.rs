//! Columns under headings, as kubectl prints them, within the width of the terminal.

use unicode_width::UnicodeWidthStr as _;

use super::style::{Style, Tone};
use crate::engine::verdict::escape;

/// Spaces between columns.
const GAP: usize = 3;
/// A column is not made narrower than this.
const NARROWEST: usize = 16;

/// A table. Cells are escaped when it is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Option<Tone>,
}

// === impl Cell ===

impl Cell {
    /// Text in a tone.
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            text: text.into(),
            tone: Some(tone),
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            tone: None,
        }
    }
}

// === impl Table ===

impl Table {
    /// A table with these headings; none for a list without.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            headings: headings.iter().map(|h| (*h).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    /// Adds a row of as many cells as there are.
    pub(crate) fn cells(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, each after `indent`. What is too wide for the terminal goes on in the next line of
    /// its own column; no name is cut.
    pub(crate) fn show(&self, style: Style, indent: &str) -> String {
        let heading = |text: &String| Cell::toned(text.clone(), Tone::Heading);
        let headings: Vec<Cell> = self.headings.iter().map(heading).collect();
        let rows = std::iter::once(&headings).filter(|row| !row.is_empty());
        let rows: Vec<&Vec<Cell>> = rows.chain(&self.rows).collect();
        let widths = widths(&rows, style.width.map(|w| w.saturating_sub(indent.len())));
        let mut text = String::new();
        for row in rows {
            let cells: Vec<(Vec<String>, Option<Tone>)> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| (wrapped(&escape(&cell.text), *width), cell.tone))
                .collect();
            let height = cells.iter().map(|(lines, _)| lines.len()).max();
            for i in 0..height.unwrap_or(0) {
                let mut line = indent.to_owned();
                let mut behind = 0;
                for ((lines, tone), width) in cells.iter().zip(&widths) {
                    let part = lines.get(i).map_or("", String::as_str);
                    if !part.is_empty() {
                        line.push_str(&" ".repeat(behind));
                        behind = 0;
                        match tone {
                            Some(tone) => line.push_str(&style.paint(*tone, part)),
                            None => line.push_str(part),
                        }
                    }
                    behind += width.saturating_sub(part.width()) + GAP;
                }
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }
}

/// The width of each column; the widest give way where the terminal is too narrow.
fn widths(rows: &[&Vec<Cell>], room: Option<usize>) -> Vec<usize> {
    let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| escape(&cell.text).width()).max()
    };
    let mut widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let Some(room) = room else { return widths };
    let room = room.saturating_sub(columns.saturating_sub(1) * GAP);
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => break,
        }
    }
    widths
}

/// Text in lines of at most this width, broken at spaces, and where there are none behind `/`, `.`
/// and `,`. A word without any stays whole.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in text.split_inclusive([' ', '/', '.', ',']) {
        if !line.is_empty() && line.width() + piece.trim_end().width() > width {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        line.push_str(piece);
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::{Style, Table};

    fn table() -> Table {
        let mut table = Table::new(&["POLICY", "FROM"]);
        table.row([
            "infra/edge-retries-of-everything".into(),
            "Gateway a/b".into(),
        ]);
        table.row(["x\u{1b}[31m\ny".into(), "ü".into()]);
        table
    }

    #[test]
    fn columns_are_aligned_and_escaped() {
        let text = table().show(Style::default(), "");
        assert_eq!(
            text,
            "POLICY                             FROM\n\
             infra/edge-retries-of-everything   Gateway a/b\n\
             x\\u{1b}[31m\\u{a}y                  ü\n"
        );
    }

    #[test]
    fn a_narrow_terminal_is_respected() {
        let style = Style {
            width: Some(34),
            colour: false,
        };
        let text = table().show(style, "");
        assert!(
            text.contains("infra/\n") || text.contains("infra/ "),
            "{text}"
        );
        assert!(text.contains("edge-retries-of-everything"), "{text}");
    }
}
