//! Cuts tall pictures into bands. The left side stays whole; the rest is split into its connected components, which are
//! stacked in columns side by side. Wires to distant columns run above all boxes.

use std::collections::{BTreeMap, BTreeSet};

use super::heights::{Heights, leveled};
use super::{AISLE, GAP, Layout, Part, Point, Scene, real, width};

/// The ratio of width to height, about that of a screen.
const SHAPE: f64 = 1.6;
/// The minimum height of a band.
const LEAST: f64 = 640.0;
/// Wires above the boxes: the space between two, and the limit.
const TRUNK: f64 = 5.0;
const MOST_TRUNKS: usize = 12;
/// The horizontal distance within which a wire changes from its box to its height above the boxes.
const BEND: f64 = AISLE * 0.7;

/// Components stacked in one column.
#[derive(Debug, Default)]
struct Band {
    pieces: Vec<(Part, Heights)>,
}

/// Lays out a scene in bands. False if it has no components that are low enough.
pub(super) fn banded(scene: Scene<'_>, layout: &mut Layout) -> bool {
    let layers: BTreeSet<usize> = scene.layers.iter().copied().flatten().collect();
    let fitting = layers.into_iter().find_map(|cut| {
        let target = target(scene, cut);
        let pieces = pieces(scene, cut);
        let low = |part: &Part| height(scene, part) <= target;
        let fits = pieces.len() > 1 && pieces.iter().all(low);
        fits.then_some((cut, pieces, target))
    });
    let Some((cut, pieces, target)) = fitting else {
        return false;
    };
    let left = left_of(scene, cut);
    let left_levels = leveled(scene, &left);
    let columns = scene.columns(&left.blocks, 0.0);
    layout.put(scene, &left, &left_levels, &columns, 0.0);
    let mut x = width(&columns) + if left.blocks.is_empty() { 0.0 } else { AISLE };
    for band in stacked(scene, cut, layout, pieces, target) {
        let blocks: Vec<usize> = band
            .pieces
            .iter()
            .flat_map(|(part, _)| &part.blocks)
            .copied()
            .collect();
        let columns = scene.columns(&blocks, x);
        let mut y = 0.0;
        for (part, levels) in &band.pieces {
            layout.put(scene, part, levels, &columns, y);
            y += levels.height + GAP;
        }
        x = width(&columns) + AISLE;
    }
    let trunks = trunks(scene, cut, layout);
    layout.move_down(trunks.values().copied().fold(0.0, f64::max) + GAP);
    join(scene, cut, &trunks, layout);
    true
}

/// The height of a band at which the whole picture has the shape of a screen.
fn target(scene: Scene<'_>, cut: usize) -> f64 {
    let columns = scene.columns(&left_of(scene, cut).blocks, 0.0);
    let left = width(&columns);
    let right = scene.blocks.iter().zip(scene.layers);
    let right = right.filter(|(_, layer)| layer.is_some_and(|layer| layer >= cut));
    let area: f64 = right
        .map(|(b, _)| (b.width + AISLE) * (b.height + GAP))
        .sum();
    // The solution of `(left + area / height) / height = SHAPE`.
    let height = (left + (left * left + 4.0 * SHAPE * area).sqrt()) / (2.0 * SHAPE);
    height.max(LEAST)
}

/// The part to the left of a layer.
fn left_of(scene: Scene<'_>, cut: usize) -> Part {
    let is_left = |block| is_left(scene, cut, block) == Some(true);
    let wires = scene.wires.iter().enumerate();
    let wires = wires.filter(|(_, wire)| is_left(wire.from) && is_left(wire.to));
    Part {
        blocks: (0..scene.blocks.len())
            .filter(|block| is_left(*block))
            .collect(),
        wires: wires.map(|(number, _)| number).collect(),
    }
}

/// The connected components from a layer on, ordered by their first boxes.
fn pieces(scene: Scene<'_>, cut: usize) -> Vec<Part> {
    let is_right = |block| is_left(scene, cut, block) == Some(false);
    let mut roots = Roots((0..scene.blocks.len()).collect());
    let inside = |number: &usize| {
        let wire = scene.wires.get(*number);
        wire.is_some_and(|wire| is_right(wire.from) && is_right(wire.to))
    };
    let wires: Vec<usize> = (0..scene.wires.len()).filter(inside).collect();
    for wire in wires.iter().filter_map(|number| scene.wires.get(*number)) {
        roots.join(wire.from, wire.to);
    }
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for block in (0..scene.blocks.len()).filter(|block| is_right(*block)) {
        parts
            .entry(roots.root(block))
            .or_default()
            .blocks
            .push(block);
    }
    for number in wires {
        if let Some(wire) = scene.wires.get(number) {
            parts
                .entry(roots.root(wire.from))
                .or_default()
                .wires
                .push(number);
        }
    }
    parts.into_values().collect()
}

/// Disjoint sets: each box points to a connected one with a lower number, or to itself.
struct Roots(Vec<usize>);

// === impl Roots ===

