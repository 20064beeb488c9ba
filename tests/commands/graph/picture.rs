//! Properties of pictures: boxes do not overlap, text fits in its box, nothing is loaded.

use roxmltree::{Document, Node};

struct Rect {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Panics if a picture violates a property.
pub(super) fn check(svg: &str) {
    let document = Document::parse(svg).unwrap();
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        assert!(
            !["script", "image", "a", "use", "foreignObject"].contains(&name),
            "{name}"
        );
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && name != "href", "{attribute:?}");
        }
    }
    assert!(!svg.contains("url(") && !svg.contains("@import"));
    let cells: Vec<Node<'_, '_>> = document
        .descendants()
        .filter(|node| has_class(*node, "cell") && node.attribute("transform").is_some())
        .collect();
    assert!(!cells.is_empty());
    let boxes: Vec<Rect> = cells.iter().map(|cell| cell_box(*cell)).collect();
    for (i, a) in boxes.iter().enumerate() {
        for b in &boxes[i + 1..] {
            let apart = a.x + a.width < b.x
                || b.x + b.width < a.x
                || a.y + a.height < b.y
                || b.y + b.height < a.y;
            assert!(apart, "two boxes overlap");
        }
    }
    for (cell, bounds) in cells.iter().zip(&boxes) {
        for text in cell
            .descendants()
            .filter(|node| node.tag_name().name() == "text")
        {
            is_within(text, bounds);
        }
    }
    behind(&document);
}

/// Wires come before boxes in the file, so that boxes are drawn above them.
fn behind(document: &Document<'_>) {
    let wires = document
        .descendants()
        .filter(|node| has_class(*node, "wire"));
    let within = |node: &Node<'_, '_>| {
        let mut above = node.ancestors();
        above.any(|above| has_class(above, "wires"))
    };
    let last = wires.filter(within).map(|node| node.range().end).max();
    let cells = document
        .descendants()
        .filter(|node| has_class(*node, "cell"));
    let first = cells.map(|node| node.range().start).min();
    assert!(last < first, "{last:?} {first:?}");
}

fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    let classes = node.attribute("class").unwrap_or_default();
    classes.split(' ').any(|own| own == class)
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or("0").parse().unwrap()
}

fn cell_box(cell: Node<'_, '_>) -> Rect {
    let at = cell.attribute("transform").unwrap();
    let at = at
        .strip_prefix("translate(")
        .unwrap()
        .strip_suffix(')')
        .unwrap();
    let (x, y) = at.split_once(' ').unwrap();
    let rect = cell
        .children()
        .find(|node| has_class(*node, "box"))
        .unwrap();
    Rect {
        x: x.parse().unwrap(),
        y: y.parse().unwrap(),
        width: number(rect, "width"),
        height: number(rect, "height"),
    }
}

/// The font sizes of all texts.
pub(super) fn sizes(svg: &str) -> Vec<f64> {
    let document = Document::parse(svg).unwrap();
    let texts = document.descendants();
    let texts = texts.filter(|node| node.tag_name().name() == "text");
    texts.map(size).collect()
}

fn size(text: Node<'_, '_>) -> f64 {
    let sizes = [
        ("name", 13.0),
        ("section", 12.0),
        ("policy-name", 12.0),
        ("policy", 12.0),
        ("kind", 11.0),
        ("note", 11.0),
        ("badge-text", 11.0),
        ("problem-text", 11.0),
        ("code", 11.0),
    ];
    let mut sizes = sizes.iter();
    let (_, size) = sizes.find(|(class, _)| has_class(text, class)).unwrap();
    *size
}

/// With the widest font of the style: 0.62 of the font size per character, twice that for wide ones.
fn is_within(text: Node<'_, '_>, bounds: &Rect) {
    let words = text.text().unwrap_or_default();
    let size = size(text);
    let width = u32::try_from(unicode_width::UnicodeWidthStr::width(words)).unwrap();
    let width = f64::from(width) * 0.62 * size;
    let x = number(text, "x");
    let (left, right) = if has_class(text, "end") {
        (x - width, x)
    } else {
        (x, x + width)
    };
    assert!(
        left >= 0.0 && right <= bounds.width,
        "{words:?} from {left} to {right}"
    );
    let y = number(text, "y");
    assert!(y - size >= -1.0 && y <= bounds.height, "{words:?} at {y}");
}
