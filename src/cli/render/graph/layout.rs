//! Layered graph layout: layers from left to right, so that wires point one way, with few crossings and short
//! distances. Tall pictures are cut into bands side by side. The work is bounded and the result deterministic.

mod bands;
mod board;
mod heights;
mod layers;
mod order;
mod place;

#[cfg(test)]
mod laws;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bands::banded;
use heights::{Heights, leveled};
use layers::layers;

/// A box to place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    pub width: f64,
    pub height: f64,
    /// The lowest layer that it may be in.
    pub layer: usize,
}

/// A wire from the right side of a box to the left side of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wire {
    /// The box at its start.
    pub from: usize,
    /// The height of its start, from that box's top.
    pub from_y: f64,
    /// The box at its end.
    pub to: usize,
    /// The height of its end, from that box's top.
    pub to_y: f64,
    /// Whether it puts its end to the right of its start.
    pub leads: bool,
}

/// A point; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}

/// The positions of all boxes and wires.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// The upper left corner of each box.
    pub blocks: Vec<Point>,
    /// The points of each wire, including both ends.
    pub wires: Vec<Vec<Point>>,
    /// The width of the picture.
    pub width: f64,
    /// The height of the picture.
    pub height: f64,
}

/// The space between layers.
const AISLE: f64 = 84.0;
/// The space between boxes of a layer.
const GAP: f64 = 14.0;
/// The height of a wire that passes a layer.
const LANE: f64 = 6.0;
/// A picture is cut into bands if it is taller than this and taller than wide.
const TOWER: f64 = 1000.0;
/// The minimum number of boxes in a row of boxes without wires, above the others.
const ROW: usize = 4;

/// A subset of the boxes and the wires between them, by number.
#[derive(Clone, Debug, Default)]
struct Part {
    blocks: Vec<usize>,
    wires: Vec<usize>,
}

/// Boxes, wires, and the layer of each box with wires.
#[derive(Clone, Copy, Debug)]
struct Scene<'a> {
    blocks: &'a [Block],
    wires: &'a [Wire],
    layers: &'a [Option<usize>],
}

/// The left edge and the width of each layer.
type Columns = BTreeMap<usize, (f64, f64)>;

/// Lays out boxes and wires.
pub(crate) fn lay_out(blocks: &[Block], wires: &[Wire]) -> Layout {
    arranged(blocks, wires, true)
}

/// Lays out boxes and wires without bands, as tall as the tallest layer, with the boxes without wires below.
pub(crate) fn lay_out_in_layers(blocks: &[Block], wires: &[Wire]) -> Layout {
    arranged(blocks, wires, false)
}

fn arranged(blocks: &[Block], wires: &[Wire], in_bands: bool) -> Layout {
    let mut joined = vec![false; blocks.len()];
    for end in wires.iter().flat_map(|wire| [wire.from, wire.to]) {
        if let Some(flag) = joined.get_mut(end) {
            *flag = true;
        }
    }
    let layers = layers(blocks, wires, &joined);
    let scene = Scene {
        blocks,
        wires,
        layers: &layers,
    };
    let mut layout = Layout {
        blocks: vec![Point::default(); blocks.len()],
        wires: vec![Vec::new(); wires.len()],
        ..Layout::default()
    };
    let all_blocks = Part {
        blocks: (0..blocks.len())
            .filter(|block| scene.layer(*block).is_some())
            .collect(),
        wires: (0..wires.len()).collect(),
    };
    let levels = leveled(scene, &all_blocks);
    let columns = scene.columns(&all_blocks.blocks, 0.0);
    let width = width(&columns);
    let tower = in_bands && levels.height > TOWER && levels.height > width;
    if !tower || !banded(scene, &mut layout) {
        layout.put(scene, &all_blocks, &levels, &columns, 0.0);
    }
    layout.apart(blocks, &joined, in_bands);
    layout
}

// === impl Scene ===

impl Scene<'_> {
    fn layer(&self, block: usize) -> Option<usize> {
        self.layers.get(block).copied().flatten()
    }

    /// The columns of the layers of some boxes, starting at `x`.
    fn columns(&self, blocks: &[usize], mut x: f64) -> Columns {
        let mut widths: BTreeMap<usize, f64> = BTreeMap::new();
        for number in blocks {
            if let (Some(block), Some(layer)) = (self.blocks.get(*number), self.layer(*number)) {
                let width = widths.entry(layer).or_default();
                *width = width.max(block.width);
            }
        }
        let mut columns = Columns::new();
        let (first, last) = (widths.first_key_value(), widths.last_key_value());
        if let (Some((first, _)), Some((last, _))) = (first, last) {
            // Wires also pass layers without any of these boxes.
            for layer in *first..=*last {
                let width = widths.get(&layer).copied().unwrap_or_default();
                columns.insert(layer, (x, width));
                x += width + AISLE;
            }
        }
        columns
    }
}

