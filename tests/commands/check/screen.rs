//! `check` on a terminal: within its width, a finding to a block, refusals first.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};
use unicode_width::UnicodeWidthStr;

use super::root;

/// What a terminal of so many columns is sent.
fn on_terminal(columns: u16, args: &[&str]) -> String {
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = openpty(&size, None).unwrap();
    let screen = || Stdio::from(terminal.slave.try_clone().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_attache"))
        .arg("check")
        .args(args)
        .current_dir(root())
        .env("NO_COLOR", "1")
        .env("PATH", "")
        .stdin(screen())
        .stdout(screen())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(terminal.slave);
    let mut sent = Vec::new();
    // When the last one that wrote to it is gone, reading a terminal fails.
    let _ = File::from(terminal.master).read_to_end(&mut sent);
    child.wait().unwrap();
    String::from_utf8(sent).unwrap().replace("\r\n", "\n")
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
    let text = on_terminal(90, &["estate", "--only", "section-unknown"]);
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
        text.ends_with("\nfailed (exit code 1): 2 findings deny\n"),
        "{text}"
    );
}
