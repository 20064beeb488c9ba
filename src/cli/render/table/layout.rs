//! Chooses the columns of a table and their widths.

use unicode_width::UnicodeWidthStr as _;

use super::{Row, Table};

/// Spaces between columns: the normal gap, and the narrow one.
const GAPS: [usize; 2] = [3, 2];

/// The form of a table.
pub(super) enum Form {
    /// Rows of columns.
    Columns {
        /// The visible columns, by position.
        shown: Vec<usize>,
        /// The columns that go below their rows.
        below: Vec<usize>,
        /// The width of each visible column.
        widths: Vec<usize>,
        /// The spaces between columns.
        gap: usize,
    },
    /// Each row as a list of its cells.
    Records,
}

/// The form of a table in a terminal of `room` columns.
pub(super) fn form(table: &Table, room: Option<usize>) -> Form {
    let count = table.rows.iter().map(|row| row.cells().len()).max();
    let count = count.unwrap_or(0).max(table.headings.len());
    let mut shown: Vec<usize> = (0..count).filter(|column| table.is_used(*column)).collect();
    let mut below = Vec::new();
    let natural = |shown: &[usize]| -> Vec<usize> {
        shown
            .iter()
            .map(|column| table.width(*column, str::width))
            .collect()
    };
    let Some(room) = room else {
        let widths = natural(&shown);
        return Form::Columns {
            shown,
            below,
            widths,
            gap: GAPS[0],
        };
    };
    let place = |heading: &str| table.headings.iter().position(|known| known == heading);
    let sentences = table
        .sentences
        .iter()
        .rev()
        .filter_map(|heading| place(heading))
        .map(|column| (column, true));
    let dropping = table
        .dropping
        .iter()
        .filter_map(|heading| place(heading))
        .map(|column| (column, false));
    let mut giving = sentences.chain(dropping);
    loop {
        let widths = natural(&shown);
        if let Some(gap) = GAPS.into_iter().find(|gap| total(&widths, *gap) <= room) {
            below.sort_unstable();
            return Form::Columns {
                shown,
                below,
                widths,
                gap,
            };
        }
        let Some((column, is_kept)) = giving.next() else {
            break;
        };
        if is_kept && shown.contains(&column) {
            below.push(column);
        }
        shown.retain(|other| *other != column);
    }
    below.sort_unstable();
    let least: Vec<usize> = shown
        .iter()
        .map(|column| table.width(*column, longest_word))
        .collect();
    let gap = GAPS[1];
    if total(&least, gap) > room {
        return Form::Records;
    }
    let mut widths = natural(&shown);
    while total(&widths, gap) > room {
        let wide = widths
            .iter_mut()
            .zip(&least)
            .filter(|(width, least)| **width > **least);
        match wide.map(|(width, _)| width).max() {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    Form::Columns {
        shown,
        below,
        widths,
        gap,
    }
}

fn total(widths: &[usize], gap: usize) -> usize {
    widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * gap
}

fn longest_word(text: &str) -> usize {
    text.split(' ').map(str::width).max().unwrap_or(0)
}

// === impl Table ===

impl Table {
    /// The width of a column by a measure of its cells; headings are never wrapped.
    fn width(&self, column: usize, measure: fn(&str) -> usize) -> usize {
        let heading = self.headings.get(column).map(|heading| heading.width());
        let cells = self.rows.iter().filter_map(|row| row.cells().get(column));
        let cells = cells.map(|cell| measure(&cell.text));
        cells.chain(heading).max().unwrap_or(0)
    }
}

// === impl Row ===

impl Row {
    fn cells(&self) -> &[super::Cell] {
        match self {
            Self::Title(_) => &[],
            Self::Cells(cells, _) => cells,
        }
    }
}
