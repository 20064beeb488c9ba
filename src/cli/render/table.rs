//! Tables like kubectl's, within the width of the terminal.
//!
//! Words are never broken. On a narrow terminal, the following give way in this order, and no more than needed: the
//! gaps between columns; columns of sentences, which go below their rows; columns that may be dropped, in the table's
//! order; then cells wrap at spaces; finally each row becomes a list of its cells.

use unicode_width::UnicodeWidthStr as _;

use super::style::{Style, Tone};
use super::text::{cut, wrapped};
use crate::engine::admission::verdict::escape;

mod layout;

use layout::{Form, form};

/// The indent of lines below a row.
const BELOW: &str = "    ";

/// A table. Cells are escaped when they are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    headings: Vec<String>,
    /// The headings of columns that may go below their rows; the last goes first.
    sentences: Vec<&'static str>,
    /// The headings of columns that may be dropped, in this order.
    dropping: Vec<&'static str>,
    rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Debug)]
enum Row {
    /// A title above the rows that follow.
    Title(String),
    /// Cells, and lines below them.
    Cells(Vec<Cell>, Vec<String>),
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Option<Tone>,
}

// === impl Cell ===

impl Cell {
    /// Text in a tone.
    pub(crate) fn toned(text: impl AsRef<str>, tone: Tone) -> Self {
        Self {
            text: escape(text.as_ref()),
            tone: Some(tone),
        }
    }

    fn painted(&self, style: Style, part: &str) -> String {
        match self.tone {
            Some(tone) => style.paint(tone, part),
            None => part.to_owned(),
        }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: escape(text.as_ref()),
            tone: None,
        }
    }
}

// === impl Table ===

impl Table {
    /// A table with these headings; empty for no headings.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            headings: headings.iter().map(|h| (*h).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Sets the columns of sentences: they go below their rows if they do not fit. A column of sentences without text
    /// is hidden.
    pub(crate) fn sentences(mut self, headings: &[&'static str]) -> Self {
        self.sentences = headings.to_vec();
        self
    }

    /// Sets the columns that may be dropped, in this order.
    pub(crate) fn dropping(mut self, headings: &[&'static str]) -> Self {
        self.dropping = headings.to_vec();
        self
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.cells(cells.into());
    }

    /// Adds a row with any number of cells.
    pub(crate) fn cells(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row::Cells(cells, Vec::new()));
    }

    /// Adds a title above the rows that follow.
    pub(crate) fn title(&mut self, title: &str) {
        self.rows.push(Row::Title(escape(title)));
    }

    /// Adds lines below the last row, such as those of a YAML value.
    pub(crate) fn below(&mut self, added: impl IntoIterator<Item = String>) {
        if let Some(Row::Cells(_, lines)) = self.rows.last_mut() {
            lines.extend(added.into_iter().map(|line| escape(&line)));
        }
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The headings of the columns that do not fit on the terminal.
    pub(crate) fn dropped(&self, style: Style, indent: &str) -> Vec<&str> {
        let Form::Columns { shown, below, .. } = form(self, room(style, indent)) else {
            return Vec::new();
        };
        let is_dropped = |column: &usize| {
            !shown.contains(column) && !below.contains(column) && self.is_used(*column)
        };
        let columns = (0..self.headings.len()).filter(is_dropped);
        columns
            .filter_map(|column| self.headings.get(column).map(String::as_str))
            .collect()
    }

    /// The lines of the table, each after `indent`.
    pub(crate) fn show(&self, style: Style, indent: &str) -> String {
        let mut text = String::new();
        let before = indent;
        // Rows are indented below their titles.
        let has_titles = self.rows.iter().any(|row| matches!(row, Row::Title(_)));
        let indent = &format!("{indent}{}", if has_titles { "  " } else { "" });
        let form = form(self, room(style, indent));
        if let Form::Columns {
            shown, widths, gap, ..
        } = &form
            && !self.headings.is_empty()
        {
            let headings: Vec<Cell> = self
                .headings
                .iter()
                .map(|text| Cell::toned(text, Tone::Heading))
                .collect();
            columns(&mut text, &headings, shown, widths, *gap, style, indent);
        }
        let mut is_first = true;
        for row in &self.rows {
            match (row, &form) {
                (Row::Title(title), _) => {
                    text.push_str(before);
                    text.push_str(&style.paint(Tone::Heading, title));
                    text.push('\n');
                }
                (
                    Row::Cells(cells, lines),
                    Form::Columns {
                        shown,
                        below,
                        widths,
                        gap,
                    },
                ) => {
                    columns(&mut text, cells, shown, widths, *gap, style, indent);
                    for column in below {
                        self.sentence(&mut text, cells, *column, style, indent);
                    }
                    more(&mut text, lines, style, indent);
                }
                (Row::Cells(cells, lines), Form::Records) => {
                    if !is_first && !self.headings.is_empty() {
                        text.push('\n');
                    }
                    self.record(&mut text, cells, style, indent);
                    more(&mut text, lines, style, indent);
                    is_first = false;
                }
            }
        }
        text
    }

    /// Whether a column is shown: all are, except columns of sentences without text.
    fn is_used(&self, column: usize) -> bool {
        let heading = self.headings.get(column);
        let is_sentence = heading.is_some_and(|heading| self.sentences.contains(&heading.as_str()));
        let mut cells = self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells, _) => cells.get(column),
            Row::Title(_) => None,
        });
        !is_sentence || cells.any(|cell| !cell.text.is_empty())
    }

    /// Writes a cell below its row.
    fn sentence(
        &self,
        text: &mut String,
        cells: &[Cell],
        column: usize,
        style: Style,
        indent: &str,
    ) {
        let (Some(cell), Some(heading)) = (cells.get(column), self.headings.get(column)) else {
            return;
        };
        if cell.text.is_empty() {
            return;
        }
        let label = format!("{}: ", heading.to_lowercase());
        let before = format!("{indent}{BELOW}");
        let room = style
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(before.len()));
        for (i, line) in wrapped(&format!("{label}{}", cell.text), room)
            .iter()
            .enumerate()
        {
            text.push_str(&before);
            match line.strip_prefix(&label).filter(|_| i == 0) {
                Some(remaining) => {
                    text.push_str(&style.paint(Tone::Faint, &label));
                    text.push_str(&cell.painted(style, remaining));
                }
                None => text.push_str(&cell.painted(style, line)),
            }
            text.push('\n');
        }
    }

    /// Writes a row as a list of its cells, each after its heading.
    fn record(&self, text: &mut String, cells: &[Cell], style: Style, indent: &str) {
        let longest = self
            .headings
            .iter()
            .map(|heading| heading.width())
            .max()
            .unwrap_or(0);
        for (column, cell) in cells.iter().enumerate() {
            if cell.text.is_empty() {
                continue;
            }
            let heading = self.headings.get(column).map_or("", String::as_str);
            let gap = if longest == 0 { 0 } else { 2 };
            let room =
                room(style, indent).map_or(usize::MAX, |room| room.saturating_sub(longest + gap));
            for (i, line) in wrapped(&cell.text, room).iter().enumerate() {
                let label = if i == 0 { heading } else { "" };
                text.push_str(indent);
                text.push_str(&style.paint(Tone::Heading, label));
                text.push_str(&" ".repeat((longest - label.width().min(longest)) + gap));
                text.push_str(&cell.painted(style, line));
                text.push('\n');
            }
        }
    }
}

