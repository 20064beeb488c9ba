//! Each page: by its address, with its content, and where its links lead.

use serde_json::json;
use testing::eventually::eventually;

use super::server::{ESTATE, Live};

/// The heading of the page.
const HEADING: &str =
    "return document.querySelector('main h1')?.innerText.replace(/\\s+/g, ' ') ?? ''";

#[test]
fn the_map_leads_to_the_page_of_an_object() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/map/httproute/shop/cart");
    // The panel has what the graph does not: it is fetched.
    page.shows(
        "PartiallyEnforced BackendTrafficPolicy infra/public-traffic on Gateway infra/public",
    );
    page.shows("circuitBreaker.maxConnections");
    page.click("#panel a.page");
    page.becomes("the page of the route", HEADING, &json!("HTTPRoute cart"));
    page.run("history.back()");
    eventually("the map again, with the route", || {
        page.has("#panel:not([hidden])")
    });
    page.shows("PartiallyEnforced BackendTrafficPolicy infra/public-traffic");
    page.click("#bar [data-state=Overridden]");
    page.becomes(
        "the filter is in the address",
        "return location.hash",
        &json!("#/map/httproute/shop/cart?state=Overridden"),
    );
    page.is_quiet();
}

#[test]
fn policies_have_problems_first_and_filters_in_the_address() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/policies");
    page.shows("27 policies");
    let states = "return [...document.querySelectorAll('main tbody tr')].map((row) => row.cells[0].innerText.trim())";
    let order = page.run(states);
    let order: Vec<&str> = order
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state.as_str().unwrap())
        .collect();
    let last_bad = order
        .iter()
        .rposition(|state| ["TargetNotFound", "Invalid", "Conflicted"].contains(state));
    let first_good = order
        .iter()
        .position(|state| ["Enforced", "PartiallyEnforced"].contains(state));
    assert!(last_bad < first_good, "{order:?}");
    page.click("main .filter.state.overridden");
    page.shows("1 of 27 policies");
    page.shows("Overridden orders-auth");
    page.becomes(
        "in the address",
        "return location.hash",
        &json!("#/policies?state=Overridden"),
    );
    page.open("#/policies?kind=SecurityPolicy.gateway.envoyproxy.io&q=cors&sort=policy");
    let names = "return [...document.querySelectorAll('main tbody .row-link')].map((link) => link.innerText)";
    page.becomes(
        "a link with filters",
        names,
        &json!(["comments-cors", "internal-cors", "shop-cors"]),
    );
    page.click("main th:nth-child(2) .sort");
    page.becomes(
        "sorted the other way",
        names,
        &json!(["shop-cors", "internal-cors", "comments-cors"]),
    );
    page.open("#/policies?q=nothing-has-this-name");
    page.shows("No policy matches these filters.");
    page.click("main .empty button");
    page.shows("27 policies");
    page.is_quiet();
}

#[test]
fn an_object_shows_values_with_their_sources_and_what_differs() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/object/httproute/shop/cart");
    page.shows("overridden in part by shop/cart-checkout, shop/cart-traffic");
    let marked = "return [...document.querySelectorAll('main .yaml tr.differs')].map((row) => row.innerText.replace(/\\s+/g, ' ').trim())";
    let lines = page.run(marked);
    let lines = lines.to_string();
    assert!(
        lines.contains("requestTimeout: 5s shop/cart-traffic"),
        "{lines}"
    );
    assert!(
        lines.contains("requestTimeout: 30s infra/public-traffic"),
        "{lines}"
    );
    assert!(
        lines.contains("numRetries: 0 shop/cart-checkout"),
        "{lines}"
    );
    // Its own YAML, and commands that show the same.
    page.shows("kind: HTTPRoute");
    page.shows("attache describe httproute.gateway.networking.k8s.io/cart -n shop --from");
    page.click("main .yaml .object");
    page.becomes(
        "its policy",
        HEADING,
        &json!("BackendTrafficPolicy public-traffic"),
    );
    page.shows("attache expects");
    page.shows("Accepted=True");
    page.shows("No controller has written a status.");
    page.open("#/object/gateway/infra/public/https");
    page.becomes("a section", HEADING, &json!("Gateway public https"));
    page.open("#/object/httproute/shop/nobody");
    eventually("it says that there is none", || page.says("nobody"));
    page.open("#/objects?q=cart");
    page.shows("shop.example.com");
}

