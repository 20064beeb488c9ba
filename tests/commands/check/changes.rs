//! `impact` and `check` on changes of the estate.

use std::process::Command;

use super::estate::{check_alone, counted, nothing};
use super::{json, root, stdout};

#[test]
fn a_change_says_first_what_it_takes_away() {
    let impact = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_attache"))
            .arg("impact")
            .args(args)
            .args(["--from", "estate"])
            .current_dir(root())
            .env("PATH", nothing().path())
            .output()
            .unwrap();
        stdout(&output)
    };
    let renamed = impact(&["-f", "estate-changes/gw-rename.yaml"]);
    assert!(
        renamed.starts_with(
            "Traffic\n  4 HTTPRoutes in 2 namespaces: payments/pay-api, shop/cart, shop/catalog and 1 more lose their only listener: no request reaches them\n"
        ),
        "{renamed}"
    );
    let grant = impact(&["--delete", "referencegrant/from-tools", "-n", "payments"]);
    assert!(grant.starts_with("Traffic\n  HTTPRoute tools/partner-orders no longer reaches Service payments/pay: no ReferenceGrant"), "{grant}");
    let cors = impact(&["-f", "estate-changes/sp-cart.yaml"]);
    assert!(cors.starts_with("Protection lost\n"), "{cors}");
    // Routes without requests are reported once.
    assert!(!renamed.contains("Protection lost\n  ON"), "{renamed}");
    let comment = impact(&["-f", "estate-changes/gw-rename.yaml", "-o", "markdown"]);
    assert!(comment.starts_with("**attache impact**: "), "{comment}");
    assert!(
        comment.contains("\n**Traffic**\n\n- 4 HTTPRoutes"),
        "{comment}"
    );
    assert!(comment.contains("<details><summary>"), "{comment}");
}

#[test]
fn changes_of_the_estate_are_told_once() {
    for (file, codes) in [
        ("empty.yaml", &["protection-lost"][..]),
        ("sp-cart.yaml", &["protection-lost"]),
        ("xns.yaml", &["target-namespace-forbidden"]),
        (
            "tref.yaml",
            &["target-group-versioned", "target-missing-ref"],
        ),
    ] {
        let change = format!("estate-changes/{file}");
        let report = json(&check_alone(
            &root(),
            &[&change, "--from", "estate", "-o", "json"],
        ));
        let found: Vec<String> = counted(&report)
            .into_iter()
            .map(|(_, code, _)| code)
            .collect();
        assert_eq!(found, codes, "{file}: {report:#}");
    }
}
