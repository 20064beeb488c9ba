//! The heights within layers: each item as close to its neighbours as the order of its layer allows.

use super::board::{Board, Item, Joint};
use super::{GAP, LANE};

/// The number of sweeps over all layers, alternately forward and back.
const SWEEPS: usize = 8;

/// Sets the `y` of every item; the smallest is 0.
pub(super) fn settle(board: &mut Board) {
    for layer in 0..board.layers.len() {
        place(board, layer, |item| &item.before);
    }
    for sweep in 0..SWEEPS {
        let count = board.layers.len();
        if sweep % 2 == 0 {
            let layers = (0..count).rev();
            layers.for_each(|layer| place(board, layer, |item| &item.behind));
        } else {
            (0..count).for_each(|layer| place(board, layer, |item| &item.before));
        }
    }
    close_up(board);
}

/// Moves the items to start at 0 and closes empty horizontal strips down to the gap between two boxes.
fn close_up(board: &mut Board) {
    let mut items: Vec<&mut Item> = board.items.iter_mut().collect();
    items.sort_by(|a, b| a.y.total_cmp(&b.y));
    let (mut up, mut bottom) = (None, 0.0_f64);
    for item in items {
        let least = up.map_or(item.y, |up: f64| up.max(item.y - bottom - GAP));
        up = Some(least);
        item.y -= least;
        bottom = bottom.max(item.y + item.height);
    }
}

/// Places a layer by the neighbours on one side, with the least sum of squared distances that the order allows. An item
/// without neighbours there aims at its current position.
fn place(board: &mut Board, layer: usize, side: fn(&Item) -> &Vec<Joint>) {
    let mut offset = 0.0;
    let mut last: Option<&Item> = None;
    let mut wishes: Vec<f64> = Vec::new();
    let mut offsets: Vec<f64> = Vec::new();
    for item in board.layer(layer) {
        if let Some(last) = last {
            offset += last.height + gap(last, item);
        }
        last = Some(item);
        offsets.push(offset);
        wishes.push(wish(board, item, side(item)) - offset);
    }
    let numbers = board.layers.get(layer).cloned().unwrap_or_default();
    let fitted = ascending(&wishes);
    for ((number, y), offset) in numbers.into_iter().zip(fitted).zip(offsets) {
        if let Some(item) = board.items.get_mut(number) {
            item.y = y + offset;
        }
    }
}

fn gap(above: &Item, below: &Item) -> f64 {
    if above.is_block && below.is_block {
        GAP
    } else {
        LANE
    }
}

/// The position at which an item is level with its neighbours.
fn wish(board: &Board, item: &Item, joints: &[Joint]) -> f64 {
    let level = |joint: &Joint| {
        let other = board.items.get(joint.other)?;
        Some(other.y + joint.other_y - joint.own_y)
    };
    let mut levels: Vec<f64> = joints.iter().filter_map(level).collect();
    levels.sort_by(f64::total_cmp);
    // The median: one distant neighbour does not pull the item away from the others.
    let middle = levels.len() / 2;
    match (levels.get(middle), levels.len() % 2) {
        (None, _) => item.y,
        (Some(upper_middle), 0) => {
            let lower_middle = middle.checked_sub(1).and_then(|i| levels.get(i));
            f64::midpoint(
                *upper_middle,
                lower_middle.copied().unwrap_or(*upper_middle),
            )
        }
        (Some(one), _) => *one,
    }
}

/// The ascending sequence closest to the values by sum of squares (isotonic regression): values in the wrong order are
/// replaced by their mean.
fn ascending(values: &[f64]) -> Vec<f64> {
    // Runs of equal values: their sum and their number.
    let mut runs: Vec<(f64, u32)> = Vec::new();
    let mean = |(sum, count): (f64, u32)| sum / f64::from(count);
    for value in values {
        let mut run = (*value, 1);
        while let Some(last) = runs.pop() {
            if mean(last) <= mean(run) {
                runs.push(last);
                break;
            }
            run = (last.0 + run.0, last.1 + run.1);
        }
        runs.push(run);
    }
    let repeat = |run: (f64, u32)| (0..run.1).map(move |_| mean(run));
    runs.into_iter().flat_map(repeat).collect()
}
