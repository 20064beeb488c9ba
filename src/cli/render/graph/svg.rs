//! The graph as an SVG picture.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::Picture;
use super::cells::Cells;
use super::layout::{Layout, Point, lay_out, lay_out_in_layers};
use super::rows::Content;
use crate::answer::graph::{Graph, Link, Node, Role};
use crate::engine::model::ids::ObjectKey;

mod legend;
mod rows;
mod spaces;
pub(crate) mod text;

use text::marked;
pub(crate) use text::{number, text_of};

/// The colours, for the picture and the page.
pub(crate) const STYLE: &str = include_str!("svg/picture.css");
/// The fonts, for the picture only: it must work with the fonts of any viewer.
const TYPE: &str = include_str!("svg/type.css");

/// The space around the picture.
const MARGIN: f64 = 24.0;
/// The distance by which a curve between boxes of one layer extends.
const BOW: f64 = 40.0;
/// The number of colours for Gateways.
const LANES: usize = 8;
/// The limit of curves for overrides; with more, only the policies' own rows show them.
const MOST_CURVES: usize = 24;

/// The ids of the policies that override another.
type Winners<'a> = &'a [Arc<str>];

/// A picture of more objects than this is drawn by namespaces if it is wider or taller than [`FITTING`]: its text would be
/// too small to read on one screen.
const MAX_BLOCKS_WITHOUT_NAMESPACES: usize = 24;
/// The width and height that a picture of all objects may have.
pub(crate) const FITTING: f64 = 1600.0;

/// A picture with all boxes placed.
#[derive(Debug)]
pub(crate) struct Drawing<'a> {
    picture: &'a Picture<'a>,
    /// Whether only Gateways are drawn, and the namespaces of the other objects.
    pub(crate) is_by_namespace: bool,
    cells: Cells<'a>,
    layout: Layout,
    /// The colour of each Gateway.
    lanes: BTreeMap<&'a ObjectKey, usize>,
}

// === impl Drawing ===

impl<'a> Drawing<'a> {
    /// Lays out a picture; with all objects if `full`, or if they fit.
    pub(crate) fn new(picture: &'a Picture<'a>, full: bool) -> Self {
        let mut cells = Cells::new(picture);
        let mut layout = lay_out(&cells.blocks(), &cells.wires);
        let is_large = layout.width.max(layout.height) + 2.0 * MARGIN > FITTING;
        let few = objects(picture.graph) <= MAX_BLOCKS_WITHOUT_NAMESPACES;
        let by_namespace = Some(picture).filter(|_| is_large && !few && !full);
        let by_namespace = by_namespace.and_then(Cells::by_namespace);
        let is_by_namespace = by_namespace.is_some();
        if let Some(combined) = by_namespace {
            cells = combined;
            layout = lay_out_in_layers(&cells.blocks(), &cells.wires);
        }
        let gateways = picture.nodes().map(|(_, node)| node);
        let gateways = gateways.filter(|node| node.role == Role::Gateway && !node.missing);
        let gateways = gateways.map(|node| &node.object.0.object).enumerate();
        Self {
            picture,
            is_by_namespace,
            cells,
            layout,
            lanes: gateways.map(|(i, key)| (key, i % LANES)).collect(),
        }
    }

