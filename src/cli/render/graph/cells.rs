//! The boxes of a picture: an object with its policies, its sections and their policies, row by row; and the wires
//! between the rows.

use super::layout::{Block, Wire};
use super::rows::{INSET, Row, Writer};
use super::spaces::Spaces;
use super::{Picture, Step};
use crate::answer::graph::{Edge, Link, Node, Role};

/// The middle of the heading of a box, from its top.
const HEAD_MIDDLE: f64 = 11.0;
/// The space below the last row.
const FOOT: f64 = 6.0;
/// The minimum width of a box.
const NARROWEST: f64 = 120.0;
/// The limit of policies shown in one place; the others are counted.
const MOST_CHIPS: usize = 8;

/// A box.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// Its rows, from the top.
    pub rows: Vec<Row<'a>>,
    pub height: f64,
    pub width: f64,
    layer: usize,
}

/// The boxes of a picture, and the wires between them.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    pub boxes: Vec<Cell<'a>>,
    pub wires: Vec<Wire>,
    /// The edge of each wire.
    pub edges: Vec<&'a Edge>,
    /// The nodes that each wire connects.
    pub ends: Vec<(usize, usize)>,
}

/// For each node, its box and the vertical middle of its row.
type Anchors = Vec<Option<(usize, f64)>>;

// === impl Cells ===

impl<'a> Cells<'a> {
    /// Arranges a picture in boxes.
    pub(crate) fn new(picture: &Picture<'a>) -> Self {
        let writer = Writer::new(picture);
        let mut anchors: Anchors = vec![None; picture.nodes().count()];
        let mut boxes: Vec<Cell<'a>> = Vec::new();
        for (number, node) in picture.nodes() {
            if has_cell(picture, number, node) {
                let cell = Cell::from_node(&writer, picture, number, node);
                cell.anchor(boxes.len(), &mut anchors);
                // A section without a row shares the row of its object.
                for section in sections(picture, number) {
                    let own = anchors.get(number).copied().flatten();
                    if let Some(anchor) = anchors.get_mut(section) {
                        *anchor = anchor.or(own);
                    }
                }
                boxes.push(cell);
            }
        }
        let idle: Vec<usize> = picture
            .nodes()
            .filter(|(_, node)| node.reason.is_some())
            .map(|(number, _)| number)
            .collect();
        boxes.extend(
            idle.chunks(MOST_CHIPS)
                .map(|policies| Cell::of_idle(&writer, policies)),
        );
        align(&mut boxes);
        let mut all = Self {
            boxes,
            wires: Vec::new(),
            edges: Vec::new(),
            ends: Vec::new(),
        };
        for (number, _) in picture.nodes() {
            for step in picture.below(number) {
                all.wire(picture, number, *step, &anchors);
            }
        }
        all
    }

    /// Arranges the Gateways of a picture in boxes, and the namespaces of all other objects in one box for each set of
    /// listeners that leads to them.
    pub(crate) fn by_namespace(picture: &Picture<'a>) -> Option<Self> {
        let spaces = Spaces::from_picture(picture)?;
        let is_drawn = |number: usize| spaces.drawn.get(number) == Some(&true);
        let writer = Writer::new(picture);
        let mut anchors: Anchors = vec![None; picture.nodes().count()];
        let mut boxes: Vec<Cell<'a>> = Vec::new();
        let objects = picture.nodes().filter(|(number, _)| is_drawn(*number));
        for (number, node) in objects.filter(|(_, node)| node.object.0.section.is_none()) {
            let cell = Cell::from_node(&writer, picture, number, node);
            cell.anchor(boxes.len(), &mut anchors);
            boxes.push(cell);
        }
        let first = boxes.len();
        for group in &spaces.groups {
            let mut cell = Cell::empty(2);
            cell.add(writer.spaces(&group.spaces, !group.parents.is_empty()));
            cell.height += FOOT;
            boxes.push(cell);
        }
        align(&mut boxes);
        let mut all = Self {
            boxes,
            wires: Vec::new(),
            edges: Vec::new(),
            ends: Vec::new(),
        };
        for (number, _) in picture.nodes().filter(|(number, _)| is_drawn(*number)) {
            for step in picture
                .below(number)
                .iter()
                .filter(|step| is_drawn(step.node))
            {
                all.wire(picture, number, *step, &anchors);
            }
        }
        for (i, group) in spaces.groups.iter().enumerate() {
            for (number, edge) in &group.parents {
                let Some((from, from_y)) = anchors.get(*number).copied().flatten() else {
                    continue;
                };
                all.wires.push(Wire {
                    from,
                    from_y,
                    to: first + i,
                    to_y: HEAD_MIDDLE,
                    leads: true,
                });
                all.edges.push(edge);
                all.ends.push((*number, *number));
            }
        }
        Some(all)
    }

    /// The boxes as input of the layout.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let block = |cell: &Cell<'_>| Block {
            width: cell.width,
            height: cell.height,
            layer: cell.layer,
        };
        self.boxes.iter().map(block).collect()
    }

    fn wire(&mut self, picture: &Picture<'a>, number: usize, step: Step<'a>, anchors: &Anchors) {
        let anchor = |number: usize| anchors.get(number).copied().flatten();
        if step.edge.link == Link::Contains {
            return;
        }
        if let (Some((from, from_y)), Some((to, to_y))) = (anchor(number), anchor(step.node)) {
            let layer = |number| {
                picture
                    .node(number)
                    .map(|node| layer(picture, number, node))
            };
            self.wires.push(Wire {
                from,
                from_y,
                to,
                to_y,
                // A rejected reference may point anywhere, so it only shapes the layout if it points to the right.
                leads: step.edge.link != Link::Rejected || layer(number) < layer(step.node),
            });
            self.edges.push(step.edge);
            self.ends.push((number, step.node));
        }
    }
}

