//! Policies that conflict by their settings, and policies on targets that set the same fields themselves.

use super::{Hostile, State, changes, with};

/// One more policy, and changes of it.
pub fn disputes() -> Vec<Hostile> {
    let gateway = |name: &str| {
        format!(r#"{{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"{name}"}}"#)
    };
    let one = |target: &str, fields: &str| with(&format!(r#"{{"targetRef":{target},{fields}}}"#));
    let targets: Vec<String> = (0..64).map(|i| gateway(&format!("g{i}"))).collect();
    let targets = targets.join(",");
    let all = |fields: &str| with(&format!(r#"{{"targetRefs":[{targets}],{fields}}}"#));
    let many = |name: &str| {
        let leaves = (0..1_300).map(|i| format!(r#""{name}{i}":0"#));
        leaves.collect::<Vec<_>>().join(",")
    };
    let deep = format!(
        "{}{{{}}}{}",
        r#"{"k":"#.repeat(99),
        many("mine"),
        "}".repeat(99)
    );
    let class = r#"{"group":"gateway.networking.k8s.io","kind":"GatewayClass","name":"c"}"#;
    let on_edge = gateway("edge");
    let bodies = [
        ("disputed on all", State::Disputed, all(r#""mine":0"#)),
        (
            "disputed as the last is",
            State::Disputed,
            all(r#""own19x7":0"#),
        ),
        (
            "disputed in many fields",
            State::Disputed,
            all(&many("own7x")),
        ),
        (
            "agreeing on all",
            State::Disputed,
            all(&format!(r#""mode":"{}","x":0"#, "m".repeat(200_000))),
        ),
        (
            "agreeing with nobody",
            State::Disputed,
            all(r#""mode":"other","x":0"#),
        ),
        (
            "overlapping as the last is",
            State::Disputed,
            one(&on_edge, r#""own59x7":0"#),
        ),
        (
            "overlapping with nobody",
            State::Disputed,
            one(&on_edge, r#""mine":0"#),
        ),
        (
            "overlapping as the last of five is",
            State::Disputed,
            one(&gateway("near"), r#""own4x7":0"#),
        ),
        (
            "policy as deep as another",
            State::Disputed,
            one(&gateway("deep"), &format!(r#""k":{deep}"#)),
        ),
        (
            "owned on the class",
            State::Owned,
            one(class, r#""overrides":{"own":{"o7":0}}"#),
        ),
        (
            "owned with many settings",
            State::Owned,
            one(class, &format!(r#""defaults":{{"own":{{{}}}}}"#, many("o"))),
        ),
        (
            "owned that sets nothing of theirs",
            State::Owned,
            one(class, r#""defaults":{"x":0}"#),
        ),
    ];
    bodies
        .into_iter()
        .flat_map(|(name, state, object)| changes(name, state, &object))
        .collect()
}
