//! The page of `attache graph -o html`, and that of `attache ui`, in a real browser.
//!
//! Without Chromium and its driver the tests print SKIPPED and pass; with `ATTACHE_REQUIRE_BROWSER=1`, as in CI, they
//! fail.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod accessibility;
mod filters;
mod live;
mod map;
mod page;
mod saving;

use page::{Page, many};
use serde_json::json;
use testing::eventually::eventually;

const QUICKSTART: &str = "examples/quickstart";
const BROKEN: &str = "tests/commands/graph/broken";
const HOSTILE: &str = "tests/commands/graph/hostile";

#[test]
fn a_click_shows_the_policies_and_the_values_with_their_sources() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    page.click("[aria-label='HTTPRoute cart in shop']");
    eventually("the panel tells of the route", || {
        page.says("cart")?;
        page.says("Enforced TimeoutPolicy shop/cart-timeouts on HTTPRoute shop/cart")?;
        page.says("PartiallyEnforced RetryPolicy infra/edge-retries on Gateway infra/edge")?;
        page.says("Overridden TimeoutPolicy infra/edge-timeouts")
    });
    // Two policy kinds: settings of the Gateway that the Namespace changes, and settings that the route replaces.
    let rows = page.run("return [...document.querySelectorAll('#panel tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent).join(' | '))");
    assert_eq!(
        rows,
        json!([
            "retries | 3 | infra/edge-retries",
            "timeout | 1s | shop/shop-retries",
            "request | 5s | shop/cart-timeouts",
        ])
    );
    // The source of a setting links to its policy.
    page.click("#panel tbody button");
    eventually("the panel tells of the policy", || {
        page.says("PartiallyEnforced")?;
        page.says("OVERRIDDEN BY RetryPolicy shop/shop-retries")?;
        page.says("retries: 3")
    });
    page.is_quiet();
}

#[test]
fn what_is_searched_is_marked_and_in_view() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    page.keys("#search", "service catalog");
    eventually("it is found", || page.text_is("#hits", "1 of 1"));
    let marked = "return [...document.querySelectorAll('.hit')].map((hit) => hit.getAttribute('aria-label'))";
    assert_eq!(page.run(marked), json!(["Service catalog in shop"]));
    // The map does not move for a hit in view; a hit out of view is centred.
    let (x, y, _) = page.view();
    page.keys("#search", page::ESCAPE);
    page.run("for (let i = 0; i < 30; i += 1) document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))");
    assert!(page.view().1 < y - 1000.0, "out of view, from {x} {y}");
    page.keys("#search", "service catalog");
    let off = page.run(
        "const [a, b] = ['#canvas', '.hit'].map((s) => document.querySelector(s).getBoundingClientRect());
         return Math.hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2)",
    );
    assert!(off.as_f64().unwrap() < 2.0, "{off} pixels from the middle");
    page.keys("#search", "-or-nothing-at-all");
    eventually("it is not found", || page.text_is("#hits", "none"));
    page.keys("#search", page::ESCAPE);
    eventually("all is shown again", || page.text_is("#hits", ""));
    assert_eq!(page.run(marked), json!([]));
    page.is_quiet();
}

#[test]
fn it_moves_and_zooms() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    let (_, _, before) = page.view();
    page.click("#in");
    eventually("it is larger", || page.zoomed(before * 1.25));
    page.click("#level");
    eventually("it is of its own size", || page.zoomed(1.0));
    page.keys("body", "-");
    eventually("it is smaller", || page.zoomed(0.8));
    page.wheel(-120);
    eventually("the wheel makes it larger", || match page.view() {
        (_, _, scale) if scale > 0.9 => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let (x, y, scale) = page.view();
    page.drag(40, 25);
    eventually("it was dragged", || match page.view() {
        now if now == (x + 40.0, y + 25.0, scale) => Ok(()),
        now => Err(format!("{now:?}, before {x} {y} {scale}")),
    });
    assert_eq!(
        page.run("return document.querySelector('#panel').hidden"),
        json!(true)
    );
    page.keys("body", "0");
    eventually("all of it is to be seen", || page.zoomed(before));
    page.is_quiet();
}

#[test]
fn it_can_be_used_without_a_mouse() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    // Past the search field, the buttons and the namespaces.
    let chosen = "return document.activeElement.getAttribute('aria-label')";
    let mut met = Vec::new();
    while met.last() != Some(&json!("Gateway infra/edge")) {
        assert!(met.len() < 30, "{met:?}");
        page.press(&[page::TAB]);
        met.push(page.run(chosen));
    }
    assert!(met.contains(&json!("GatewayClass example")), "{met:?}");
    page.press(&[page::ENTER]);
    eventually("the panel tells of it", || {
        page.says("TimeoutPolicy infra/edge-timeouts")
    });
    assert_eq!(page.run("return document.activeElement.id"), json!("panel"));
    assert_eq!(
        page.run("return document.querySelector('[aria-pressed=true]').getAttribute('aria-label')"),
        json!("Gateway infra/edge")
    );
    page.press(&[page::ESCAPE]);
    eventually("the panel is closed, and one is back where one was", || {
        let closed = page.run("return document.querySelector('#panel').hidden");
        match page.run(chosen) {
            at if at == json!("Gateway infra/edge") && closed == json!(true) => Ok(()),
            other => Err(format!("{other}, closed {closed}")),
        }
    });
    page.is_quiet();
}

