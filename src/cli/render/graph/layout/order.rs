//! The order within layers. Each item moves to the average position of its neighbours for a fixed number of sweeps; the
//! order with the fewest crossings wins.

use super::board::{Board, Item, Joint};
use super::real;

/// The number of sweeps over all layers, alternately forward and back.
const SWEEPS: usize = 12;

/// Orders the layers.
pub(super) fn reduce_crossings(board: &mut Board) {
    let mut best = board.layers.clone();
    let mut least = crossings(board);
    for sweep in 0..SWEEPS {
        if least == 0 {
            break;
        }
        let count = board.layers.len();
        if sweep % 2 == 0 {
            (1..count).for_each(|layer| sort(board, layer, |item| &item.before));
        } else {
            let layers = (0..count.saturating_sub(1)).rev();
            layers.for_each(|layer| sort(board, layer, |item| &item.behind));
        }
        let now = crossings(board);
        if now < least {
            least = now;
            best.clone_from(&board.layers);
        }
    }
    board.layers = best;
    number(board);
}

/// Sorts a layer by the positions of the neighbours on one side. An item without neighbours there keeps its position.
fn sort(board: &mut Board, layer: usize, side: fn(&Item) -> &Vec<Joint>) {
    let key = |number: usize| {
        let item = board.items.get(number);
        let own = item.map_or(0.0, |item| real(item.index));
        let joints = item.map_or(&[][..], |item| side(item));
        let sum: f64 = joints.iter().map(|joint| position(board, joint)).sum();
        if joints.is_empty() {
            own
        } else {
            sum / real(joints.len())
        }
    };
    let numbers = board.layers.get(layer).into_iter().flatten();
    let mut keyed: Vec<(f64, usize)> = numbers.map(|number| (key(*number), *number)).collect();
    keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if let Some(layer) = board.layers.get_mut(layer) {
        *layer = keyed.into_iter().map(|(_, number)| number).collect();
    }
    number_layer(board, layer);
}

/// The position of a neighbour's end of a joint, in units of its layer's order.
fn position(board: &Board, joint: &Joint) -> f64 {
    board.items.get(joint.other).map_or(0.0, |item| {
        real(item.index) + joint.other_y / item.height.max(1.0)
    })
}

fn number(board: &mut Board) {
    (0..board.layers.len()).for_each(|layer| number_layer(board, layer));
}

fn number_layer(board: &mut Board, layer: usize) {
    for (index, number) in board.layers.get(layer).into_iter().flatten().enumerate() {
        if let Some(item) = board.items.get_mut(*number) {
            item.index = index;
        }
    }
}

/// The number of pairs of wires that cross.
fn crossings(board: &Board) -> u64 {
    (0..board.layers.len())
        .map(|layer| crossings_behind(board, layer))
        .sum()
}

/// The crossings between a layer and the next: pairs whose order at the end differs from that at the start.
fn crossings_behind(board: &Board, layer: usize) -> u64 {
    let mut pieces: Vec<(f64, f64)> = Vec::new();
    for item in board.layer(layer) {
        let start = |joint: &Joint| real(item.index) + joint.own_y / item.height.max(1.0);
        let behind = item.behind.iter();
        pieces.extend(behind.map(|joint| (start(joint), position(board, joint))));
    }
    pieces.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.total_cmp(y)));
    let ends: Vec<f64> = pieces.into_iter().map(|(_, end)| end).collect();
    inversions(ends).1
}

/// Sorts the values and counts the inversions.
fn inversions(mut values: Vec<f64>) -> (Vec<f64>, u64) {
    if values.len() < 2 {
        return (values, 0);
    }
    let right = values.split_off(values.len() / 2);
    let ((left, a), (right, b)) = (inversions(values), inversions(right));
    let mut count = a + b;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    for value in right {
        while let Some(smaller) = left.next_if(|other| *other <= value) {
            merged.push(smaller);
        }
        count += left.len() as u64;
        merged.push(value);
    }
    merged.extend(left);
    (merged, count)
}
