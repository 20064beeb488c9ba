//! The graph as a page to look around in: one file, nothing from elsewhere.
//!
//! The names in it come from users. They stand in the picture as escaped text and in the data as JSON in
//! a block that is not a script; the script writes them as text. Should one of these fail, the policy of
//! the page still lets nothing run but the script below, and nothing be loaded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::Picture;
use super::svg::{Drawing, STYLE, number, text_of};
use crate::answer::graph::{Details, Graph};

const PAGE: &str = include_str!("html/page.html");
const PAGE_STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    graph: &'a Graph,
    details: &'a Details,
    width: f64,
    height: f64,
}

/// The page.
///
/// # Errors
/// Never for graphs: they have no keys that are not text.
pub(crate) fn html(
    picture: &Picture<'_>,
    graph: &Graph,
    details: &Details,
) -> serde_json::Result<String> {
    let drawing = Drawing::new(picture, true);
    let (width, height) = drawing.size();
    let data = Data {
        graph,
        details,
        width,
        height,
    };
    let style = format!("{STYLE}{PAGE_STYLE}");
    let mut body = String::new();
    drawing.body(&mut body);
    let parts = [
        ("style-hash", hash(&style)),
        ("script-hash", hash(SCRIPT)),
        ("title", text_of(&drawing.title())),
        ("width", number(width)),
        ("height", number(height)),
        ("legend", drawing.legend_items()),
        ("picture", body),
        ("data", in_script(&serde_json::to_string(&data)?)),
        ("style", style),
        ("script", SCRIPT.to_owned()),
    ];
    Ok(filled(PAGE, &parts))
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
