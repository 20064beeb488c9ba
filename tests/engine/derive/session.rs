//! `attache kinds` as programs and users see it.

use std::process::Command;

fn attache(args: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn json_is_an_interface() {
    let text = attache(&[
        "kinds",
        "RetryPolicy",
        "--from",
        "examples/quickstart",
        "-o",
        "json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["apiVersion"], "attache.dev/v1");
    assert_eq!(json["kind"], "Kinds");
    let kind = &json["kinds"][0];
    assert_eq!(kind["group"], "policies.example.com");
    assert_eq!(kind["class"], "inherited");
    assert_eq!(kind["versions"], serde_json::json!(["v1"]));
    assert_eq!(kind["scope"], "Namespaced");
    let class = &kind["facts"]["class"];
    assert_eq!(class["value"], "inherited");
    assert!(["config", "builtin", "crd", "default"].contains(&class["from"].as_str().unwrap()));
}

#[test]
fn a_kind_that_nobody_knows() {
    let run = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(["kinds", "Nonsense", "--from", "examples/quickstart"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    let why = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        why.contains("Nonsense is not a policy kind that attache knows"),
        "{why}"
    );
}