impl Roots {
    /// The root of a box: the connected box with the lowest number.
    fn root(&mut self, mut block: usize) -> usize {
        while let Some(next) = self.0.get(block).copied().filter(|next| *next != block) {
            let over = self.0.get(next).copied().unwrap_or(next);
            if let Some(place) = self.0.get_mut(block) {
                *place = over;
            }
            block = next;
        }
        block
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if let Some(place) = self.0.get_mut(one.max(other)) {
            *place = one.min(other);
        }
    }
}

/// The height of a part's tallest layer.
fn height(scene: Scene<'_>, part: &Part) -> f64 {
    let mut layers: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    for number in &part.blocks {
        let block = scene
            .blocks
            .get(*number)
            .map_or(0.0, |block| block.height + GAP);
        *layers.entry(scene.layer(*number)).or_default() += block;
    }
    layers.into_values().fold(0.0, f64::max)
}

/// The components in bands, ordered by the height of the wires that lead to them.
fn stacked(
    scene: Scene<'_>,
    cut: usize,
    layout: &Layout,
    pieces: Vec<Part>,
    target: f64,
) -> Vec<Band> {
    let mut hangs: Vec<f64> = vec![f64::INFINITY; scene.blocks.len()];
    for (number, wire) in scene.wires.iter().enumerate() {
        let is_left = is_left(scene, cut, wire.from) == Some(true);
        let start = layout.ends(scene, number).map(|(start, _)| start.y);
        if let (true, Some(y), Some(place)) = (is_left, start, hangs.get_mut(wire.to)) {
            *place = place.min(y);
        }
    }
    let highest = |part: &Part| {
        let blocks = part.blocks.iter().filter_map(|block| hangs.get(*block));
        blocks.copied().fold(f64::INFINITY, f64::min)
    };
    let mut pieces: Vec<(f64, Part)> = pieces.into_iter().map(|p| (highest(&p), p)).collect();
    pieces.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let pieces: Vec<(Part, Heights)> = pieces
        .into_iter()
        .map(|(_, part)| {
            let levels = leveled(scene, &part);
            (part, levels)
        })
        .collect();
    // The number of bands follows from the target height; all bands have about the same height.
    let total_height: f64 = pieces.iter().map(|(_, levels)| levels.height + GAP).sum();
    let count = (total_height / target).round().max(1.0);
    let each = total_height / count;
    let mut bands: Vec<Band> = Vec::new();
    let mut used = 0.0;
    for (part, levels) in pieces {
        let height = levels.height + GAP;
        if bands.is_empty() || used + height / 2.0 > each * real(bands.len()) {
            bands.push(Band::default());
        }
        used += height;
        if let Some(band) = bands.last_mut() {
            band.pieces.push((part, levels));
        }
    }
    bands
}

/// For each start of a long wire on the left, its height above all boxes. Starts share heights if there are too many.
fn trunks(scene: Scene<'_>, cut: usize, layout: &Layout) -> BTreeMap<(usize, u64), f64> {
    let is_left = |block| is_left(scene, cut, block);
    let mut starts: Vec<(f64, (usize, u64))> = Vec::new();
    for (number, wire) in scene.wires.iter().enumerate() {
        let ends = layout.ends(scene, number);
        let crosses = is_left(wire.from) == Some(true) && is_left(wire.to) == Some(false);
        if let Some((start, _)) = ends.filter(|ends| crosses && is_far(ends)) {
            starts.push((start.y, place(wire.from, wire.from_y)));
        }
    }
    starts.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.cmp(y)));
    starts.dedup_by_key(|(_, place)| *place);
    let lanes = starts.len().min(MOST_TRUNKS);
    let lane = |i: usize| TRUNK * real(i % lanes.max(1));
    starts
        .into_iter()
        .enumerate()
        .map(|(i, (_, place))| (place, lane(i)))
        .collect()
}

/// Whether a box is to the left of the bands. `None` for a box without wires.
fn is_left(scene: Scene<'_>, cut: usize, block: usize) -> Option<bool> {
    scene.layer(block).map(|layer| layer < cut)
}

/// Whether a wire leads further than to the next column.
fn is_far((start, end): &(Point, Point)) -> bool {
    end.x - start.x > 2.0 * BEND + 1.0
}

/// The start of a wire as a key.
fn place(block: usize, y: f64) -> (usize, u64) {
    (block, y.to_bits())
}

/// Draws the wires from the left to the bands: directly to the next column, otherwise above all boxes.
fn join(scene: Scene<'_>, cut: usize, trunks: &BTreeMap<(usize, u64), f64>, layout: &mut Layout) {
    for (number, wire) in scene.wires.iter().enumerate() {
        if is_left(scene, cut, wire.from) == is_left(scene, cut, wire.to) {
            continue;
        }
        let Some(ends) = layout.ends(scene, number) else {
            continue;
        };
        let (start, end) = ends;
        let mut points = vec![start];
        let trunk = trunks.get(&place(wire.from, wire.from_y));
        if let Some(trunk) = trunk.filter(|_| is_far(&ends)) {
            let y = *trunk;
            points.extend([
                Point {
                    x: start.x + BEND,
                    y,
                },
                Point { x: end.x - BEND, y },
            ]);
        }
        points.push(end);
        if let Some(place) = layout.wires.get_mut(number) {
            *place = points;
        }
    }
}
