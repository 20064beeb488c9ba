//! The heights of the boxes and wires of a part.

use super::board::Board;
use super::{Part, Scene, order, place};

/// The heights in a part.
#[derive(Clone, Debug, Default)]
pub(super) struct Heights {
    /// The top of each box.
    pub(super) blocks: Vec<f64>,
    /// For each wire, the layers that it passes and the height in each.
    pub(super) lanes: Vec<Vec<(usize, f64)>>,
    /// The height of the part.
    pub(super) height: f64,
}

/// Computes the heights of a part's boxes and wires; the smallest is 0.
pub(super) fn leveled(scene: Scene<'_>, part: &Part) -> Heights {
    let (mut board, lanes) = Board::new(scene, part);
    order::reduce_crossings(&mut board);
    place::settle(&mut board);
    let tops = board
        .items
        .iter()
        .take(part.blocks.len())
        .map(|item| item.y);
    let middle = |(layer, item): (usize, usize)| {
        let item = board.items.get(item)?;
        Some((layer, item.y + item.height / 2.0))
    };
    let bottoms = board.items.iter().map(|item| item.y + item.height);
    Heights {
        blocks: tops.collect(),
        height: bottoms.fold(0.0, f64::max),
        lanes: lanes
            .into_iter()
            .map(|passed| passed.into_iter().filter_map(middle).collect())
            .collect(),
    }
}
