//! The graph as a page to look around in: one file, nothing from elsewhere.
//!
//! The names in it come from users. They are in the page once, as JSON in a block that is not a script; the script
//! writes them as text. Should this fail, the policy of the page still lets nothing run but the script below, and
//! nothing be loaded.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::states::{Look, badges, looks};
use super::svg::{STYLE, text_of, title};
use crate::answer::graph::{Details, Graph};
use crate::engine::ids::GroupKind;

const PAGE: &str = include_str!("html/page.html");
const PAGE_STYLE: &str = concat!(
    include_str!("html/css/page.css"),
    include_str!("html/css/bar.css"),
    include_str!("html/css/map.css"),
    include_str!("html/css/panel.css"),
);
/// The data (model), what is selected and filtered (state, filter), what is drawn where (cells to routing), and the parts
/// of the page, in one function.
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("html/js/text.js"),
    include_str!("html/js/model.js"),
    include_str!("html/js/state.js"),
    include_str!("html/js/filter.js"),
    include_str!("html/js/cells.js"),
    include_str!("html/js/frames.js"),
    include_str!("html/js/place.js"),
    include_str!("html/js/routing.js"),
    include_str!("html/js/draw.js"),
    include_str!("html/js/legend.js"),
    include_str!("html/js/move.js"),
    include_str!("html/js/panel-parts.js"),
    include_str!("html/js/panel.js"),
    include_str!("html/js/bar.js"),
    include_str!("html/js/search.js"),
    include_str!("html/js/link.js"),
    include_str!("html/js/export.js"),
    include_str!("html/js/main.js"),
    "})();\n",
);

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    graph: &'a Graph,
    details: &'a Details,
    looks: Vec<Look>,
    /// A short name for each kind of policy.
    badges: BTreeMap<String, String>,
    /// Arguments that make a command look where this page was made from.
    from: &'a [String],
}

/// The page; `from` are the arguments by which a command looks at the same state.
///
/// # Errors
/// Never for graphs: they have no keys that are not text.
pub(crate) fn html(
    graph: &Graph,
    details: &Details,
    from: &[String],
) -> serde_json::Result<String> {
    let badges = badges(graph).into_iter();
    let data = Data {
        graph,
        details,
        looks: looks(),
        badges: badges.map(|(kind, badge)| (whole(&kind), badge)).collect(),
        from,
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

/// A kind with its group.
fn whole(kind: &GroupKind) -> String {
    match &*kind.group {
        "" => kind.kind.to_string(),
        group => format!("{}.{group}", kind.kind),
    }
}

/// A template with its `{{parts}}` in place. What is put in is not looked at again.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        let part = parts.iter().find(|(other, _)| *other == name);
        text.push_str(part.map_or("", |(_, part)| part));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// How a policy names a text that may run.
fn hash(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    format!("'sha256-{}'", STANDARD.encode(digest))
}

/// JSON that can stand between script tags: nothing in it ends them or begins a comment.
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
    fn nothing_in_data_ends_the_block_it_stands_in() {
        let json = serde_json::json!({"a": "</script><!--<script>\u{2028}&"}).to_string();
        let text = in_script(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back.to_string(), json);
    }

    #[test]
    fn what_is_put_in_is_not_a_template() {
        let parts = [("a", "{{b}}".to_owned()), ("b", "no".to_owned())];
        assert_eq!(filled("x {{a}} y {{c}}z", &parts), "x {{b}} y z");
    }
}
