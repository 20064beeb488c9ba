//! The layer of each box: to the right of all its predecessors, by the longest path.

use std::collections::{BTreeSet, VecDeque};

use super::{Block, Wire};

/// The layer of each box, without empty layers. `None` for boxes without wires.
///
/// A cycle is broken at the wire that leads back to its box with the lowest number.
pub(super) fn layers(blocks: &[Block], wires: &[Wire], joined: &[bool]) -> Vec<Option<usize>> {
    let count = blocks.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting: Vec<usize> = vec![0; count];
    for wire in wires
        .iter()
        .filter(|wire| wire.leads && wire.from != wire.to)
    {
        if let (Some(list), Some(waits)) = (next.get_mut(wire.from), waiting.get_mut(wire.to)) {
            list.push(wire.to);
            *waits += 1;
        }
    }
    let mut layer: Vec<usize> = blocks.iter().map(|block| block.layer).collect();
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut ready: VecDeque<usize> = left
        .iter()
        .copied()
        .filter(|block| waiting.get(*block) == Some(&0))
        .collect();
    while let Some(block) = ready.pop_front().or_else(|| left.first().copied()) {
        if !left.remove(&block) {
            continue;
        }
        let own = layer.get(block).copied().unwrap_or(0);
        for other in next.get(block).into_iter().flatten() {
            if !left.contains(other) {
                continue;
            }
            if let (Some(layer), Some(waits)) = (layer.get_mut(*other), waiting.get_mut(*other)) {
                *layer = (*layer).max(own + 1);
                *waits -= 1;
                if *waits == 0 {
                    ready.push_back(*other);
                }
            }
        }
    }
    let used: BTreeSet<usize> = layer
        .iter()
        .zip(joined)
        .filter(|(_, joined)| **joined)
        .map(|(layer, _)| *layer)
        .collect();
    let compact = |layer: usize| used.range(..layer).count();
    layer
        .into_iter()
        .zip(joined)
        .map(|(layer, joined)| joined.then(|| compact(layer)))
        .collect()
}
