//! Properties of every layout, on random boxes and wires.

use proptest::prelude::*;

use super::{Block, GAP, LANE, Layout, Wire, lay_out};

/// Boxes, and wires that all point to a box with a higher number.
fn pictures() -> impl Strategy<Value = (Vec<Block>, Vec<Wire>)> {
    let block = (20_u32..300, 20_u32..400, 0_usize..4);
    let block = block.prop_map(|(width, height, layer)| Block {
        width: width.into(),
        height: height.into(),
        layer,
    });
    (1_usize..40).prop_flat_map(move |count| {
        let ends = (0..count, 0..count, 0.0..1.0, 0.0..1.0);
        let blocks = prop::collection::vec(block.clone(), count);
        (blocks, prop::collection::vec(ends, 0..80)).prop_map(|(blocks, ends)| {
            let wires = ends.into_iter().filter(|(a, b, ..)| a != b);
            let wires = wires.map(|(a, b, x, y)| Wire {
                from: a.min(b),
                from_y: x * blocks[a.min(b)].height,
                to: a.max(b),
                to_y: y * blocks[a.max(b)].height,
                leads: true,
            });
            let wires = wires.collect();
            (blocks, wires)
        })
    })
}

fn no_two_overlap(blocks: &[Block], layout: &Layout) {
    for (i, (a, at)) in blocks.iter().zip(&layout.blocks).enumerate() {
        for (b, bt) in blocks.iter().zip(&layout.blocks).skip(i + 1) {
            let side_by_side = at.x + a.width < bt.x + 1e-6 || bt.x + b.width < at.x + 1e-6;
            let above = at.y + a.height < bt.y + 1e-6 || bt.y + b.height < at.y + 1e-6;
            assert!(side_by_side || above, "{a:?} at {at:?} and {b:?} at {bt:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn boxes_do_not_overlap_and_wires_point_one_way((blocks, wires) in pictures()) {
        let layout = lay_out(&blocks, &wires);
        no_two_overlap(&blocks, &layout);
        prop_assert_eq!(&layout, &lay_out(&blocks, &wires));
        for (block, at) in blocks.iter().zip(&layout.blocks) {
            prop_assert!(at.x >= 0.0 && at.x + block.width <= layout.width + 1e-6);
            prop_assert!(at.y >= 0.0 && at.y + block.height <= layout.height + 1e-6);
        }
        for (wire, points) in wires.iter().zip(&layout.wires) {
            prop_assert!(points.len() >= 2);
            prop_assert!(points.windows(2).all(|pair| pair[0].x < pair[1].x));
            let end = points.last().unwrap();
            let at = layout.blocks[wire.to];
            let off = (end.x - at.x).abs() + (end.y - at.y - wire.to_y).abs();
            prop_assert!(off < 1e-6, "{end:?} is not at {at:?}");
        }
    }

    /// Cycles cannot be drawn well, but they are drawn.
    #[test]
    fn wires_in_circles_end((blocks, wires) in pictures(), back in 0_usize..80) {
        let mut wires = wires;
        for wire in wires.iter_mut().skip(back) {
            (wire.from, wire.to) = (wire.to, wire.from);
            (wire.from_y, wire.to_y) = (wire.to_y, wire.from_y);
        }
        no_two_overlap(&blocks, &lay_out(&blocks, &wires));
    }

    #[test]
    fn wires_that_do_not_lead_move_no_box_to_another_layer((blocks, wires) in pictures()) {
        let idle: Vec<Wire> = wires.iter().map(|w| Wire { leads: false, ..*w }).collect();
        let layout = lay_out(&blocks, &idle);
        no_two_overlap(&blocks, &layout);
    }
}

/// A user who scrolls down never sees an empty screen.
fn no_strip_is_empty(blocks: &[Block], wires: &[Wire]) -> Result<(), TestCaseError> {
    let layout = lay_out(blocks, wires);
    let boxes = blocks.iter().zip(&layout.blocks);
    let boxes = boxes.map(|(b, at)| (at.y, at.y + b.height));
    let points = layout.wires.iter().flatten();
    let points = points.map(|point| (point.y, point.y));
    let mut strips: Vec<(f64, f64)> = boxes.chain(points).collect();
    strips.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut bottom = 0.0;
    // At most two components meet there, each with a straight wire at its edge.
    for (top, end) in strips {
        prop_assert!(
            top - bottom <= 3.0 * GAP + 2.0 * LANE,
            "nothing from {bottom} to {top}"
        );
        bottom = end.max(bottom);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_strip_is_left_empty((blocks, wires) in pictures()) {
        no_strip_is_empty(&blocks, &wires)?;
    }
}

/// Wires that could run above the boxes but run straight.
#[test]
fn no_room_is_kept_for_wires_that_run_elsewhere() {
    let sizes = [
        (20, 20, 0),
        (20, 20, 3),
        (20, 20, 3),
        (20, 20, 0),
        (20, 56, 3),
        (20, 20, 0),
        (20, 20, 0),
        (20, 20, 0),
        (20, 20, 0),
        (208, 20, 2),
        (20, 20, 0),
        (20, 20, 0),
        (20, 20, 0),
        (20, 20, 0),
        (205, 20, 2),
        (20, 20, 0),
        (20, 179, 0),
        (174, 20, 2),
        (20, 20, 0),
        (20, 98, 0),
        (20, 359, 0),
        (20, 20, 0),
        (20, 20, 0),
        (20, 96, 0),
        (20, 211, 0),
        (20, 20, 0),
    ];
    let blocks = sizes.map(|(width, height, layer)| Block {
        width: f64::from(width),
        height: f64::from(height),
        layer,
    });
    let ends = [
        (14, 0.0, 23, 0.0),
        (4, 0.0, 17, 9.7),
        (9, 0.0, 16, 0.0),
        (14, 17.6, 20, 356.7),
        (9, 18.6, 23, 0.0),
        (1, 0.0, 24, 201.8),
        (1, 16.3, 19, 81.0),
    ];
    let wires = ends.map(|(from, from_y, to, to_y)| Wire {
        from,
        from_y,
        to,
        to_y,
        leads: true,
    });
    no_strip_is_empty(&blocks, &wires).unwrap();
}

/// The shape that Gateways have: avoidable crossings are avoided.
#[test]
fn a_comb_has_no_crossings() {
    let block = |layer| Block {
        width: 100.0,
        height: 50.0,
        layer,
    };
    let mut blocks = vec![block(0)];
    let mut wires = Vec::new();
    for tooth in 0..12_u32 {
        blocks.push(block(1));
        wires.push(Wire {
            from: 0,
            // The last row of the Gateway leads to the first route.
            from_y: 50.0 - f64::from(tooth),
            to: blocks.len() - 1,
            to_y: 10.0,
            leads: true,
        });
    }
    let layout = lay_out(&blocks, &wires);
    let mut ends: Vec<(f64, f64)> = layout
        .wires
        .iter()
        .map(|points| (points[0].y, points[1].y))
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].1));
}
