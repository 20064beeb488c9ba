//! `check` on a terminal: wrapped to its width, one block per finding, refusals first.

use std::process::Command;

use unicode_width::UnicodeWidthStr;

use super::root;
use crate::terminal::sent_to_terminal;

/// The output on a terminal with this many columns.
fn on_terminal(columns: u16, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command
        .arg("check")
        .args(args)
        .current_dir(root())
        .env("NO_COLOR", "1")
        .env("PATH", "");
    sent_to_terminal(columns, &mut command).0
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for columns in [40_u16, 80, 100, 120, 200] {
        let text = on_terminal(columns, &["estate", "--notices", "--show-skipped"]);
        assert!(text.contains("failed (exit code 1)"), "{columns}: {text}");
        for line in text.lines() {
            assert!(line.width() <= usize::from(columns), "{columns}: {line:?}");
        }
    }
}

#[test]
fn a_finding_has_its_code_and_place_above_its_message() {
    let text = on_terminal(
        90,
        &[
            "estate",
            "--only",
            "section-unknown",
            "--ignore",
            "kind-unknown",
        ],
    );
    assert!(
        text.starts_with(
            "deny section-unknown  estate/apps/shop/base/policies.yaml:25:80\n\
             \x20 BackendTrafficPolicy shop/cart-checkout-limit: spec.targetRefs[0].sectionName: HTTPRoute\n\
             \x20 shop/cart has no rule \"chekout\"; did you mean \"checkout\"?\n\
             \n\
             deny section-unknown  estate/platform/policies/public.yaml:75:5\n\
             \x20 ClientTrafficPolicy infra/public-https-tls: spec.targetRefs[0].sectionName: Gateway\n\
             \x20 infra/public has no listener \"htps\"; did you mean \"https\"?\n\
             \n\
             65 objects, 27 policies: 2 deny, 0 warn\n"
        ),
        "{text}"
    );
    assert!(
        text.ends_with("\nfailed (exit code 1): 2 findings with severity deny\n"),
        "{text}"
    );
}