/// Gives the boxes of one layer the same width, so that they form a column.
fn align(boxes: &mut [Cell<'_>]) {
    let widest = |layer: usize, boxes: &[Cell<'_>]| {
        let own = boxes.iter().filter(|cell| cell.layer == layer);
        own.map(|cell| cell.width).fold(NARROWEST, f64::max)
    };
    for layer in 0..=4 {
        let width = widest(layer, boxes);
        for cell in boxes.iter_mut().filter(|cell| cell.layer == layer) {
            cell.width = width;
        }
    }
}

/// Whether a node has its own box: objects, and policies that others refer to.
fn has_cell(picture: &Picture<'_>, number: usize, node: &Node) -> bool {
    let is_named = picture.has_above(number)
        || picture.is_refused(number)
        || !picture.policies(number).is_empty();
    node.object.0.section.is_none() && (node.role != Role::Policy || is_named)
}

/// The sections of an object.
fn sections<'a>(picture: &'a Picture<'_>, number: usize) -> impl Iterator<Item = usize> + 'a {
    let steps = picture.below(number).iter();
    let sections = steps.filter(|step| step.edge.link == Link::Contains);
    sections.map(|step| step.node)
}

/// Whether a section needs no row: it is the only one, has no policies, and is a port, or an unnamed rule that matches
/// everything.
fn is_plain(picture: &Picture<'_>, number: usize, section: usize) -> bool {
    let Some(node) = picture.node(section) else {
        return false;
    };
    let is_alone = sections(picture, number).nth(1).is_none();
    let takes_all = match &*node.facts.matches {
        [] => true,
        [one] => one == "PathPrefix /" || one == "everything",
        _ => false,
    };
    let is_unnamed = match node.role {
        Role::Port => true,
        Role::Rule => node.object.0.section.as_deref() == Some("rule-1") && takes_all,
        _ => false,
    };
    let is_refused = |step: &Step<'_>| step.edge.link == Link::Rejected;
    is_alone
        && is_unnamed
        && !node.missing
        && picture.policies(section).is_empty()
        && !picture.below(section).iter().any(is_refused)
}

/// The lowest layer of a box, so that objects of one kind share a column if possible.
fn layer(picture: &Picture<'_>, number: usize, node: &Node) -> usize {
    let is_above = |step: &Step<'_>| step.edge.link != Link::Contains;
    match node.role {
        Role::Namespace | Role::GatewayClass => 0,
        Role::Gateway | Role::Frontend => 1,
        Role::ListenerSet => 2,
        Role::Listener | Role::Route | Role::Rule => 3,
        // An object that a route has as parent, whatever its kind.
        Role::Backend if picture.below(number).iter().any(is_above) => 1,
        Role::Backend | Role::Port | Role::Policy => 4,
    }
}

// === impl Cell ===

impl<'a> Cell<'a> {
    fn from_node(
        writer: &Writer<'a, '_>,
        picture: &Picture<'a>,
        number: usize,
        node: &'a Node,
    ) -> Self {
        let mut cell = Self::empty(layer(picture, number, node));
        cell.add(writer.object(number, node));
        cell.policies(writer, picture, number);
        for section in sections(picture, number) {
            if !is_plain(picture, number, section) {
                cell.add(writer.section(section));
                cell.policies(writer, picture, section);
            }
        }
        cell.height += FOOT;
        cell
    }

    fn of_idle(writer: &Writer<'a, '_>, policies: &[usize]) -> Self {
        let mut cell = Self::empty(0);
        cell.add(vec![writer.heading("not attached")]);
        for policy in policies {
            cell.add(writer.idle(*policy));
        }
        cell.height += FOOT;
        cell
    }

    fn empty(layer: usize) -> Self {
        Self {
            rows: Vec::new(),
            height: 0.0,
            width: NARROWEST,
            layer,
        }
    }

    fn policies(&mut self, writer: &Writer<'a, '_>, picture: &Picture<'a>, number: usize) {
        let policies = picture.policies(number);
        let shown = if policies.len() > MOST_CHIPS {
            MOST_CHIPS - 1
        } else {
            MOST_CHIPS
        };
        for step in policies.iter().take(shown) {
            self.add(vec![writer.policy(*step)]);
        }
        if policies.len() > shown {
            let line = format!("and {} more policies", policies.len() - shown);
            self.add(vec![writer.heading(&line)]);
        }
    }

    fn add(&mut self, rows: Vec<Row<'a>>) {
        for mut row in rows {
            row.top = self.height;
            self.height += row.height;
            self.width = self.width.max(row.width + 2.0 * INSET);
            self.rows.push(row);
        }
    }

    fn anchor(&self, cell: usize, anchors: &mut Anchors) {
        for row in &self.rows {
            if let Some(anchor) = row.anchor().and_then(|number| anchors.get_mut(number)) {
                *anchor = Some((cell, row.top + row.height / 2.0));
            }
        }
    }
}
