//! The heights within layers: each item as near to its neighbours as the others of its layer let it.

use super::board::{Board, Item, Joint};
use super::{GAP, LANE};

/// Sweeps over all layers, forth and back in turn.
const SWEEPS: usize = 8;

/// Gives every item its `y`; the least is 0.
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

/// Begins at 0, and leaves no strip in which nothing stands but the space between two boxes.
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

/// Places a layer by its neighbours on one side: the sum of the squares of what each is off is the
/// least that the order allows. What has no neighbours there would stay where it is.
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

/// Where an item would be level with its neighbours.
fn wish(board: &Board, item: &Item, joints: &[Joint]) -> f64 {
    let level = |joint: &Joint| {
        let other = board.items.get(joint.other)?;
        Some(other.y + joint.other_y - joint.own_y)
    };
    let mut levels: Vec<f64> = joints.iter().filter_map(level).collect();
    levels.sort_by(f64::total_cmp);
    // The middle of what it is joined to, so that one far away does not pull it off the others.
    let middle = levels.len() / 2;
    match (levels.get(middle), levels.len() % 2) {
        (None, _) => item.y,
        (Some(upper), 0) => {
            let lower = middle.checked_sub(1).and_then(|i| levels.get(i));
            f64::midpoint(*upper, lower.copied().unwrap_or(*upper))
        }
        (Some(one), _) => *one,
    }
}

/// The ascending values that are nearest to these, by the sum of squares: neighbours in the wrong order
/// become their mean.
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
