//! The health checks that `attache health` prints, run on statuses: as Argo CD runs Lua, and as Flux evaluates CEL.
//!
//! `tests/health/cases.yaml` has statuses and their health. `tests/health/recorded.yaml` lists the statuses that real controllers
//! wrote in the recordings of `tests/controllers`, with the health of each: `ATTACHE_BLESS=1` writes it.

mod argocd;
mod flux;
mod real;
mod recorded;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use argocd::Script;
use flux::Expressions;

/// The health of an object, in the words of Argo CD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Health {
    Healthy,
    Progressing,
    Degraded,
}

/// A status and its health.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// `Kind.group`.
    kind: String,
    #[serde(default)]
    status: Value,
    health: Health,
    message: String,
}

/// The checks for all kinds, by `Kind.group`.
pub(crate) struct Checks {
    scripts: BTreeMap<String, Script>,
    expressions: BTreeMap<String, Expressions>,
}

/// The JSON that `attache` prints.
pub(crate) fn printed(args: &[&str]) -> Value {
    let ran = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(args)
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    serde_saphyr::from_str(&String::from_utf8(ran.stdout).unwrap()).unwrap()
}

/// An object as the API server stores it.
pub(crate) fn object(kind: &str, status: &Value) -> Value {
    let (kind, group) = kind.split_once('.').unwrap();
    let mut managers = vec![json!({"manager": "kubectl", "operation": "Apply"})];
    if !status.is_null() {
        managers
            .push(json!({"manager": "controller", "operation": "Update", "subresource": "status"}));
    }
    let mut object = json!({
        "apiVersion": format!("{group}/v1"), "kind": kind,
        "metadata": {"name": "policy", "namespace": "shop", "generation": 2, "managedFields": managers},
        "spec": {},
    });
    if !status.is_null() {
        object["status"] = status.clone();
    }
    object
}

// === impl Checks ===

impl Checks {
    pub(crate) fn read() -> Self {
        Self {
            scripts: argocd::scripts(&printed(&["health", "argocd", "--bundled"])),
            expressions: flux::expressions(&printed(&["health", "flux"])),
        }
    }

    /// The health of an object and the message, by both tools. They must agree.
    pub(crate) fn health_of(&self, kind: &str, object: &Value) -> Result<(Health, String), String> {
        let script = self.scripts.get(kind).ok_or("no script")?;
        let (by_script, message) = script.run(object)?;
        let expressions = self.expressions.get(kind).ok_or("no expressions")?;
        let by_expressions = expressions.evaluate(object);
        if by_script == by_expressions {
            Ok((by_script, message))
        } else {
            Err(format!("Argo CD: {by_script:?}, Flux: {by_expressions:?}"))
        }
    }
}

#[test]
fn both_tools_tell_the_health_of_a_status() {
    let checks = Checks::read();
    let path = testing::cases::root("health").join("cases.yaml");
    let cases: Vec<Case> = serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = String::new();
    for case in &cases {
        let answer = checks.health_of(&case.kind, &object(&case.kind, &case.status));
        let expected = Ok((case.health, case.message.clone()));
        if answer != expected {
            writeln!(
                wrong,
                "{}\n  expected {expected:?}\n  said     {answer:?}",
                case.name
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let objects = cases
        .iter()
        .map(|case| (case.kind.clone(), object(&case.kind, &case.status)));
    real::compare(&checks, &objects.collect::<Vec<_>>());
}

#[test]
fn every_kind_with_conditions_has_both_checks_and_the_others_have_none() {
    let checks = Checks::read();
    let kinds = printed(&["kinds", "--all", "-o", "json", "--from", "tests/health"]);
    let (mut judged, mut left) = (0, 0);
    for kind in kinds["kinds"].as_array().unwrap() {
        let name = format!(
            "{}.{}",
            kind["kind"].as_str().unwrap(),
            kind["group"].as_str().unwrap()
        );
        let status_shape = kind["facts"]["status.shape"]["value"].as_str();
        let has = matches!(
            status_shape,
            Some("ancestors" | "conditions" | "controllers")
        );
        assert_eq!(checks.scripts.contains_key(&name), has, "{name}");
        assert_eq!(checks.expressions.contains_key(&name), has, "{name}");
        if has {
            judged += 1;
        } else {
            left += 1;
        }
    }
    assert!(judged > 50 && left > 5, "{judged} {left}");
}

/// A status that no schema would let through must not end in an error: Argo CD would show Unknown.
#[test]
fn no_status_makes_a_script_fail() {
    let checks = Checks::read();
    let strange = [
        json!(null),
        json!(7),
        json!("text"),
        json!([]),
        json!({"conditions": "text", "ancestors": 7, "controllers": true}),
        json!({"conditions": [1, "text", null, {}], "ancestors": ["text", {}], "controllers": [{}, []]}),
        json!({"conditions": [{"type": {}, "status": [], "reason": 1, "message": {}}]}),
        json!({"ancestors": [{"ancestorRef": "text", "controllerName": {}, "conditions": [{"type": 7}]}]}),
        json!({"observedGeneration": {}, "conditions": [{"type": "Accepted", "status": "True", "observedGeneration": []}]}),
        json!({"ancestors": [{"ancestorRef": {"name": 7, "namespace": {}, "kind": []}, "conditions": [{"type": "Accepted"}]}]}),
    ];
    for (kind, script) in &checks.scripts {
        for status in &strange {
            let mut object = object(kind, status);
            script
                .run(&object)
                .unwrap_or_else(|why| panic!("{kind} {status}: {why}"));
            object["metadata"] = json!({"generation": "2"});
            script
                .run(&object)
                .unwrap_or_else(|why| panic!("{kind} {status}: {why}"));
        }
    }
}
