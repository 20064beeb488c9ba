//! The map: states, overrides, ports and matches; opening and closing namespaces; links to objects.

use serde_json::json;

use super::page::{self, Page, many};
use super::{BROKEN, QUICKSTART};
use testing::eventually::eventually;

/// The label of each policy in the map, and its CSS class.
const CHIPS: &str = "return [...document.querySelectorAll('#view .chip')]
    .map((chip) => [chip.getAttribute('aria-label'), chip.getAttribute('class').split(' ').pop()].join(' | ')).sort()";

#[test]
fn policies_show_their_state_and_who_overrides_whom() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    assert_eq!(
        page.run(CHIPS),
        json!([
            "RP edge-retries by shop-retries, RetryPolicy in infra, PartiallyEnforced, overridden by RetryPolicy shop/shop-retries | partly",
            "RP shop-retries overrides 1, RetryPolicy in shop, Enforced | in-force",
            "TP cart-timeouts overrides 1, TimeoutPolicy in shop, Enforced | in-force",
            "TP edge-timeouts by cart-timeouts, TimeoutPolicy in infra, PartiallyEnforced, overridden by TimeoutPolicy shop/cart-timeouts | partly",
        ])
    );
    let notes = "return [...document.querySelectorAll('#view .note')].map((note) => note.textContent).sort()";
    assert_eq!(
        page.run(notes),
        json!([
            "by cart-timeouts",
            "by shop-retries",
            "overrides 1",
            "overrides 1"
        ])
    );
    let curves = "return document.querySelectorAll('#view .arc').length";
    assert_eq!(page.run(curves), json!(0));
    page.press(&["o"]);
    eventually("a curve for each override", || {
        let now = page.run(curves);
        (now == 2).then_some(()).ok_or_else(|| now.to_string())
    });
    page.is_quiet();
}

#[test]
fn listeners_and_rules_show_what_people_look_for() {
    let Some(page) = Page::of(&many(1, 1)) else {
        return;
    };
    let rows = page.run(
        "return [...document.querySelectorAll('#view .section-row')].map((row) => [...row.querySelectorAll('text')].map((t) => t.textContent).join(' | '))",
    );
    assert_eq!(
        rows,
        json!([
            "https | HTTPS 443 *.example.com",
            "Exact /api, method GET | api"
        ])
    );
    page.is_quiet();
}

#[test]
fn what_does_not_fit_is_said_where_it_is() {
    let Some(page) = Page::of(BROKEN) else { return };
    let output = page.run(
        "const cell = document.querySelector(\"[aria-label='HTTPRoute to-no-listener in infra']\").closest('.cell');
         return [...cell.querySelectorAll('.problem title')].map((title) => title.textContent)",
    );
    let first = output[0].as_str().unwrap();
    assert!(
        first.starts_with("not attached to Gateway infra/edge"),
        "{output}"
    );
    // Missing objects have their own frame and heading.
    let frame =
        "return document.querySelector('.frame.problems .toggle').getAttribute('aria-label')";
    assert_eq!(
        page.run(frame),
        json!("Problems: 2 missing targets · 1 unattached policy")
    );
    page.is_quiet();
}

#[test]
fn many_routes_are_counted_by_namespace_until_somebody_opens_one() {
    let Some(page) = Page::of(&many(10, 15)) else {
        return;
    };
    let frames = "return [...document.querySelectorAll('.frame.closed .toggle')].map((t) => t.getAttribute('aria-label'))";
    let closed = page.run(frames);
    assert_eq!(closed.as_array().unwrap().len(), 10, "{closed}");
    assert_eq!(
        closed[3],
        json!("Namespace team-3: 15 routes · 15 backends · 1 policy")
    );
    assert_eq!(page.drawn(), ["Gateway infra/edge", "GatewayClass example"]);
    // All text is readable.
    let (_, _, scale) = page.view();
    assert!(scale > 0.6, "{scale}");
    page.click("[aria-label^='Namespace team-3:'] .frame-name");
    eventually("the namespace is open", || {
        let drawn = page.drawn();
        let is_open =
            drawn.len() == 32 && drawn.contains(&"HTTPRoute route-7 in team-3".to_owned());
        is_open.then_some(()).ok_or_else(|| format!("{drawn:?}"))
    });
    assert_eq!(page.run(frames).as_array().unwrap().len(), 9);
    page.press(&["c"]);
    eventually("all are closed", || {
        let count = page.run(frames).as_array().unwrap().len();
        (count == 10).then_some(()).ok_or_else(|| count.to_string())
    });
    page.press(&["e"]);
    eventually("all are open", || {
        let count = page.drawn().len();
        (count == 302)
            .then_some(())
            .ok_or_else(|| count.to_string())
    });
    page.is_quiet();
}

#[test]
fn a_link_leads_to_an_object_in_a_closed_namespace() {
    let Some(page) = Page::of(&many(10, 15)) else {
        return;
    };
    page.follow("httproute/team-3/route-7");
    eventually("the route is chosen", || {
        page.says("route-7")?;
        page.says("route-7.example.com")?;
        page.says("BackendTrafficPolicy infra/edge-traffic on Gateway infra/edge")
    });
    assert_eq!(
        page.run(
            "return document.querySelector('[aria-pressed=true].part').getAttribute('aria-label')"
        ),
        json!("HTTPRoute route-7 in team-3")
    );
    page.follow("HTTPRoute/team-4/route-0/api");
    eventually("the rule is chosen", || {
        page.says("Rule of HTTPRoute")?;
        page.says("Exact /api, method GET")
    });
    // The selection is in the address, and the browser's back button works.
    page.click("[aria-label='Gateway infra/edge']");
    let hash = || page.run("return location.hash");
    eventually("it is in the address", || {
        (hash() == "#gateway/infra/edge")
            .then_some(())
            .ok_or_else(|| hash().to_string())
    });
    page.run("history.back()");
    eventually("back at the rule", || page.says("Rule of HTTPRoute"));
    page.follow("httproute/team-3/nobody");
    eventually("it says that there is none", || {
        page.text_is("#said", "There is no httproute/team-3/nobody on this page")
    });
    page.is_quiet();
}

#[test]
fn the_panel_can_be_made_wider() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    page.click("[aria-label='HTTPRoute cart in shop']");
    let width = "return document.querySelector('#panel').getBoundingClientRect().width";
    let before = page.run(width).as_f64().unwrap();
    page.keys("#divider", page::LEFT);
    eventually("it is wider", || {
        let now = page.run(width).as_f64().unwrap();
        (now > before + 20.0)
            .then_some(())
            .ok_or_else(|| format!("{now}, before {before}"))
    });
    page.is_quiet();
}
