//! Everything by keyboard.

use serde_json::json;
use testing::eventually::eventually;

use super::server::{ESTATE, Live};
use crate::page::{ENTER, ESCAPE};

const HASH: &str = "return location.hash";
const FOCUSED: &str = "return (document.activeElement.innerText || document.activeElement.getAttribute('aria-label') || '').replace(/\\s+/g, ' ').trim()";

#[test]
fn pages_rows_and_help_have_keys() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/map");
    eventually("the map is there", || page.has("#view .cell"));
    for (key, hash) in [
        ("o", "#/objects"),
        ("r", "#/request"),
        ("c", "#/change"),
        ("g", "#/guardrails"),
        ("h", "#/history"),
        ("m", "#/map"),
        ("p", "#/policies"),
    ] {
        page.press(&["g", key]);
        page.becomes("the page of the keys", HASH, &json!(hash));
    }
    page.shows("27 policies");
    page.becomes("the heading has the focus", FOCUSED, &json!("Policies"));
    // Search, then go through the rows.
    page.press(&["/", "c", "a", "r", "t", ESCAPE]);
    page.shows("3 of 27 policies");
    page.press(&["j", "j", "k"]);
    let first = page.run("return document.querySelector('main tbody .row-link').innerText");
    page.becomes("the first row", FOCUSED, &first);
    page.press(&[ENTER]);
    page.becomes(
        "the policy is open",
        "return document.querySelector('main article h1')?.innerText.split(/\\s+/).pop() ?? ''",
        &first,
    );
    page.press(&["?"]);
    eventually("the keys are listed", || {
        let text = page.text("dialog");
        text.contains("collapse all namespaces")
            .then_some(())
            .ok_or(text)
    });
    page.press(&[ESCAPE]);
    page.becomes(
        "closed",
        "return document.querySelector('dialog')",
        &json!(null),
    );
    page.is_quiet();
}

#[test]
fn the_map_has_its_keys_and_leaves_the_others_alone() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/map");
    eventually("the map is there", || page.has("#view .frame.closed"));
    page.press(&["e"]);
    page.becomes(
        "all is open",
        "return document.querySelectorAll('#view .frame.closed').length",
        &json!(0),
    );
    page.press(&["c"]);
    eventually("all is closed", || page.has("#view .frame.closed"));
    page.press(&["p"]);
    page.shows("HTTPRoute blog/comments");
    page.press(&[ESCAPE, "p"]);
    page.run("document.querySelector('#view .node').focus()");
    page.press(&[ENTER]);
    eventually("the panel is open", || page.has("#panel:not([hidden])"));
    // Keys of the map do nothing on other pages, and neither do those of a map that is no longer shown.
    page.press(&["g", "p"]);
    page.shows("27 policies");
    page.press(&["p", "e", "0"]);
    assert_eq!(page.run(HASH), json!("#/policies"));
    page.is_quiet();
}

#[test]
fn light_and_dark_follow_the_system_until_somebody_chooses() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/policies");
    page.shows("27 policies");
    let ground = "return getComputedStyle(document.body).backgroundColor";
    page.scheme("light");
    let light = page.run(ground);
    page.scheme("dark");
    eventually("it is dark", || {
        let now = page.run(ground);
        (now != light).then_some(()).ok_or_else(|| now.to_string())
    });
    let dark = page.run(ground);
    page.press(&["t"]);
    page.becomes("light by choice", ground, &light);
    page.press(&["t"]);
    page.scheme("light");
    page.becomes("dark by choice", ground, &dark);
    page.load("#/policies");
    page.becomes("kept after a reload", ground, &dark);
    page.is_quiet();
}
