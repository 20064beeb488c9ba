//! The boxes of a picture, row by row.

use std::fmt::Write as _;

use super::Drawing;
use super::text::{ADVANCE, LARGE, MIDDLE, SMALL, fitted, measured, number, text_of, write_text};
use crate::answer::graph::{Link, Node, Role};
use crate::cli::render::graph::cells::{Cell, Content, Row, WIDTH};
use crate::cli::render::graph::layout::Point;
use crate::cli::render::graph::{home, label, name};

/// From the side of a box to its text.
const INSET: f64 = 14.0;
/// From the side of a box to a policy in it.
const CHIP_INSET: f64 = 10.0;

impl Drawing<'_> {
    /// A box with all that is in it.
    pub(super) fn cell(&self, cell: &Cell<'_>, corner: Point, text: &mut String) {
        let owner = cell.rows.first().and_then(|row| match row.content {
            Content::Object(node) => self.picture.node(node),
            _ => None,
        });
        let mut class = "cell".to_owned();
        if owner.is_none_or(|node| node.missing) {
            class.push_str(" missing");
        }
        if let Some(hue) = owner.and_then(home).and_then(|name| self.hues.get(name)) {
            let _ = write!(class, " hue{hue}");
        }
        let (x, y) = (number(corner.x), number(corner.y));
        let height = number(cell.height);
        let _ = writeln!(
            text,
            "<g class=\"{class}\" transform=\"translate({x} {y})\">\n<rect class=\"box\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n<path class=\"stripe\" d=\"M5 0H6A6 6 0 0 0 0 6V{bottom}A6 6 0 0 0 6 {height}H5z\"/>",
            bottom = number(cell.height - 6.0),
        );
        for row in &cell.rows {
            self.row(row, text);
        }
        text.push_str("</g>\n");
    }

    fn row(&self, row: &Row<'_>, text: &mut String) {
        match row.content {
            Content::Object(node) => self.object(node, row, text),
            Content::Section(node) => self.section(node, row, text),
            Content::Policy(step) => {
                let reason = step.edge.reason.as_deref();
                let attached = step.edge.link == Link::Attached;
                self.chip(step.node, attached, reason, row, text);
            }
            Content::Idle(node) => {
                let reason = self
                    .picture
                    .node(node)
                    .and_then(|node| node.reason.as_deref());
                self.chip(node, false, reason, row, text);
            }
            Content::More(count) => {
                let line = format!("and {count} more policies");
                write_text("kind", INSET, row.top + 16.0, &line, text);
            }
            Content::Heading => {
                write_text("kind", INSET, row.top + 16.0, "attached to nothing", text);
            }
        }
    }

    fn object(&self, number_of: usize, row: &Row<'_>, text: &mut String) {
        let Some(node) = self.picture.node(number_of) else {
            return;
        };
        self.open("part", number_of, node, None, text);
        write_area(row, 0.0, text);
        let mut kind = self.picture.kind(node);
        if node.role == Role::Frontend {
            kind.push_str(" in the mesh");
        }
        if node.missing {
            kind.push_str(", not there");
        }
        let place = namespace(node).unwrap_or_default();
        let room = WIDTH - 2.0 * INSET;
        // The kind has as much room as the namespace leaves it, which has half at most.
        let place = fitted(place, SMALL, room / 2.0);
        let left = room - measured(&place, SMALL) - ADVANCE * SMALL;
        write_text(
            "kind",
            INSET,
            row.top + 16.0,
            &fitted(&kind, SMALL, left),
            text,
        );
        if !place.is_empty() {
            write_text("kind end", WIDTH - INSET, row.top + 16.0, &place, text);
        }
        let name = fitted(&node.object.0.object.name, LARGE, room);
        write_text("name", INSET, row.top + 33.0, &name, text);
        text.push_str("</g>\n");
    }

    fn section(&self, number_of: usize, row: &Row<'_>, text: &mut String) {
        let Some(node) = self.picture.node(number_of) else {
            return;
        };
        let class = if node.missing { "part missing" } else { "part" };
        self.open(class, number_of, node, None, text);
        write_area(row, 0.0, text);
        let _ = writeln!(
            text,
            "<path class=\"line\" d=\"M6 {y}H{WIDTH}\"/>",
            y = number(row.top)
        );
        let kind = self.picture.kind(node);
        let room = WIDTH - 2.0 * INSET - measured(&kind, SMALL) - ADVANCE * SMALL;
        let label = fitted(&name(node), MIDDLE, room);
        write_text("section", INSET, row.top + 16.0, &label, text);
        write_text("kind end", WIDTH - INSET, row.top + 16.0, &kind, text);
        text.push_str("</g>\n");
    }

    fn chip(
        &self,
        number_of: usize,
        attached: bool,
        reason: Option<&str>,
        row: &Row<'_>,
        text: &mut String,
    ) {
        let Some(node) = self.picture.node(number_of) else {
            return;
        };
        let class = if attached { "chip" } else { "chip refused" };
        self.open(class, number_of, node, reason, text);
        let (width, height) = (WIDTH - 2.0 * CHIP_INSET, row.height - 4.0);
        let top = row.top + 1.0;
        let _ = writeln!(
            text,
            "<rect class=\"pill\" x=\"{CHIP_INSET}\" y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"10\"/>",
            number(top),
            number(height)
        );
        let (x, middle) = (CHIP_INSET + 11.0, top + height / 2.0);
        let _ = writeln!(
            text,
            "<path class=\"mark\" d=\"M{} {}l4 -4l4 4l-4 4z\"/>",
            number(x - 4.0),
            number(middle)
        );
        let start = x + 9.0;
        let room = CHIP_INSET + width - 9.0 - start;
        let kind = fitted(&self.picture.kind(node), SMALL, room * 0.52);
        let left = room - measured(&kind, SMALL) - ADVANCE * SMALL;
        let name = fitted(&node.object.0.object.name, MIDDLE, left);
        write_text("policy", start, top + 14.5, &name, text);
        write_text(
            "kind end",
            CHIP_INSET + width - 9.0,
            top + 14.0,
            &kind,
            text,
        );
        text.push_str("</g>\n");
    }

    /// Begins the group of a node, with its full name.
    fn open(
        &self,
        class: &str,
        number_of: usize,
        node: &Node,
        reason: Option<&str>,
        text: &mut String,
    ) {
        let mut title = label(self.picture, node);
        if node.object.0.section.is_some() {
            let _ = write!(title, " of {}", node.object.0.object);
        }
        if node.missing {
            title.push_str(", not there");
        }
        if let Some(reason) = reason {
            let _ = write!(title, ", not attached: {reason}");
        }
        let title = text_of(&title);
        if self.live {
            let _ = write!(
                text,
                "<g class=\"node {class}\" data-n=\"{number_of}\" tabindex=\"0\" role=\"button\" aria-label=\"{title}\">"
            );
        } else {
            let _ = write!(text, "<g class=\"{class}\">");
        }
        let _ = writeln!(text, "<title>{title}</title>");
    }
}

/// The namespace that a node is in.
fn namespace(node: &Node) -> Option<&str> {
    let namespace = &*node.object.0.object.namespace;
    (!namespace.is_empty() && node.role != Role::Policy).then_some(namespace)
}

/// What can be pointed at.
fn write_area(row: &Row<'_>, inset: f64, text: &mut String) {
    let _ = writeln!(
        text,
        "<rect class=\"area\" x=\"{inset}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        number(row.top),
        number(WIDTH - 2.0 * inset),
        number(row.height)
    );
}
