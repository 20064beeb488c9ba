//! Writes the boxes of a picture row by row.

use std::fmt::Write as _;

use super::text::{SMALL, measured, number, text_of, write_text};
use super::{Drawing, spaces};
use crate::answer::graph::{Link, Node, Role};
use crate::cli::render::graph::cells::Cell;
use crate::cli::render::graph::label;
use crate::cli::render::graph::layout::Point;
use crate::cli::render::graph::rows::INSET;
use crate::cli::render::graph::rows::{Chip, Content, Row, kind};
use crate::cli::render::graph::states::{CROSS, look};
use crate::engine::admission::verdict::escape;

/// The space between the side of a box and a policy in it.
const CHIP_INSET: f64 = 8.0;

impl Drawing<'_> {
    /// Writes a box with its rows.
    pub(super) fn cell(&self, cell: &Cell<'_>, corner: Point, text: &mut String) {
        let owner = cell.rows.first().and_then(|row| match row.content {
            Content::Object(_, node, _) => Some(node),
            _ => None,
        });
        let has_spaces = |row: &Row<'_>| matches!(row.content, Content::Space(_));
        let mut class = "cell".to_owned();
        if owner.is_none_or(|node| node.missing) && !cell.rows.iter().any(has_spaces) {
            class.push_str(" missing");
        }
        if cell
            .rows
            .iter()
            .any(|row| matches!(row.content, Content::Problem(_)))
        {
            class.push_str(" bad");
        }
        let (x, y) = (number(corner.x), number(corner.y));
        let (width, height) = (number(cell.width), number(cell.height));
        let _ = writeln!(
            text,
            "<g class=\"{class}\" transform=\"translate({x} {y})\">\n<rect class=\"box\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>",
        );
        if let Some(lane) = owner.and_then(|node| self.lane(&node.object.0.object)) {
            let _ = writeln!(
                text,
                "<path class=\"stripe lane{lane}\" d=\"M{} 8V{}\"/>",
                number(cell.width - 4.0),
                number(cell.height - 8.0)
            );
        }
        for row in &cell.rows {
            self.row(row, cell.width, text);
        }
        text.push_str("</g>\n");
    }

    fn row(&self, row: &Row<'_>, width: f64, text: &mut String) {
        match &row.content {
            Content::Object(_, node, names) => self.object(node, names, row, width, text),
            Content::Section(_, node, left, right) => {
                self.open(
                    if node.missing { "part missing" } else { "part" },
                    node,
                    "",
                    text,
                );
                let _ = writeln!(
                    text,
                    "<path class=\"line\" d=\"M0 {}H{width}\"/>",
                    number(row.top)
                );
                write_text("section", INSET, row.top + 15.5, left, text);
                write_text("kind end", width - INSET, row.top + 15.5, right, text);
                text.push_str("</g>\n");
            }
            Content::Policy(chip) => self.chip(chip, row, width, text),
            Content::Problem(lines) => {
                let _ = writeln!(
                    text,
                    "<path class=\"glyph\" d=\"{CROSS}\" transform=\"translate({} {})\"/>",
                    number(INSET - 2.0),
                    number(row.top + 3.0)
                );
                let mut y = row.top + 13.0;
                for line in lines {
                    write_text("problem-text", INSET + 14.0, y, line, text);
                    y += 13.0;
                }
            }
            Content::Space(space) => spaces::row(space, row, width, text),
            Content::Fact(line) => write_text("code", INSET, row.top + 11.0, line, text),
            Content::Heading(line) => write_text("kind", INSET, row.top + 15.0, line, text),
        }
    }

    fn object(&self, node: &Node, names: &[String], row: &Row<'_>, width: f64, text: &mut String) {
        self.open(
            if node.missing { "part missing" } else { "part" },
            node,
            "",
            text,
        );
        let kind = kind(self.picture, node);
        write_text("kind", INSET, row.top + 16.0, &kind, text);
        let namespace = &*node.object.0.object.namespace;
        if node.role != Role::Namespace && !namespace.is_empty() {
            write_text("kind end", width - INSET, row.top + 16.0, namespace, text);
        }
        let mut y = row.top + 33.0;
        for line in names {
            write_text("name", INSET, y, line, text);
            y += 16.0;
        }
        text.push_str("</g>\n");
    }

    fn chip(&self, chip: &Chip<'_>, row: &Row<'_>, width: f64, text: &mut String) {
        let state = chip
            .step
            .map_or(chip.node.state, |step| step.edge.state.or(chip.node.state));
        let look = state.map(look);
        let mut title = state.map_or_else(String::new, |state| format!(", {}", state.as_str()));
        if let Some(step) = chip.step {
            if !step.edge.by.is_empty() {
                let _ = write!(title, ", overridden by {}", step.edge.by.join(", "));
            }
            if let (Link::NotAttached, Some(why)) = (step.edge.link, &step.edge.reason) {
                let _ = write!(title, ", not attached: {why}");
            }
        }
        let class = format!("chip {}", look.map_or("no-effect", |look| look.class));
        self.open(&class, chip.node, &title, text);
        let (room, height) = (width - 2.0 * CHIP_INSET, row.height - 4.0);
        let top = row.top + 1.0;
        let _ = writeln!(
            text,
            "<rect class=\"pill\" x=\"{CHIP_INSET}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
            number(top),
            number(room),
            number(height)
        );
        if let Some(look) = look {
            let _ = writeln!(
                text,
                "<path class=\"glyph\" d=\"{}\" transform=\"translate({} {})\"/>",
                look.glyph,
                number(CHIP_INSET + 4.0),
                number(top + 3.5)
            );
        }
        let start = CHIP_INSET + 20.0;
        let badge = measured(&chip.badge, SMALL);
        let _ = writeln!(
            text,
            "<g class=\"badge\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" rx=\"3\"/>",
            number(start),
            number(top + 2.5),
            number(badge + 6.0)
        );
        write_text("badge-text", start + 3.0, top + 13.0, &chip.badge, text);
        text.push_str("</g>\n");
        let mut y = top + 13.8;
        for line in &chip.names {
            write_text("policy", start + badge + 12.0, y, line, text);
            y += 16.0;
        }
        if !chip.note.is_empty() {
            write_text(
                "note end",
                width - CHIP_INSET - 6.0,
                top + 13.0,
                &chip.note,
                text,
            );
        }
        text.push_str("</g>\n");
    }

    /// Opens the group of a node, with its full name as title.
    fn open(&self, class: &str, node: &Node, more: &str, text: &mut String) {
        let mut title = escape(&label(self.picture, node));
        if node.object.0.section.is_some() {
            let _ = write!(title, " of {}", node.object.0.object);
        }
        if node.missing {
            title.push_str(", does not exist");
        }
        title.push_str(more);
        let _ = writeln!(
            text,
            "<g class=\"{class}\"><title>{}</title>",
            text_of(&title)
        );
    }
}
