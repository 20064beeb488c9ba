//! The bar of counts: its numbers, and the map with a count as filter.

use serde_json::json;

use super::page::{Page, many};
use super::{BROKEN, QUICKSTART};
use testing::eventually::eventually;

#[test]
fn each_state_is_counted_and_is_a_filter() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    let counts = page.run("return [...document.querySelectorAll('#bar .chips button')].map((chip) => chip.textContent)");
    assert_eq!(counts, json!(["2Enforced", "2PartiallyEnforced"]));
    page.click("#bar [data-state=PartiallyEnforced]");
    eventually("the rest is gone", || {
        page.text_is("#shown", "4 of 4 policies, 4 of 9 objects shown")
    });
    assert_eq!(
        page.drawn(),
        [
            "Gateway infra/edge",
            "GatewayClass example",
            "HTTPRoute cart in shop"
        ]
    );
    assert_eq!(
        page.run("return location.hash"),
        json!("#?state=PartiallyEnforced")
    );
    page.click("#bar [data-state=PartiallyEnforced]");
    eventually("all is there again", || page.text_is("#shown", ""));
    assert_eq!(page.drawn().len(), 8);
    page.is_quiet();
}

#[test]
fn a_namespace_and_a_kind_are_filters() {
    let Some(page) = Page::of(&many(10, 15)) else {
        return;
    };
    page.keys("#by-namespace", "team-3");
    eventually("one namespace is left, and it is open", || {
        let drawn = page.drawn();
        let is_so = drawn.len() == 32 && drawn.iter().all(|name| !name.contains("team-4"));
        is_so.then_some(()).ok_or_else(|| format!("{drawn:?}"))
    });
    page.keys("#by-kind", "BackendTrafficPolicy");
    eventually("what its policies are on is left", || {
        let drawn = page.drawn();
        let is_so = drawn
            == [
                "Gateway infra/edge",
                "GatewayClass example",
                "HTTPRoute route-0 in team-3",
            ];
        is_so.then_some(()).ok_or_else(|| format!("{drawn:?}"))
    });
    assert_eq!(
        page.run("return location.hash"),
        json!("#?kind=BackendTrafficPolicy.gateway.envoyproxy.io&namespace=team-3")
    );
    page.is_quiet();
}

#[test]
fn problems_alone_are_shown_and_listed() {
    let Some(page) = Page::of(BROKEN) else { return };
    let before = page.drawn().len();
    page.press(&["p"]);
    eventually("the problems are listed", || {
        page.says("Problems")?;
        page.says("HTTPRoute infra/to-no-listener not attached to Gateway infra/edge")?;
        page.says("TargetNotFound RetryPolicy infra/on-nothing")
    });
    let now = page.drawn();
    assert!(now.len() < before, "{now:?}");
    assert!(
        !now.contains(&"Service called in shop".to_owned()),
        "{now:?}"
    );
    page.click(".problem-list li:nth-child(2) .link");
    eventually("a problem leads to its object", || {
        page.says("Commands".to_uppercase().as_str())
    });
    page.is_quiet();
}

#[test]
fn a_link_can_hold_filters() {
    let Some(page) = Page::of(BROKEN) else { return };
    page.follow("?problems&state=Invalid");
    eventually("both filters are on", || {
        let pressed = page.run("return [...document.querySelectorAll('#bar [aria-pressed=true]')].map((e) => e.textContent)");
        let is_so = pressed == json!(["3Invalid", "21problems"]);
        is_so.then_some(()).ok_or_else(|| pressed.to_string())
    });
    page.is_quiet();
}
