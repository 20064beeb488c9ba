//! Tests of the page when the state changes while it is open, and when the server goes away.

use serde_json::json;
use testing::eventually::eventually;

use super::server::{ESTATE, Live};

const SHOP: &str = "40-shop.yaml";

#[test]
fn an_edited_file_is_seen_without_a_reload() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/object/httproute/shop/cart");
    page.shows("requestTimeout: 5s shop/cart-traffic");
    page.run("window.isSame = true; document.querySelector('main').scrollTop = 300");
    page.edit(SHOP, "requestTimeout: 5s", "requestTimeout: 7s");
    page.shows("requestTimeout: 7s shop/cart-traffic");
    let same = "return [window.isSame, document.querySelector('main').scrollTop]";
    assert_eq!(page.run(same), json!([true, 300]));
    page.open("#/history");
    page.shows("BackendTrafficPolicy.gateway.envoyproxy.io/shop/cart-traffic updated");
    page.shows("timeout.http.requestTimeout 5s 7s");
    page.is_quiet();
}

#[test]
fn the_map_keeps_its_place_selection_and_search() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/map/httproute/shop/cart");
    page.shows("circuitBreaker.maxConnections");
    page.keys("#search", "cart");
    page.click("#in");
    let kept = "return [document.querySelector('#view').getAttribute('transform'), document.querySelector('#search').value, location.hash,
        document.querySelector('[aria-pressed=true].part').getAttribute('aria-label'), document.activeElement.id]";
    page.run("document.querySelector('#search').focus()");
    let before = page.run(kept);
    page.edit(
        SHOP,
        "name: cart-checkout-limit",
        "name: cart-checkout-limited",
    );
    eventually("the map has the new name", || {
        let there = page.run(
            "return document.querySelector('#view').textContent.includes('cart-checkout-limited')",
        );
        (there == json!(true))
            .then_some(())
            .ok_or_else(|| there.to_string())
    });
    assert_eq!(page.run(kept), before);
    page.is_quiet();
}

#[test]
fn a_lost_connection_is_said_and_what_was_shown_stays() {
    let Some(mut page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/policies");
    page.shows("27 policies");
    page.stop();
    eventually("it says that the connection is lost", || {
        page.has(".live.lost")
    });
    page.says("27 policies").unwrap();
}

#[test]
fn what_cannot_be_read_is_listed() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    std::fs::write(page.file("90-broken.yaml"), "kind: [\n").unwrap();
    page.click(".unread");
    eventually("the file is named", || {
        let text = page.text(".unread-list");
        text.contains("90-broken.yaml").then_some(()).ok_or(text)
    });
    std::fs::remove_file(page.file("90-broken.yaml")).unwrap();
    eventually("it is no longer named", || {
        let text = page.text(".unread-list");
        let is_named = text.contains("90-broken.yaml");
        (!is_named).then_some(()).ok_or(text)
    });
}
