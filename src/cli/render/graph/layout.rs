//! Where boxes and the wires between them go: in layers from left to right, so that wires point one
//! way; few of them cross, and what belongs together is near. Bounded work, the same picture each time.

mod layers;
mod order;
mod place;

#[cfg(test)]
mod laws;

use layers::layers;

/// A box to be placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
    /// The least layer that it may stand in.
    pub layer: usize,
}

/// A wire from the right side of a box to the left side of another, at heights within them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wire {
    /// The box where it begins.
    pub from: usize,
    /// How far below the top of that.
    pub from_y: f64,
    /// The box where it ends.
    pub to: usize,
    /// How far below the top of that.
    pub to_y: f64,
    /// Whether it says which of the two stands further left.
    pub leads: bool,
}

/// A point; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// Where everything goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// The left upper corner of each box.
    pub blocks: Vec<Point>,
    /// The points that each wire passes, its ends included.
    pub wires: Vec<Vec<Point>>,
    /// How wide it all is.
    pub width: f64,
    /// How high it all is.
    pub height: f64,
}

/// Between layers.
const AISLE: f64 = 84.0;
/// Between boxes of a layer.
pub(crate) const GAP: f64 = 16.0;
/// A wire that passes a layer takes this much.
const LANE: f64 = 6.0;
/// With more wires through layers than this, they go straight behind the boxes.
const MOST_LANES: usize = 10_000;
/// Boxes without wires stand above the others, at most so many in a row.
const ROW: usize = 6;

/// Something that has a place in a layer: a box, or a wire that passes.
#[derive(Clone, Debug)]
struct Item {
    /// Its box; none for a wire that passes.
    block: Option<usize>,
    height: f64,
    /// Its number in its layer.
    index: usize,
    y: f64,
    /// What it is joined to in the layers before and behind.
    before: Vec<Joint>,
    behind: Vec<Joint>,
}

/// A piece of a wire between an item and its neighbour in the next layer.
#[derive(Clone, Copy, Debug)]
struct Joint {
    /// The neighbour.
    other: usize,
    /// Where it touches the neighbour, from the top of that.
    other_y: f64,
    /// Where it touches the item itself.
    own_y: f64,
}

/// Boxes and wires on their way to a layout.
#[derive(Clone, Debug, Default)]
struct Board {
    items: Vec<Item>,
    layers: Vec<Vec<usize>>,
}

/// Places everything.
pub(crate) fn lay_out(blocks: &[Block], wires: &[Wire]) -> Layout {
    let mut wired = vec![false; blocks.len()];
    for end in wires.iter().flat_map(|wire| [wire.from, wire.to]) {
        if let Some(flag) = wired.get_mut(end) {
            *flag = true;
        }
    }
    let layers = layers(blocks, wires, &wired);
    let (mut board, lanes) = Board::new(blocks, wires, &layers);
    order::reduce_crossings(&mut board);
    place::settle(&mut board);
    finish(blocks, wires, &board, &lanes)
}

// === impl Board ===

impl Board {
    /// The items in the order in which they came, and for each wire the items through which it passes.
    fn new(blocks: &[Block], wires: &[Wire], layers: &[Option<usize>]) -> (Self, Vec<Vec<usize>>) {
        let mut board = Self::default();
        let mut of_block: Vec<Option<usize>> = Vec::with_capacity(blocks.len());
        for (number, (block, layer)) in blocks.iter().zip(layers).enumerate() {
            let item = layer.map(|layer| board.add(layer, Some(number), block.height));
            of_block.push(item);
        }
        let layer_of = |block: usize| layers.get(block).copied().flatten();
        let span = |wire: &Wire| Some((layer_of(wire.from)?, layer_of(wire.to)?));
        let passing = |wire: &Wire| {
            span(wire).map_or(0, |(from, to)| to.saturating_sub(from).saturating_sub(1))
        };
        let through = wires.iter().map(passing).sum::<usize>() <= MOST_LANES;
        let mut lanes = Vec::with_capacity(wires.len());
        for wire in wires {
            let mut passed = Vec::new();
            let item = |block: usize| of_block.get(block).copied().flatten();
            if let (Some((from, to)), Some(start), Some(end)) =
                (span(wire), item(wire.from), item(wire.to))
                && to > from
                && (through || to == from + 1)
            {
                let mut last = (start, wire.from_y);
                for layer in from + 1..to {
                    let lane = board.add(layer, None, LANE);
                    board.join(last, (lane, LANE / 2.0));
                    passed.push(lane);
                    last = (lane, LANE / 2.0);
                }
                board.join(last, (end, wire.to_y));
            }
            lanes.push(passed);
        }
        (board, lanes)
    }