fn room(style: Style, indent: &str) -> Option<usize> {
    style.width.map(|width| width.saturating_sub(indent.len()))
}

/// Writes one row in columns: as many lines as its tallest cell needs.
fn columns(
    text: &mut String,
    cells: &[Cell],
    shown: &[usize],
    widths: &[usize],
    gap: usize,
    style: Style,
    indent: &str,
) {
    let cells: Vec<(&Cell, Vec<String>, usize)> = shown
        .iter()
        .zip(widths)
        .filter_map(|(column, width)| Some((cells.get(*column)?, *width)))
        .map(|(cell, width)| (cell, wrapped(&cell.text, width), width))
        .collect();
    let height = cells.iter().map(|(_, lines, _)| lines.len()).max();
    for i in 0..height.unwrap_or(0) {
        let mut line = indent.to_owned();
        let mut behind = 0;
        for (cell, lines, width) in &cells {
            let part = lines.get(i).map_or("", String::as_str);
            if !part.is_empty() {
                line.push_str(&" ".repeat(behind));
                behind = 0;
                line.push_str(&cell.painted(style, part));
            }
            behind += width.saturating_sub(part.width()) + gap;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Writes the lines below a row, cut to the width of the terminal unless the style is full.
fn more(text: &mut String, lines: &[String], style: Style, indent: &str) {
    let room = style.width.filter(|_| !style.full);
    let room = room.map_or(usize::MAX, |width| {
        width.saturating_sub(indent.len() + BELOW.len())
    });
    for line in lines {
        text.push_str(indent);
        text.push_str(BELOW);
        text.push_str(&cut(line, room));
        text.push('\n');
    }
}

#[cfg(test)]
mod tests;
