//! The boxes and passing wires of a part in their layers, before they have heights.

use std::collections::HashMap;

use super::{LANE, Part, Scene};

/// The limit of lanes for passing wires; with more, wires run straight behind the boxes.
const MOST_LANES: usize = 10_000;

/// An item of a layer: a box, or a wire that passes the layer.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) is_block: bool,
    pub(super) height: f64,
    /// Its position in its layer.
    pub(super) index: usize,
    pub(super) y: f64,
    /// The joints to the previous layer, and to the next one.
    pub(super) before: Vec<Joint>,
    pub(super) behind: Vec<Joint>,
}

/// A segment of a wire between an item and its neighbour in the next layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    /// The neighbour.
    pub(super) other: usize,
    /// The height at which it touches the neighbour, from the neighbour's top.
    pub(super) other_y: f64,
    /// The height at which it touches the item, from the item's top.
    pub(super) own_y: f64,
}

/// The items of a part, boxes first, and their layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    pub(super) items: Vec<Item>,
    pub(super) layers: Vec<Vec<usize>>,
}

// === impl Board ===

impl Board {
    /// A board with the items in input order, and for each wire the layers and items that it passes.
    pub(super) fn new(scene: Scene<'_>, part: &Part) -> (Self, Vec<Vec<(usize, usize)>>) {
        let mut board = Self::default();
        let mut item_of: HashMap<usize, usize> = HashMap::with_capacity(part.blocks.len());
        for number in &part.blocks {
            let height = scene.blocks.get(*number).map_or(0.0, |block| block.height);
            let layer = scene.layer(*number).unwrap_or(0);
            item_of.insert(*number, board.add(layer, true, height));
        }
        let span = |wire: usize| {
            let wire = scene.wires.get(wire)?;
            Some((scene.layer(wire.from)?, scene.layer(wire.to)?))
        };
        let passing = |wire: &usize| {
            span(*wire).map_or(0, |(from, to)| to.saturating_sub(from).saturating_sub(1))
        };
        let through = part.wires.iter().map(passing).sum::<usize>() <= MOST_LANES;
        let mut lanes = Vec::with_capacity(part.wires.len());
        for number in &part.wires {
            let mut passed = Vec::new();
            if let (Some(wire), Some((from, to))) = (scene.wires.get(*number), span(*number))
                && let (Some(start), Some(end)) = (item_of.get(&wire.from), item_of.get(&wire.to))
                && to > from
                && (through || to == from + 1)
            {
                let mut last = (*start, wire.from_y);
                for layer in from + 1..to {
                    let lane = board.add(layer, false, LANE);
                    board.join(last, (lane, LANE / 2.0));
                    passed.push((layer, lane));
                    last = (lane, LANE / 2.0);
                }
                board.join(last, (*end, wire.to_y));
            }
            lanes.push(passed);
        }
        // Layers that only other parts use are empty.
        board.layers.retain(|layer| !layer.is_empty());
        (board, lanes)
    }

    fn add(&mut self, layer: usize, is_block: bool, height: f64) -> usize {
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
            is_block,
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
    pub(super) fn layer(&self, layer: usize) -> impl Iterator<Item = &Item> {
        let numbers = self.layers.get(layer).into_iter().flatten();
        numbers.filter_map(|number| self.items.get(*number))
    }
}