    fn add(&mut self, layer: usize, block: Option<usize>, height: f64) -> usize {
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        let number = self.items.len();
        let mut index = 0;
        if let Some(layer) = self.layers.get_mut(layer) {
            index = layer.len();
            layer.push(number);
        }
        self.items.push(Item {
            block,
            height,
            index,
            y: 0.0,
            before: Vec::new(),
            behind: Vec::new(),
        });
        number
    }

    fn join(&mut self, (from, from_y): (usize, f64), (to, to_y): (usize, f64)) {
        let joint = |other, other_y, own_y| Joint {
            other,
            other_y,
            own_y,
        };
        if let Some(item) = self.items.get_mut(from) {
            item.behind.push(joint(to, to_y, from_y));
        }
        if let Some(item) = self.items.get_mut(to) {
            item.before.push(joint(from, from_y, to_y));
        }
    }

    /// The items of a layer in their order.
    fn layer(&self, layer: usize) -> impl Iterator<Item = &Item> {
        let numbers = self.layers.get(layer).into_iter().flatten();
        numbers.filter_map(|number| self.items.get(*number))
    }
}

/// From places in layers to points, with the boxes that have no wires above all others.
fn finish(blocks: &[Block], wires: &[Wire], board: &Board, lanes: &[Vec<usize>]) -> Layout {
    let mut layout = Layout {
        blocks: vec![Point::default(); blocks.len()],
        ..Layout::default()
    };
    let apart = apart(blocks, board, &mut layout);
    let mut lane_ends: Vec<Option<(Point, Point)>> = vec![None; board.items.len()];
    let mut x = 0.0;
    for (number, numbers) in board.layers.iter().enumerate() {
        let of = board
            .layer(number)
            .filter_map(|item| blocks.get(item.block?));
        let width = of.map(|block| block.width).fold(0.0, f64::max);
        for (item, number) in board.layer(number).zip(numbers) {
            let y = item.y + apart;
            layout.height = layout.height.max(y + item.height);
            match item.block {
                Some(block) => {
                    if let Some(corner) = layout.blocks.get_mut(block) {
                        *corner = Point { x, y };
                    }
                }
                None => {
                    let y = y + item.height / 2.0;
                    if let Some(ends) = lane_ends.get_mut(*number) {
                        *ends = Some((Point { x, y }, Point { x: x + width, y }));
                    }
                }
            }
        }
        layout.width = layout.width.max(x + width);
        x += width + AISLE;
    }
    let ends = |item: &usize| lane_ends.get(*item).copied().flatten();
    layout.wires = wires
        .iter()
        .zip(lanes)
        .map(|(wire, lanes)| {
            let corner = |block: usize| layout.blocks.get(block).copied().unwrap_or_default();
            let width = blocks.get(wire.from).map_or(0.0, |block| block.width);
            let (from, to) = (corner(wire.from), corner(wire.to));
            let start = Point {
                x: from.x + width,
                y: from.y + wire.from_y,
            };
            let end = Point {
                x: to.x,
                y: to.y + wire.to_y,
            };
            let between = lanes.iter().filter_map(ends).flat_map(|(a, b)| [a, b]);
            std::iter::once(start).chain(between).chain([end]).collect()
        })
        .collect();
    layout
}

/// Places the boxes that have no wires, row by row; how much room they take from the top.
fn apart(blocks: &[Block], board: &Board, layout: &mut Layout) -> f64 {
    let placed = board.items.iter().filter_map(|item| item.block);
    let mut is_placed = vec![false; blocks.len()];
    for block in placed {
        if let Some(flag) = is_placed.get_mut(block) {
            *flag = true;
        }
    }
    let corners = layout.blocks.iter_mut().zip(blocks).zip(is_placed);
    let mut loose: Vec<_> = corners
        .filter(|(_, placed)| !placed)
        .map(|(pair, _)| pair)
        .collect();
    let per_row = board.layers.len().clamp(4, ROW);
    let mut y = 0.0;
    for row in loose.chunks_mut(per_row) {
        let (mut x, mut height) = (0.0, 0.0_f64);
        for (corner, block) in row {
            **corner = Point { x, y };
            x += block.width + GAP;
            height = height.max(block.height);
            layout.width = layout.width.max(x - GAP);
        }
        y += height + GAP;
        layout.height = y - GAP;
    }
    if y > 0.0 && !board.items.is_empty() {
        y + GAP
    } else {
        y
    }
}

/// A count as a length.
fn real(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}
