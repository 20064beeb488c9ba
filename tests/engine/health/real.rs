//! The same checks, by the code that Argo CD and Flux run: gopher-lua, and Flux's evaluator (`tests/cluster/health`).

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Checks, Health};

/// Status of a script that cannot build its program on this machine.
const NOT_HERE: i32 = 3;

/// The results of that code for one object.
#[derive(Debug, Deserialize)]
struct Answer {
    argocd: String,
    message: String,
    flux: String,
    error: String,
}

/// Compares the answers for these objects. Does nothing where Go is missing, unless `ATTACHE_REQUIRE_CLUSTER` is set.
pub(crate) fn compare(checks: &Checks, objects: &[(String, Value)]) {
    let Some(program) = program() else { return };
    let input: Vec<Value> = objects
        .iter()
        .map(|(kind, object)| {
            let expressions = &checks.expressions[kind];
            json!({"object": object, "lua": checks.scripts[kind].0,
                   "failed": expressions.failed, "current": expressions.current})
        })
        .collect();
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = json!(input).to_string();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let ran = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(ran.status.success());
    let answers: Vec<Answer> = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(answers.len(), objects.len());
    for ((kind, object), answer) in objects.iter().zip(answers) {
        let (health, message) = checks.health_of(kind, object).unwrap();
        let at = format!("{kind} {}: {answer:?}", object["status"]);
        assert_eq!(answer.argocd, format!("{health:?}"), "{at}");
        assert_eq!(answer.message, message, "{at}");
        let flux = match health {
            Health::Healthy => "Current",
            Health::Degraded => "Failed",
            Health::Progressing if answer.error.is_empty() => "InProgress",
            // Flux asks again until its timeout.
            Health::Progressing => "Unknown",
        };
        assert_eq!(answer.flux, flux, "{at}");
        let missing = object["status"].is_null();
        assert!(answer.error.is_empty() || missing, "{at}");
    }
}

/// The program, built once.
fn program() -> Option<String> {
    let script = testing::root().join("tests/cluster/cluster.sh");
    let ran = Command::new(script)
        .args(["program", "health"])
        .output()
        .unwrap();
    if ran.status.code() == Some(NOT_HERE) {
        let required = std::env::var_os("ATTACHE_REQUIRE_CLUSTER").is_some();
        assert!(!required, "{}", String::from_utf8_lossy(&ran.stderr));
        println!("SKIPPED: the code of Argo CD and Flux cannot be built here");
        return None;
    }
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    Some(String::from_utf8(ran.stdout).unwrap().trim().to_owned())
}
