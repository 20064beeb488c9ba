//! Output on a terminal and in a file.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};
use unicode_width::UnicodeWidthStr;

use crate::run::{root, run};

const POLICIES: [&str; 4] = ["policies", "-A", "--from", "examples/quickstart"];

/// The standard output on a terminal with this many columns, and whether the command succeeded.
pub(crate) fn sent_to_terminal(columns: u16, command: &mut Command) -> (String, bool) {
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = openpty(&size, None).unwrap();
    let screen = || Stdio::from(terminal.slave.try_clone().unwrap());
    let mut child = command
        .stdin(screen())
        .stdout(screen())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The command keeps copies of the terminal.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    drop(terminal.slave);
    let mut sent = Vec::new();
    // Reading a terminal fails when its last writer is gone.
    let _ = File::from(terminal.master).read_to_end(&mut sent);
    let succeeded = child.wait().unwrap().success();
    let text = String::from_utf8(sent).unwrap().replace("\r\n", "\n");
    (text, succeeded)
}

/// The output of a successful command on a terminal with this many columns.
pub(crate) fn on_terminal(
    columns: u16,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command
        .args(arguments)
        .current_dir(root())
        .env_remove("KUBECONFIG")
        .env_remove("NO_COLOR")
        .env("HOME", root().join("target"))
        .env("TERM", "xterm")
        .envs(environment.iter().copied());
    let (text, succeeded) = sent_to_terminal(columns, &mut command);
    assert!(succeeded);
    text
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let coloured = on_terminal(200, &POLICIES, &[]);
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    let plain = run(&POLICIES).clean();
    assert!(!plain.contains('\u{1b}'), "{plain}");
    for environment in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert_eq!(on_terminal(200, &POLICIES, &[environment]), plain);
    }
    // As no-color.org specifies, an empty value has no effect.
    assert_eq!(on_terminal(200, &POLICIES, &[("NO_COLOR", "")]), coloured);
}

#[test]
fn wide_cells_wrap_within_their_column_and_no_name_is_cut() {
    let arguments = [
        "describe",
        "httproute/cart",
        "-n",
        "shop",
        "--from",
        "examples/quickstart",
    ];
    let wide = run(&arguments).clean();
    let table = |text: &str| {
        let (_, below) = text.split_once("POLICY").unwrap();
        let (table, _) = below.split_once("\n\n").unwrap();
        format!("POLICY{table}")
    };
    let widest = |text: &str| text.lines().map(UnicodeWidthStr::width).max().unwrap();
    assert!(widest(&table(&wide)) > 100, "{wide}");
    let shown = on_terminal(90, &arguments, &[("NO_COLOR", "1")]);
    assert!(widest(&table(&shown)) <= 90, "{shown}");
    for name in [
        "edge-retries",
        "shop-retries",
        "edge-timeouts",
        "TimeoutPolicy",
    ] {
        assert!(table(&shown).contains(name), "{name}\n{shown}");
    }
    // On an unreadably narrow terminal, lines are longer than its width.
    let narrow = on_terminal(10, &arguments, &[("NO_COLOR", "1")]);
    assert!(narrow.contains("edge-retries"), "{narrow}");
}

#[test]
fn json_has_no_colour_anywhere() {
    let arguments = [
        "policies",
        "-A",
        "--from",
        "examples/quickstart",
        "-o",
        "json",
    ];
    let shown = on_terminal(40, &arguments, &[]);
    assert_eq!(shown, run(&arguments).clean());
}
