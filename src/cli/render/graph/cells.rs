//! What stands in the boxes of a picture: an object with its policies, its sections and theirs, row by
//! row; and the wires between the rows.

use super::layout::{Block, Wire};
use super::{Picture, Step};
use crate::answer::graph::{Edge, Link, Node, Role};

/// How wide every box is.
pub(crate) const WIDTH: f64 = 264.0;
/// Heights of rows.
const HEAD: f64 = 40.0;
const SECTION: f64 = 22.0;
const CHIP: f64 = 23.0;
/// Below the last row.
const FOOT: f64 = 6.0;
/// More policies in one place than this are counted, not shown.
const MOST_CHIPS: usize = 8;

/// A box.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// Its rows, from the top.
    pub rows: Vec<Row<'a>>,
    /// How high it is.
    pub height: f64,
    layer: usize,
}

/// A row of a box.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// What it shows.
    pub content: Content<'a>,
    /// Where it begins, from the top of the box.
    pub top: f64,
    /// How high it is.
    pub height: f64,
}

/// What a row shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// The object, by its number.
    Object(usize),
    /// A section of it, by its number.
    Section(usize),
    /// A policy on what stands above it.
    Policy(Step<'a>),
    /// A policy that is attached to nothing, by its number.
    Idle(usize),
    /// So many more policies.
    More(usize),
    /// That what follows is attached to nothing.
    Heading,
}

/// The boxes of a picture, and the wires between them.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    /// The boxes.
    pub boxes: Vec<Cell<'a>>,
    /// The wires.
    pub wires: Vec<Wire>,
    /// The edge of each wire.
    pub edges: Vec<&'a Edge>,
    /// The nodes that each wire joins.
    pub ends: Vec<(usize, usize)>,
}

/// Where a node stands: its box and the middle of its row.
type Anchors = Vec<Option<(usize, f64)>>;

// === impl Cells ===

impl<'a> Cells<'a> {
    /// Puts a picture into boxes.
    pub(crate) fn new(picture: &Picture<'a>) -> Self {
        let mut anchors: Anchors = vec![None; picture.nodes().count()];
        let mut boxes: Vec<Cell<'a>> = Vec::new();
        for (number, node) in picture.nodes() {
            if has_cell(picture, number, node) {
                let cell = Cell::of(picture, number, node);
                cell.anchor(boxes.len(), &mut anchors);
                // What has no row stands in that of its object.
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
        boxes.extend(idle.chunks(MOST_CHIPS).map(Cell::of_idle));
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

    /// The boxes as the layout sees them.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let block = |cell: &Cell<'_>| Block {
            width: WIDTH,
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
                // What does not count may name anything.
                leads: step.edge.link != Link::Rejected || layer(number) < layer(step.node),
            });
            self.edges.push(step.edge);
            self.ends.push((number, step.node));
        }
    }
}

/// Whether a node has a box of its own: objects, and policies that others name.
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

/// Whether a section needs no row: it is the only one, has no policies, and is a port, or a rule that
/// nobody has named.
fn is_plain(picture: &Picture<'_>, number: usize, section: usize) -> bool {
    let Some(node) = picture.node(section) else {
        return false;
    };
    let is_alone = sections(picture, number).nth(1).is_none();
    let is_unnamed = match node.role {
        Role::Port => true,
        Role::Rule => node.object.0.section.as_deref() == Some("rule-1"),
        _ => false,
    };
    is_alone && is_unnamed && !node.missing && picture.policies(section).is_empty()
}

/// The least layer of a box, so that what is of one kind stands in one column where it can.
fn layer(picture: &Picture<'_>, number: usize, node: &Node) -> usize {
    let is_above = |step: &Step<'_>| step.edge.link != Link::Contains;
    match node.role {
        Role::Namespace | Role::GatewayClass => 0,
        Role::Gateway | Role::Frontend => 1,
        Role::ListenerSet => 2,
        Role::Listener | Role::Route | Role::Rule => 3,
        // What a route names as its parent, whatever it is.
        Role::Backend if picture.below(number).iter().any(is_above) => 1,
        Role::Backend | Role::Port | Role::Policy => 4,
    }
}

// === impl Cell ===

impl<'a> Cell<'a> {
    fn of(picture: &Picture<'a>, number: usize, node: &Node) -> Self {
        let mut cell = Self {
            rows: Vec::new(),
            height: 0.0,
            layer: layer(picture, number, node),
        };
        cell.row(Content::Object(number), HEAD);
        cell.policies(picture, number);
        for section in sections(picture, number) {
            if !is_plain(picture, number, section) {
                cell.row(Content::Section(section), SECTION);
                cell.policies(picture, section);
            }
        }
        cell.height += FOOT;
        cell
    }

    fn of_idle(policies: &[usize]) -> Self {
        let mut cell = Self {
            rows: Vec::new(),
            height: 0.0,
            layer: 0,
        };
        cell.row(Content::Heading, SECTION);
        for policy in policies {
            cell.row(Content::Idle(*policy), CHIP);
        }
        cell.height += FOOT;
        cell
    }

    fn policies(&mut self, picture: &Picture<'a>, number: usize) {
        let policies = picture.policies(number);
        let shown = if policies.len() > MOST_CHIPS {
            MOST_CHIPS - 1
        } else {
            MOST_CHIPS
        };
        for step in policies.iter().take(shown) {
            self.row(Content::Policy(*step), CHIP);
        }
        if policies.len() > shown {
            self.row(Content::More(policies.len() - shown), CHIP);
        }
    }

    fn row(&mut self, content: Content<'a>, height: f64) {
        self.rows.push(Row {
            content,
            top: self.height,
            height,
        });
        self.height += height;
    }

    fn anchor(&self, cell: usize, anchors: &mut Anchors) {
        for row in &self.rows {
            if let Content::Object(number) | Content::Section(number) = row.content
                && let Some(anchor) = anchors.get_mut(number)
            {
                *anchor = Some((cell, row.top + row.height / 2.0));
            }
        }
    }
}