/// The right edge of the last column.
fn width(columns: &Columns) -> f64 {
    columns
        .last_key_value()
        .map_or(0.0, |(_, (x, width))| x + width)
}

// === impl Layout ===

impl Layout {
    /// Places a part by its levels and columns, shifted down by `y`.
    fn put(&mut self, scene: Scene<'_>, part: &Part, levels: &Heights, columns: &Columns, y: f64) {
        for (number, own) in part.blocks.iter().zip(&levels.blocks) {
            let column = scene.layer(*number).and_then(|layer| columns.get(&layer));
            let (Some((x, _)), Some(block)) = (column, scene.blocks.get(*number)) else {
                continue;
            };
            let corner = Point { x: *x, y: y + own };
            self.width = self.width.max(corner.x + block.width);
            self.height = self.height.max(corner.y + block.height);
            if let Some(place) = self.blocks.get_mut(*number) {
                *place = corner;
            }
        }
        for (number, lanes) in part.wires.iter().zip(&levels.lanes) {
            let Some((start, end)) = self.ends(scene, *number) else {
                continue;
            };
            let mut points = vec![start];
            for (layer, own) in lanes {
                if let Some((x, width)) = columns.get(layer) {
                    let y = y + own;
                    points.push(Point { x: *x, y });
                    if *width > 0.0 {
                        points.push(Point { x: x + width, y });
                    }
                }
            }
            points.push(end);
            if let Some(place) = self.wires.get_mut(*number) {
                *place = points;
            }
        }
    }

    /// The start and end of a wire. A backward wire starts on the left side of its box; a wire within a layer ends on
    /// the side where it starts.
    fn ends(&self, scene: Scene<'_>, number: usize) -> Option<(Point, Point)> {
        let wire = scene.wires.get(number)?;
        let (from, to) = (self.blocks.get(wire.from)?, self.blocks.get(wire.to)?);
        let right = |block: usize| scene.blocks.get(block).map(|block| block.width);
        let (from_x, to_x) = match to.x.total_cmp(&from.x) {
            Ordering::Greater => (from.x + right(wire.from)?, to.x),
            Ordering::Less => (from.x, to.x + right(wire.to)?),
            Ordering::Equal => (from.x + right(wire.from)?, to.x + right(wire.to)?),
        };
        let start = Point {
            x: from_x,
            y: from.y + wire.from_y,
        };
        let end = Point {
            x: to_x,
            y: to.y + wire.to_y,
        };
        Some((start, end))
    }

    /// Moves everything down.
    fn move_down(&mut self, down: f64) {
        let wires = self.wires.iter_mut().flatten();
        for point in self.blocks.iter_mut().chain(wires) {
            point.y += down;
        }
        self.height += down;
    }

    /// Places the boxes without wires in rows above or below all others.
    fn apart(&mut self, blocks: &[Block], joined: &[bool], is_above: bool) {
        let loose = || (0..blocks.len()).filter(|block| joined.get(*block) == Some(&false));
        let widest = loose().filter_map(|block| blocks.get(block));
        let widest = widest.map(|block| block.width + GAP).fold(1.0, f64::max);
        let mut columns = ROW;
        while real(columns + 1) * widest <= self.width {
            columns += 1;
        }
        let top = match self.height {
            height if height > 0.0 && !is_above => height + 2.0 * GAP,
            _ => 0.0,
        };
        let (mut y, mut corners) = (top, Vec::new());
        let loose: Vec<usize> = loose().collect();
        for row in loose.chunks(columns) {
            let mut height = 0.0_f64;
            for (i, number) in row.iter().enumerate() {
                if let Some(block) = blocks.get(*number) {
                    let x = real(i) * widest;
                    corners.push((*number, Point { x, y }));
                    height = height.max(block.height);
                    self.width = self.width.max(x + block.width);
                }
            }
            y += height + GAP;
        }
        if top > 0.0 {
            self.height = if loose.is_empty() {
                self.height
            } else {
                y - GAP
            };
        } else {
            let down = if self.height > 0.0 && y > 0.0 {
                y + GAP
            } else {
                (y - GAP).max(0.0)
            };
            self.move_down(down);
        }
        for (number, corner) in corners {
            if let Some(place) = self.blocks.get_mut(number) {
                *place = corner;
            }
        }
    }
}

/// A count as a length.
fn real(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}
