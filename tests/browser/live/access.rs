//! Accessibility of every page, as axe-core judges it, in light and dark.

use serde_json::json;
use testing::eventually::eventually;

use super::server::{ESTATE, Live};
use crate::accessibility::{FAULTS, axe};

#[test]
fn there_are_no_serious_faults_of_accessibility_on_any_page() {
    let Some(axe) = axe() else {
        return;
    };
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    for scheme in ["light", "dark"] {
        page.scheme(scheme);
        for (hash, ready) in [
            ("#/map", "#view .cell"),
            ("#/map/httproute/shop/cart", "#panel table"),
            ("#/policies", "main tbody tr"),
            ("#/objects", "main tbody tr"),
            ("#/object/httproute/shop/cart", ".yaml"),
            ("#/object/gateway/infra/public", ".yaml"),
            (
                "#/object/backendtrafficpolicy.gateway.envoyproxy.io/shop/cart-traffic",
                ".conditions",
            ),
            ("#/object/httproute/shop/nobody", ".notice"),
            (
                "#/request?url=https%3A%2F%2Fshop.example.com%2Fcart",
                ".hop",
            ),
            (
                "#/request?url=https%3A%2F%2Fnobody.example.com%2F",
                ".verdict",
            ),
            ("#/change", "#change-body"),
            ("#/guardrails", ".bad-card"),
            ("#/guardrails?by=team", ".bad-card"),
            ("#/history", ".empty, .history"),
        ] {
            page.load(hash);
            eventually("it is loaded", || page.has(ready));
            page.run(&axe);
            assert_eq!(page.run_later(FAULTS), json!([]), "{hash}, {scheme}");
        }
        page.press(&["?"]);
        eventually("the keys", || page.has("dialog[open]"));
        assert_eq!(page.run_later(FAULTS), json!([]), "the keys, {scheme}");
    }
}
