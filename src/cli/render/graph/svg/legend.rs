//! What the shapes and colours of a picture mean.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::text::{ADVANCE, SMALL, fitted, measured, number, text_of, write_text};

/// The least that it is wide.
pub(super) const WIDTH: f64 = 560.0;
/// Namespaces that are named.
const MOST: usize = 16;
const LINE: f64 = 22.0;
const ENTRY: f64 = 30.0;
const LONGEST: f64 = 180.0;

/// The legend.
#[derive(Debug)]
pub(super) struct Legend {
    entries: Vec<(String, String)>,
}

// === impl Legend ===

impl Legend {
    /// That of a picture with these namespaces.
    pub(super) fn new(hues: &BTreeMap<&str, usize>) -> Self {
        let fixed = [
            (
                r#"<g class="chip"><rect class="pill" y="2" width="20" height="12" rx="6"/><path class="mark" d="M6 8l4 -4l4 4l-4 4z"/></g>"#,
                "policy",
            ),
            (
                r#"<g class="chip refused"><rect class="pill" y="2" width="20" height="12" rx="6"/><path class="mark" d="M6 8l4 -4l4 4l-4 4z"/></g>"#,
                "policy that is not attached",
            ),
            (
                r#"<g class="cell missing"><rect class="box" y="2" width="20" height="12" rx="3"/></g>"#,
                "not there",
            ),
            (r#"<path class="wire" d="M0 8H20"/>"#, "attached, sends to"),
            (
                r#"<path class="wire rejected" d="M0 8H20"/>"#,
                "reference that does not count",
            ),
        ];
        let fixed = fixed.map(|(mark, words)| (mark.to_owned(), words.to_owned()));
        let namespaces = hues.iter().take(MOST).map(|(name, hue)| {
            let mark = format!(r#"<g class="cell hue{hue}"><rect class="stripe" y="2" width="20" height="12" rx="3"/></g>"#);
            (mark, format!("namespace {name}"))
        });
        Self {
            entries: fixed.into_iter().chain(namespaces).collect(),
        }
    }

    /// How high it is within a width.
    pub(super) fn height(&self, width: f64) -> f64 {
        self.places(width).last().map_or(0.0, |(_, y)| y + LINE)
    }

    /// Its entries, in as many lines as they need.
    pub(super) fn svg(&self, width: f64) -> String {
        let mut text = String::new();
        for ((mark, words), (x, y)) in self.entries.iter().zip(self.places(width)) {
            let (x, y) = (number(x), number(y));
            let _ = writeln!(text, "<g transform=\"translate({x} {y})\">{mark}");
            write_text(
                "kind",
                ENTRY,
                12.0,
                &fitted(words, SMALL, LONGEST),
                &mut text,
            );
            text.push_str("</g>\n");
        }
        text
    }

    /// Its entries as items of a list in a page.
    pub(super) fn items(&self) -> String {
        let item = |(mark, words): &(String, String)| {
            format!(
                "<li><svg width=\"20\" height=\"16\" aria-hidden=\"true\">{mark}</svg>{}</li>\n",
                text_of(&fitted(words, SMALL, LONGEST))
            )
        };
        self.entries.iter().map(item).collect()
    }

    fn places(&self, width: f64) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (0.0, 0.0);
        let mut places = Vec::new();
        for (_, words) in &self.entries {
            let long = ENTRY + measured(&fitted(words, SMALL, LONGEST), SMALL);
            if x > 0.0 && x + long > width {
                (x, y) = (0.0, y + LINE);
            }
            places.push((x, y));
            x += long + 3.0 * ADVANCE * SMALL;
        }
        places
    }
}
