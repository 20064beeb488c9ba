//! The graph as an interactive page: one file that loads nothing.
//!
//! The names in it come from users. They appear once, as JSON in a block that is not a script, and the script inserts
//! them as text only. If that fails, the Content-Security-Policy still allows only the script below, and no network
//! access.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::states::{StateAppearance, badges, looks};
use super::svg::{STYLE, text_of, title};
use crate::answer::graph::{Details, Graph};

const PAGE: &str = include_str!("html/page.html");
/// Built by `make ui` from `ui/src/map`.
const PAGE_STYLE: &str = include_str!("../../../../ui/dist/graph.css");
const SCRIPT: &str = include_str!("../../../../ui/dist/graph.js");

/// A graph and how it is shown, for a script.
#[derive(Serialize)]
pub(crate) struct ShownGraph<'a> {
    graph: &'a Graph,
    looks: Vec<StateAppearance>,
    /// The short name of each policy kind.
    badges: BTreeMap<String, String>,
    /// Command-line arguments that select the state of this page.
    from: &'a [String],
}

/// The input of the script of a page that loads nothing.
#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    shown: ShownGraph<'a>,
    details: &'a Details,
}

/// A graph for a script. `from` are the command-line arguments that select the same state.
pub(crate) fn shown<'a>(graph: &'a Graph, from: &'a [String]) -> ShownGraph<'a> {
    let badges = badges(graph).into_iter();
    ShownGraph {
        graph,
        looks: looks(),
        badges: badges
            .map(|(kind, badge)| (kind.qualified(), badge))
            .collect(),
        from,
    }
}

/// The page. `from` are the command-line arguments that select the same state.
///
/// # Errors
/// None for graphs: all their keys are strings.
pub(crate) fn html(
    graph: &Graph,
    details: &Details,
    from: &[String],
) -> serde_json::Result<String> {
    let data = Data {
        shown: shown(graph, from),
        details,
    };
    let style = format!("{STYLE}{PAGE_STYLE}");
    let parts = [
        ("style-hash", hash(&style)),
        ("script-hash", hash(SCRIPT)),
        ("title", text_of(&title(graph))),
        ("data", in_script(&serde_json::to_string(&data)?)),
        ("style", style),
        ("script", SCRIPT.to_owned()),
    ];
    Ok(filled(PAGE, &parts))
}

/// Fills the `{{parts}}` of a template. The inserted text is not expanded again.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut remaining = template;
    while let Some((before, after)) = remaining.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        let part = parts.iter().find(|(other, _)| *other == name);
        text.push_str(part.map_or("", |(_, part)| part));
        remaining = after;
    }
    text.push_str(remaining);
    text
}

/// The hash by which the Content-Security-Policy allows a text.
fn hash(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    format!("'sha256-{}'", STANDARD.encode(digest))
}

/// JSON for a script element: escaped so that nothing in it closes the element or starts a comment.
fn in_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{filled, in_script};

    #[test]
    fn data_cannot_close_its_script_block() {
        let json = serde_json::json!({"a": "</script><!--<script>\u{2028}&"}).to_string();
        let text = in_script(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back.to_string(), json);
    }

    #[test]
    fn inserted_text_is_not_a_template() {
        let parts = [("a", "{{b}}".to_owned()), ("b", "no".to_owned())];
        assert_eq!(filled("x {{a}} y {{c}}z", &parts), "x {{b}} y z");
    }
}