    /// The whole file.
    pub(crate) fn svg(&self) -> String {
        let legend = legend::Legend::new(self);
        let curves = if self.overrides().is_empty() {
            0.0
        } else {
            BOW
        };
        let width = (self.layout.width + curves).max(legend::WIDTH) + 2.0 * MARGIN;
        let legend_y = self.layout.height + 2.0 * MARGIN;
        let height = legend_y + legend.height(width - 2.0 * MARGIN) + MARGIN;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attache\" role=\"img\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\">\n<title>{}</title>\n<style>{}{}</style>\n<rect class=\"ground\" width=\"{w}\" height=\"{h}\"/>\n",
            title(self.picture.graph),
            marked(STYLE),
            marked(TYPE),
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

    /// The colour of a Gateway.
    fn lane(&self, object: &ObjectKey) -> Option<usize> {
        self.lanes.get(object).copied()
    }

    /// The wires, the boxes above them, and the curves between policies.
    fn body(&self, text: &mut String) {
        text.push_str("<g class=\"wires\">\n");
        let wires = self.layout.wires.iter().zip(&self.cells.edges);
        for ((points, edge), (from, _)) in wires.zip(&self.cells.ends) {
            let from = self.picture.node(*from);
            let lane = from.and_then(|node| self.lane(&node.object.0.object));
            let class = match (edge.link, lane) {
                (Link::Rejected, _) => "wire rejected".to_owned(),
                (_, Some(lane)) => format!("wire lane{lane}"),
                (_, None) => "wire".to_owned(),
            };
            let _ = write!(text, "<path class=\"{class}\" d=\"{}\">", path(points));
            if let Some(reason) = &edge.reason {
                let _ = write!(text, "<title>{}</title>", text_of(reason));
            }
            text.push_str("</path>\n");
        }
        text.push_str("</g>\n");
        for (cell, corner) in self.cells.boxes.iter().zip(&self.layout.blocks) {
            self.cell(cell, *corner, text);
        }
        text.push_str("<g class=\"arcs\">\n");
        for (winner, loser) in self.overrides() {
            curve(winner, loser, text);
        }
        text.push_str("</g>\n");
    }

    /// The positions of overriding policies, each with a policy that it overrides in the same column; curves to other
    /// columns would cross boxes. Empty if there are too many.
    fn overrides(&self) -> Vec<(Point, Point)> {
        let mut places: BTreeMap<&str, Vec<(Point, Winners<'_>)>> = BTreeMap::new();
        for (cell, corner) in self.cells.boxes.iter().zip(&self.layout.blocks) {
            for row in &cell.rows {
                let Content::Policy(chip) = &row.content else {
                    continue;
                };
                let at = Point {
                    x: corner.x + cell.width - 8.0,
                    y: corner.y + row.top + row.height / 2.0,
                };
                let by = chip.step.map_or(&[][..], |step| &step.edge.by);
                places.entry(&chip.node.id).or_default().push((at, by));
            }
        }
        let mut lines = Vec::new();
        for (loser, by) in places.values().flatten() {
            for winners in by.iter().filter_map(|id| places.get(&**id)) {
                let near = winners.iter().map(|(winner, _)| *winner);
                let near = near.filter(|winner| (winner.x - loser.x).abs() < 1.0);
                lines.extend(near.map(|winner| (winner, *loser)));
            }
        }
        if lines.len() > MOST_CURVES {
            lines.clear();
        }
        lines
    }
}

/// A curve with an arrowhead from a policy to one that it overrides.
fn curve(winner: Point, loser: Point, text: &mut String) {
    let out = winner.x.max(loser.x) + BOW;
    let _ = writeln!(
        text,
        "<path class=\"arc\" d=\"M{x} {y}C{out} {y} {out} {to_y} {end} {to_y}\"/>\n<path class=\"arc-head\" d=\"M{to_x} {to_y}l8 -4v8z\"/>",
        x = number(winner.x),
        y = number(winner.y),
        out = number(out),
        to_x = number(loser.x),
        to_y = number(loser.y),
        end = number(loser.x + 6.0),
    );
}

/// A summary of the picture in one line.
pub(crate) fn title(graph: &Graph) -> String {
    let count =
        |counts: &dyn Fn(&Node) -> bool| graph.nodes.iter().filter(|node| counts(node)).count();
    let policies = count(&|node| node.role == Role::Policy);
    let counted = |number: usize, one: &str, more: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {more}"),
    };
    let objects = counted(objects(graph), "object", "objects");
    let policies = counted(policies, "policy", "policies");
    format!("{objects} and {policies}")
}

fn objects(graph: &Graph) -> usize {
    let nodes = graph.nodes.iter();
    let objects = nodes.filter(|node| node.role != Role::Policy && node.object.0.section.is_none());
    objects.count()
}

/// A line through points, curved where the height changes.
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
                // A wire within a layer forms a bow.
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
