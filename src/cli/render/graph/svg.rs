//! The graph as a picture.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::cells::{Cell, Cells, Content, Row, WIDTH};
use super::layout::{Layout, Point, lay_out};
use super::{Picture, home, label, name};
use crate::answer::graph::{Link, Node, Role};
use crate::engine::verdict::escape;

mod legend;

/// Colours and type, for the picture and for the page.
pub(crate) const STYLE: &str = include_str!("svg/picture.css");

/// Around the whole picture.
const MARGIN: f64 = 24.0;
/// From the side of a box to its text.
const INSET: f64 = 14.0;
/// From the side of a box to a policy in it.
const CHIP_INSET: f64 = 10.0;
/// The width of a character of a text of one pixel in the widest of the fonts.
const ADVANCE: f64 = 0.62;
/// Sizes of type, as in the style.
const LARGE: f64 = 13.0;
const MIDDLE: f64 = 12.0;
const SMALL: f64 = 10.0;
/// How far a wire between boxes of one layer goes out.
const BOW: f64 = 40.0;
/// Namespaces have so many colours.
const HUES: usize = 8;

/// A picture with its boxes in place, ready to be written.
#[derive(Debug)]
pub(crate) struct Drawing<'a> {
    picture: &'a Picture<'a>,
    cells: Cells<'a>,
    layout: Layout,
    /// The colour of each namespace.
    hues: BTreeMap<&'a str, usize>,
    /// Whether it is for a page that can be used.
    live: bool,
}

// === impl Drawing ===

impl<'a> Drawing<'a> {
    /// Draws a picture; `live` is for a page that can be used.
    pub(crate) fn new(picture: &'a Picture<'a>, live: bool) -> Self {
        let cells = Cells::new(picture);
        let layout = lay_out(&cells.blocks(), &cells.wires);
        let mut hues = BTreeMap::new();
        for (_, node) in picture.nodes() {
            if let Some(namespace) = home(node).filter(|_| node.role != Role::Policy) {
                hues.insert(namespace, 0);
            }
        }
        for (i, hue) in hues.values_mut().enumerate() {
            *hue = i % HUES;
        }
        Self {
            picture,
            cells,
            layout,
            hues,
            live,
        }
    }

    /// The whole file.
    pub(crate) fn svg(&self) -> String {
        let legend = legend::Legend::new(&self.hues);
        let width = self.layout.width.max(legend::WIDTH) + 2.0 * MARGIN;
        let legend_y = self.layout.height + 2.0 * MARGIN;
        let height = legend_y + legend.height(width - 2.0 * MARGIN) + MARGIN;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attache\" role=\"img\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\">\n<title>{}</title>\n<style>{}</style>\n<rect class=\"ground\" width=\"{w}\" height=\"{h}\"/>\n",
            self.title(),
            text_of(STYLE),
            w = number(width),
            h = number(height),
        );
        let _ = writeln!(text, "<g transform=\"translate({MARGIN} {MARGIN})\">");
        self.body(&mut text);
        text.push_str("</g>\n");
        let _ = writeln!(
            text,
            "<g transform=\"translate({MARGIN} {})\">\n{}</g>",
            number(legend_y),
            legend.svg(width - 2.0 * MARGIN)
        );
        text.push_str("</svg>\n");
        text
    }

    /// How wide and how high the boxes are together.
    pub(crate) fn size(&self) -> (f64, f64) {
        (self.layout.width, self.layout.height)
    }

    /// What the picture shows, in one line.
    pub(crate) fn title(&self) -> String {
        let count =
            |of: &dyn Fn(&Node) -> bool| self.picture.nodes().filter(|(_, n)| of(n)).count();
        let policies = count(&|node| node.role == Role::Policy);
        let objects = count(&|node| node.role != Role::Policy && node.object.0.section.is_none());
        format!("{objects} objects and {policies} policies")
    }

    /// What shapes and colours mean, as items of a list.
    pub(crate) fn legend_items(&self) -> String {
        legend::Legend::new(&self.hues).items()
    }

    /// The wires, and the boxes on top of them.
    pub(crate) fn body(&self, text: &mut String) {
        text.push_str("<g class=\"wires\">\n");
        let wires = self
            .layout
            .wires
            .iter()
            .zip(&self.cells.edges)
            .zip(&self.cells.ends);
        for ((points, edge), (from, to)) in wires {
            let class = match edge.link {
                Link::Rejected => "wire rejected",
                _ => "wire",
            };
            let ends = if self.live {
                format!(" data-from=\"{from}\" data-to=\"{to}\"")
            } else {
                String::new()
            };
            let _ = write!(
                text,
                "<path class=\"{class}\"{ends} d=\"{}\">",
                path(points)
            );
            if let Some(reason) = &edge.reason {
                let _ = write!(text, "<title>{}</title>", text_of(reason));
            }
            text.push_str("</path>\n");
        }
        text.push_str("</g>\n");
        for (cell, corner) in self.cells.boxes.iter().zip(&self.layout.blocks) {
            self.cell(cell, *corner, text);
        }
    }

    fn cell(&self, cell: &Cell<'_>, corner: Point, text: &mut String) {
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

fn write_text(class: &str, x: f64, y: f64, line: &str, text: &mut String) {
    let _ = writeln!(
        text,
        "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
        number(x),
        number(y),
        text_of(line)
    );
}

/// A line through points, bent where it changes its height.
fn path(points: &[Point]) -> String {
    let mut text = String::new();
    let mut last: Option<&Point> = None;
    for point in points {
        let (x, y) = (number(point.x), number(point.y));
        let _ = match last {
            None => write!(text, "M{x} {y}"),
            Some(last) if (last.y - point.y).abs() < 0.05 => write!(text, "H{x}"),
            Some(last) => {
                let half = (point.x - last.x) / 2.0;
                // One that comes back to where it left makes a bow.
                let (out, back) = if half.abs() < 1.0 {
                    (BOW, -BOW)
                } else {
                    (half, half)
                };
                write!(
                    text,
                    "C{} {} {} {y} {x} {y}",
                    number(last.x + out),
                    number(last.y),
                    number(point.x - back)
                )
            }
        };
        last = Some(point);
    }
    text
}

/// How wide a text is at most.
fn measured(text: &str, size: f64) -> f64 {
    f64::from(u32::try_from(text.width()).unwrap_or(u32::MAX)) * ADVANCE * size
}

/// A text with its middle left out where it has not enough room.
fn fitted(text: &str, size: f64, room: f64) -> String {
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

/// Text for XML and HTML, in elements and between quotes.
pub(crate) fn text_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                out.extend(c.escape_unicode());
            }
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
