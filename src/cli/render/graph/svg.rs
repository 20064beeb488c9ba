//! The graph as a picture.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cells::Cells;
use super::layout::{Layout, Point, lay_out};
use super::{Picture, home};
use crate::answer::graph::{Link, Node, Role};

mod legend;
mod rows;
mod text;

use text::marked;
pub(crate) use text::{number, text_of};

/// Colours and type, for the picture and for the page.
pub(crate) const STYLE: &str = include_str!("svg/picture.css");

/// Around the whole picture.
const MARGIN: f64 = 24.0;
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
            marked(STYLE),
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