#[test]
fn names_are_text_whatever_they_are() {
    let Some(page) = Page::of(HOSTILE) else {
        return;
    };
    let count = page.run("return document.querySelectorAll('.node').length");
    assert!(count.as_u64().unwrap() > 15, "{count}");
    // Shows everything that the page can show.
    page.run(
        "for (const node of document.querySelectorAll('.node')) {
             node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
             if (document.querySelector('img')) throw new Error(node.textContent);
         }",
    );
    page.keys("#search", "<img src=x");
    eventually("it is found by its name", || match page.text("#hits") {
        hits if hits.starts_with("1 of ") => Ok(()),
        other => Err(other),
    });
    assert_eq!(
        page.run("return document.querySelectorAll('img, iframe, #view script').length"),
        json!(0)
    );
    page.is_quiet();
    // Even if a name became markup, no script would run and nothing would be loaded.
    let blocked = page.run_later(
        "const done = arguments[0];
         const blocked = [];
         document.addEventListener('securitypolicyviolation', (event) => {
             blocked.push(event.effectiveDirective);
             if (blocked.length === 2) done(blocked.sort());
         });
         document.body.insertAdjacentHTML('beforeend', '<img src=\"x\"><i onclick=\"alert(1)\"></i>');",
    );
    assert_eq!(blocked, json!(["img-src", "script-src-attr"]));
}

/// With the installed fonts.
#[test]
fn no_text_is_outside_its_box() {
    for state in [QUICKSTART, BROKEN, HOSTILE, &many(4, 3)] {
        let Some(page) = Page::of(state) else { return };
        let outside = page.run(
            "return [...document.querySelectorAll('.cell text, .frame text')].filter((text) => {
                 const whole = text.closest('.cell, .frame').querySelector('.box, .frame-box');
                 const [own, box] = [text, whole].map((e) => e.getBoundingClientRect());
                 return own.width > 0 && (own.left < box.left || own.right > box.right);
             }).map((text) => text.textContent)",
        );
        assert_eq!(outside, json!([]), "{state}");
        page.is_quiet();
    }
}

#[test]
fn it_is_dark_where_that_is_wanted_and_fits_a_narrow_screen() {
    let Some(page) = Page::of(QUICKSTART) else {
        return;
    };
    let ground = "return getComputedStyle(document.body).backgroundColor";
    let box_fill = "return getComputedStyle(document.querySelector('.box')).fill";
    let light = [page.run(ground), page.run(box_fill)];
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    page.devtools("Emulation.setEmulatedMedia", &dark);
    eventually("it is dark", || {
        let now = [page.run(ground), page.run(box_fill)];
        let changed = now.iter().zip(&light).all(|(now, light)| now != light);
        changed.then_some(()).ok_or_else(|| format!("{now:?}"))
    });
    let narrow = json!({"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": false});
    page.devtools("Emulation.setDeviceMetricsOverride", &narrow);
    page.click("[aria-label='Gateway infra/edge']");
    eventually("the panel is below the picture", || {
        let places = page.run(
            "const [a, b] = ['#canvas', '#panel'].map((s) => document.querySelector(s).getBoundingClientRect());
             return [a.bottom <= b.top, b.width, document.documentElement.scrollWidth]",
        );
        let is_so = places == json!([true, 390, 390]);
        is_so.then_some(()).ok_or_else(|| places.to_string())
    });
    page.is_quiet();
}
