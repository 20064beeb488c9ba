//! The legend of a picture: the meaning of its shapes and colours.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Drawing;
use super::text::{SMALL, lines, measured, number, text_of, write_text};
use crate::answer::graph::{Link, Role};
use crate::answer::state::PolicyState;
use crate::cli::render::graph::rows::{Content, Row};
use crate::cli::render::graph::states::{badges, look};
use crate::engine::model::ids::{GroupKind, ObjectKey};

/// The minimum width.
pub(super) const WIDTH: f64 = 560.0;
/// The limit of Gateways in the legend.
const MAX_GATEWAYS: usize = 12;
const LINE: f64 = 22.0;
const GAP: f64 = 18.0;

#[derive(Debug)]
pub(super) struct Legend {
    entries: Vec<Entry>,
}

/// A mark, its width, and its meaning.
#[derive(Debug)]
struct Entry {
    mark: String,
    width: f64,
    words: String,
}

// === impl Entry ===

impl Entry {
    fn new(mark: String, words: &str) -> Self {
        Self {
            mark,
            width: 22.0,
            words: lines(words, 80).concat(),
        }
    }
}

// === impl Legend ===

impl Legend {
    /// The legend for the shapes and colours that a picture contains.
    pub(super) fn new(drawing: &Drawing<'_>) -> Self {
        let picture = drawing.picture;
        let nodes = || picture.nodes().map(|(_, node)| node);
        let on_targets = picture.edges().iter().filter_map(|edge| edge.state);
        let states: BTreeSet<PolicyState> = nodes()
            .filter_map(|node| node.state)
            .chain(on_targets)
            .collect();
        let mut entries: Vec<Entry> = states.into_iter().map(state).collect();
        let rows = || drawing.cells.boxes.iter().flat_map(|cell| &cell.rows);
        let kinds: BTreeSet<&GroupKind> = rows()
            .filter_map(|row| match &row.content {
                Content::Policy(chip) => Some(&chip.node.object.0.object.gk),
                _ => None,
            })
            .collect();
        for (kind, badge) in badges(picture.graph) {
            if badge != *kind.kind && kinds.contains(&kind) {
                let mark = format!(
                    "<g class=\"badge\"><text class=\"badge-text\" x=\"0\" y=\"12\">{}</text></g>",
                    text_of(&badge)
                );
                let width = measured(&badge, SMALL);
                entries.push(Entry {
                    mark,
                    width,
                    words: lines(&kind.kind, 80).concat(),
                });
            }
        }
        let gateways = nodes().filter(|node| node.role == Role::Gateway && !node.missing);
        let gateways: Vec<&ObjectKey> = gateways.map(|node| &node.object.0.object).collect();
        for gateway in gateways.iter().filter(|_| gateways.len() <= MAX_GATEWAYS) {
            if let Some(lane) = drawing.lane(gateway) {
                let mark = format!("<path class=\"wire lane{lane}\" d=\"M0 8H22\"/>");
                entries.push(Entry::new(mark, &gateway.to_string()));
            }
        }
        let mut edges = drawing.cells.edges.iter();
        let rejected = edges.any(|edge| edge.link == Link::Rejected);
        let is_missing = |row: &Row<'_>| match &row.content {
            Content::Object(_, node, _) | Content::Section(_, node, ..) => node.missing,
            _ => false,
        };
        let fixed = [
            (
                drawing.is_by_namespace,
                r#"<g class="cell"><rect class="box" y="2" width="22" height="12" rx="3"/><path class="line" d="M0 8H22"/></g>"#,
                "objects counted by namespace; --full draws each",
            ),
            (
                rows().any(is_missing),
                r#"<g class="cell missing"><rect class="box" y="2" width="22" height="12" rx="3"/></g>"#,
                "does not exist",
            ),
            (
                rejected,
                r#"<path class="wire rejected" d="M0 8H22"/>"#,
                "rejected reference",
            ),
            (
                !drawing.overrides().is_empty(),
                r#"<path class="arc" d="M0 8H16"/><path class="arc-head" d="M22 8l-8 -4v8z"/>"#,
                "overrides",
            ),
        ];
        let fixed = fixed.iter().filter(|(is_there, ..)| *is_there);
        entries.extend(fixed.map(|(_, mark, words)| Entry::new((*mark).to_owned(), words)));
        Self { entries }
    }

    /// The height of the legend at a width.
    pub(super) fn height(&self, width: f64) -> f64 {
        self.places(width).last().map_or(0.0, |(_, y)| y + LINE)
    }

    /// The entries, wrapped at a width.
    pub(super) fn svg(&self, width: f64) -> String {
        let mut text = String::new();
        for (entry, (x, y)) in self.entries.iter().zip(self.places(width)) {
            let (x, y) = (number(x), number(y));
            let _ = writeln!(text, "<g transform=\"translate({x} {y})\">{}", entry.mark);
            write_text("kind", entry.width + 7.0, 12.0, &entry.words, &mut text);
            text.push_str("</g>\n");
        }
        text
    }

    fn places(&self, width: f64) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (0.0, 0.0);
        let mut places = Vec::new();
        for entry in &self.entries {
            let long = entry.width + 7.0 + measured(&entry.words, SMALL);
            if x > 0.0 && x + long > width {
                (x, y) = (0.0, y + LINE);
            }
            places.push((x, y));
            x += long + GAP;
        }
        places
    }
}

fn state(state: PolicyState) -> Entry {
    let look = look(state);
    let mark = format!(
        "<g class=\"chip {}\"><rect class=\"pill\" x=\"0.5\" y=\"1\" width=\"21\" height=\"14\" rx=\"6\"/><path class=\"glyph\" d=\"{}\" transform=\"translate(5 2)\"/></g>",
        look.class, look.glyph
    );
    Entry::new(mark, state.as_str())
}
