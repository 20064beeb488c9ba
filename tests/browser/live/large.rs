//! 150 and 2,000 routes: the page stays usable.

use std::time::{Duration, Instant};

use serde_json::json;
use testing::eventually::eventually;

use super::server::Live;
use crate::page::many;

/// For what a user waits after an action, with a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn two_thousand_routes_can_be_read() {
    let Some(page) = Live::of_manifests(&many(20, 100)) else {
        return;
    };
    page.load("#/map");
    eventually("namespaces are boxes", || page.has("#view .frame.closed"));
    let closed = "return document.querySelectorAll('#view .frame.closed').length";
    page.becomes("one box a namespace", closed, &json!(20));
    let start = Instant::now();
    page.click("[aria-label^='Namespace team-3:'] .frame-name");
    page.becomes("one is open", closed, &json!(19));
    page.open("#/objects");
    page.shows("1 to 100 of");
    // A page of rows, not thousands.
    assert_eq!(
        page.run("return document.querySelectorAll('main tbody tr').length"),
        json!(100)
    );
    page.keys("main [data-search]", "route-77 team-11 httproute");
    page.shows("1 of ");
    page.click("main tbody .row-link");
    page.shows("edge-traffic");
    page.open("#/policies");
    page.shows("21 policies");
    page.open("#/object/gateway/infra/edge");
    // Paths with the same values are one.
    page.shows("21 variants");
    page.shows("1980 paths");
    assert!(start.elapsed() < 6 * PATIENCE, "{:?}", start.elapsed());
    page.is_quiet();
}

#[test]
fn a_hundred_and_fifty_routes_can_be_read() {
    let Some(page) = Live::of_manifests(&many(5, 30)) else {
        return;
    };
    page.load("#/map");
    eventually("namespaces are boxes", || page.has("#view .frame"));
    let closed = "return document.querySelectorAll('#view .frame.closed').length";
    page.becomes("one box a namespace", closed, &json!(5));
    page.click("[aria-label^='Namespace team-3:'] .frame-name");
    page.becomes("one is open", closed, &json!(4));
    page.open("#/objects");
    page.shows("1 to 100 of");
    page.keys("main [data-search]", "route-7 team-4 httproute");
    page.shows("1 of ");
    page.click("main tbody .row-link");
    page.shows("edge-traffic");
    page.open("#/policies");
    page.shows("6 policies");
    page.open("#/object/gateway/infra/edge");
    page.shows("6 variants");
    page.is_quiet();
}