#[test]
fn a_request_shows_its_path_and_why_not_the_others() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/request");
    page.keys("main input", "shop.example.com/cart\u{e007}");
    page.shows("Served: GET https://shop.example.com/cart");
    let hops = "return [...document.querySelectorAll('main .hop')].map((hop) => hop.innerText.replace(/\\s+/g, ' '))";
    page.becomes(
        "the path",
        hops,
        &json!([
            "Gateway infra/public",
            "Listener https HTTPS 443 *.example.com",
            "HTTPRoute shop/cart",
            "Rule browse hostname shop.example.com, PathPrefix /cart",
            "Backend shop/cart:8080",
        ]),
    );
    page.shows("PathPrefix / is less specific than PathPrefix /cart");
    page.shows("requestTimeout: 5s shop/cart-traffic");
    page.open("#/request?url=https%3A%2F%2Fnobody.example.com%2F&method=POST");
    page.shows("Not served: POST https://nobody.example.com/");
    page.shows("no route of the listener has the hostname nobody.example.com");
    page.is_quiet();
}

#[test]
fn a_change_shows_what_it_takes_before_it_is_made() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/change");
    let policy = "apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: public-jwt, namespace: infra}";
    page.fill("#change-body", policy);
    page.click("main fieldset label:nth-of-type(2)");
    page.click("main button.primary");
    page.shows("Lost protection");
    page.shows("authentication");
    page.shows("deletes SecurityPolicy infra/public-jwt");
    let newly = "return document.querySelector(\"[aria-label='Guardrails before and after'] tbody tr\")?.innerText.replace(/\\s+/g, ' ') ?? ''";
    eventually("the guardrail before and after", || {
        let row = page.run(newly).to_string();
        let is_so = row.contains("public-routes-need-authentication") && row.contains("4 → 0");
        is_so.then_some(()).ok_or(row)
    });
    // The typed text is still there after a look at another page.
    page.open("#/policies");
    page.shows("27 policies");
    page.open("#/change");
    page.becomes(
        "it is kept",
        "return document.querySelector('#change-body').value",
        &json!(policy),
    );
    page.shows("Lost protection");
    page.fill("#change-body", "kind: [");
    page.click("main button.primary");
    eventually("a mistake is explained", || {
        page.has("main .bad-notice[role=alert]")
    });
}

/// Two files at once, as from a file manager.
#[test]
fn dropped_files_are_one_change() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/change");
    eventually("the field is there", || page.has("#change-body"));
    page.run(
        "const files = new DataTransfer();
        const policy = (kind, name) => `apiVersion: gateway.envoyproxy.io/v1alpha1\\nkind: ${kind}\\nmetadata: {name: ${name}, namespace: infra}\\n`;
        files.items.add(new File([policy('SecurityPolicy', 'public-jwt')], 'jwt.yaml'));
        files.items.add(new File([policy('BackendTrafficPolicy', 'public-traffic')], 'traffic.yaml'));
        const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: files });
        document.querySelector('#change-body').dispatchEvent(event);",
    );
    page.becomes(
        "both are in the field",
        "return document.querySelector('#change-body').value.split('\\n---\\n').length",
        &json!(2),
    );
    page.click("main fieldset label:nth-of-type(2)");
    page.click("main button.primary");
    page.shows(
        "deletes BackendTrafficPolicy infra/public-traffic, SecurityPolicy infra/public-jwt",
    );
    page.is_quiet();
}

#[test]
fn guardrails_are_grouped_by_guardrail_or_by_team() {
    let Some(page) = Live::of(&ESTATE) else {
        return;
    };
    page.load("#/guardrails");
    page.shows("public-routes-need-authentication 1 broken");
    page.shows("HTTPRoute shop/storefront");
    page.shows("blog/posts until 2027-03-31");
    page.shows("routes-have-a-timeout fulfilled");
    page.click("main .tools button:nth-child(2)");
    // By the label of the Namespace; without one it would be "namespace shop".
    page.becomes(
        "the team",
        "return document.querySelector('.bad-card h2').innerText",
        &json!("shop"),
    );
    page.becomes(
        "in the address",
        "return location.hash",
        &json!("#/guardrails?by=team"),
    );
    page.is_quiet();
}
