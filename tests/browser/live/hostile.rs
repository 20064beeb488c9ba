//! Names and values by people who mean harm: they are text, wherever they are shown.

use serde_json::json;
use testing::eventually::eventually;

use super::server::Live;

const HOSTILE: [&str; 1] = ["tests/commands/graph/hostile"];
/// Elements that the page never has.
const FOREIGN: &str = "return document.querySelectorAll('#app img, #app iframe, #app script, #app object, #app embed, #app base').length";

#[test]
fn names_and_values_run_no_script_on_any_page() {
    let Some(page) = Live::of(&HOSTILE) else {
        return;
    };
    page.run("window.ran = []; window.alert = (words) => window.ran.push(words);");
    for hash in [
        "#/map",
        "#/policies",
        "#/objects",
        "#/guardrails",
        "#/history",
        "#/change",
        "#/request?url=https%3A%2F%2Fa.example%2F%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "#/policies?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "#/object/httproute/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E/x",
        "#/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
    ] {
        page.open(hash);
        eventually("it is shown", || {
            page.has("main h1, main .empty, main .notice")
        });
        eventually("it is loaded", || {
            let waiting = page.text("main .loading");
            waiting.is_empty().then_some(()).ok_or(waiting)
        });
        assert_eq!(page.run(FOREIGN), json!(0), "{hash}");
    }
    // The page of every object, by the links of the list.
    page.open("#/objects");
    page.shows("onerror=alert(1)");
    let links = page.run(
        "return [...document.querySelectorAll('main tbody .row-link')].map((link) => link.hash)",
    );
    let links = links.as_array().unwrap().clone();
    assert!(links.len() > 5, "{links:?}");
    for link in links {
        page.open(link.as_str().unwrap());
        eventually("the object is shown, or that it cannot be", || {
            page.has("main article h1, main .notice")
        });
        assert_eq!(page.run(FOREIGN), json!(0), "{link}");
    }
    assert_eq!(page.run("return window.ran"), json!([]));
}

#[test]
fn invisible_characters_are_shown() {
    let manifests = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: \"shop\\u202Etxt.exe\", namespace: a}
spec: {parentRefs: [{name: edge}]}
";
    let Some(page) = Live::of_manifests(manifests) else {
        return;
    };
    page.load("#/objects");
    page.shows("shop\\u{202e}txt.exe");
    page.is_quiet();
}

#[test]
fn nothing_else_would_be_loaded_or_run() {
    let Some(page) = Live::of(&HOSTILE) else {
        return;
    };
    let blocked = page.run_later(
        "const done = arguments[0];
         const blocked = [];
         document.addEventListener('securitypolicyviolation', (event) => {
             blocked.push(event.effectiveDirective);
             if (blocked.length === 4) done(blocked.sort());
         });
         document.body.insertAdjacentHTML('beforeend', '<img src=\"http://example.com/x\"><i onclick=\"alert(1)\" style=\"color: red\"></i><style>p {}</style>');",
    );
    assert_eq!(
        blocked,
        json!([
            "img-src",
            "script-src-attr",
            "style-src-attr",
            "style-src-elem"
        ])
    );
}
