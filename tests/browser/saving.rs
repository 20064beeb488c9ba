//! Saving pictures and copying commands.

use serde_json::json;

use super::HOSTILE;
use super::page::Page;

/// Captures saved files in place of writing them to disk.
const KEEP: &str = "window.kept = [];
    URL.createObjectURL = ((own) => (blob) => { window.kept.push(blob); return own.call(URL, blob); })(URL.createObjectURL);
    HTMLAnchorElement.prototype.click = function () { window.named = this.download; };";

#[test]
fn the_map_is_saved_as_a_picture_with_its_styles_and_legend() {
    let Some(page) = Page::of(HOSTILE) else {
        return;
    };
    page.run(KEEP);
    page.click("#save-svg");
    let svg = page.run_later("window.kept[0].text().then(arguments[0])");
    let svg = svg.as_str().unwrap();
    let picture = roxmltree::Document::parse(svg).unwrap();
    let root = picture.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    let elements = || picture.descendants().filter(roxmltree::Node::is_element);
    assert!(elements().any(|element| element.tag_name().name() == "style"));
    // Names are plain text here, too.
    let foreign = ["script", "img", "image", "foreignObject"];
    assert!(elements().all(|element| !foreign.contains(&element.tag_name().name())));
    assert!(elements().all(|element| element.attributes().all(|a| !a.name().starts_with("on"))));
    let texts: Vec<&str> = elements().filter_map(|element| element.text()).collect();
    assert!(
        texts.contains(&"</script><img src=x onerror=alert(1)>"),
        "{texts:?}"
    );
    assert!(
        texts.contains(&"PartiallyEnforced"),
        "its legend: {texts:?}"
    );
    assert_eq!(page.run("return window.named"), json!("attache.svg"));
    page.is_quiet();
}

#[test]
fn the_map_is_saved_as_pixels() {
    let Some(page) = Page::of("examples/quickstart") else {
        return;
    };
    page.run(KEEP);
    page.click("#save-png");
    let size = page.run_later(
        "const done = arguments[0];
         const wait = () => (window.named ? createImageBitmap(window.kept[1]).then((b) => done([b.width > 800, b.height > 400])) : requestAnimationFrame(wait));
         wait();",
    );
    assert_eq!(size, json!([true, true]));
    assert_eq!(page.run("return window.named"), json!("attache.png"));
    page.is_loaded_from_itself();
}

#[test]
fn commands_can_be_run_as_they_are() {
    let Some(page) = Page::of("examples/quickstart") else {
        return;
    };
    page.click("[aria-label^='TP cart-timeouts']");
    let commands = page.run(
        "return [...document.querySelectorAll('.command code')].map((code) => code.textContent)",
    );
    assert_eq!(
        commands,
        json!([
            "kubectl get timeoutpolicy.policies.example.com/cart-timeouts -n shop -o yaml",
            "attache describe timeoutpolicy.policies.example.com/cart-timeouts -n shop --from examples/quickstart",
            "attache graph timeoutpolicy.policies.example.com/cart-timeouts -n shop -o html --from examples/quickstart > graph.html",
            "#timeoutpolicy/shop/cart-timeouts",
        ])
    );
    page.is_quiet();
    let Some(page) = Page::of(HOSTILE) else {
        return;
    };
    page.click("[aria-label='Gateway end/a\"b\\\\']");
    let commands = page.run("return document.querySelector('.command code').textContent");
    assert_eq!(
        commands,
        json!("kubectl get 'gateway.gateway.networking.k8s.io/a\"b\\' -n end -o yaml")
    );
    page.is_quiet();
}
