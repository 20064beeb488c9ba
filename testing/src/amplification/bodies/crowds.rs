//! One more object in a crowded state, and small changes with large effects.

use std::rc::Rc;

use super::{Hostile, State, changes, hostile, with};

/// One more object in a crowded state.
pub fn crowds() -> Vec<Hostile> {
    let leaves: Vec<String> = (0..2_000).map(|i| format!(r#""leaf{i}":0"#)).collect();
    let on = |kind: &str, name: &str, fields: &str| {
        with(&format!(
            r#"{{"targetRef":{{"group":"gateway.networking.k8s.io","kind":"{kind}","name":"{name}"}},{fields}}}"#
        ))
    };
    let listener = r#"{"name":"http","port":80,"protocol":"HTTP","allowedRoutes":{"namespaces":{"from":"All"}}}"#;
    let edge = format!(
        r#"{{"metadata":{{"name":"edge","namespace":"infra"}},"spec":{{"gatewayClassName":"c","listeners":[{listener}]}}}}"#
    );
    let many = on(
        "GatewayClass",
        "c",
        &format!(r#""mergeStrategy":"PatchDefaults",{}"#, leaves.join(",")),
    );
    let bodies = [
        (
            "policy on the Gateway",
            State::Crowded,
            on("Gateway", "edge", r#""own7":1"#),
        ),
        (
            "direct on the Gateway",
            State::Crowded,
            on("Gateway", "edge", r#""own7":1"#),
        ),
        (
            "overlapping on the Gateway",
            State::Crowded,
            on("Gateway", "edge", r#""own7":1"#),
        ),
        (
            "equal on the Gateway",
            State::Crowded,
            on("Gateway", "edge", r#""mode":1"#),
        ),
        ("gateway with all of them", State::Crowded, edge),
        (
            "policy with many settings on the class",
            State::Heavy,
            many.clone(),
        ),
        (
            "policy with many settings on many routes",
            State::Wide,
            many.clone(),
        ),
        (
            "policy with many settings on many listeners",
            State::Dense,
            many,
        ),
    ];
    let bodies_and_conflicts = bodies.into_iter().chain(conflicts());
    bodies_and_conflicts
        .flat_map(|(name, state, object)| changes(name, state, &object))
        .collect()
}

/// Policies that lose settings to some policies and override others.
fn conflicts() -> Vec<(&'static str, State, String)> {
    let leaves: Vec<String> = (0..4_000).map(|i| format!(r#""leaf{i}":0"#)).collect();
    let leaves = leaves.join(",");
    let reference = |kind: &str, name: &str, section: &str| {
        format!(
            r#"{{"group":"gateway.networking.k8s.io","kind":"{kind}","name":"{name}"{section}}}"#
        )
    };
    let on = |target: &str, fields: &str| with(&format!(r#"{{"targetRef":{target},{fields}}}"#));
    let class = reference("GatewayClass", "c", "");
    let edge = reference("Gateway", "edge", "");
    // One on each level of nine paths.
    let gateways = (0..9).map(|i| reference("Gateway", &format!("g{i}"), ""));
    let listeners =
        (0..9).map(|i| reference("Gateway", &format!("g{i}"), r#","sectionName":"http""#));
    let routes = (0..9).map(|i| reference("HTTPRoute", &format!("r{}", 2 * i), ""));
    let levels: Vec<String> = gateways.chain(listeners).chain(routes).collect();
    let levels = format!(r#"{{"targetRefs":[{}],{leaves}}}"#, levels.join(","));
    vec![
        (
            "policy that wins whole on the class",
            State::Conflicts,
            on(&class, &leaves),
        ),
        (
            "policy that wins in part on the class",
            State::Conflicts,
            on(
                &class,
                &format!(r#""mergeStrategy":"PatchDefaults",{leaves}"#),
            ),
        ),
        (
            "several that wins whole on each level",
            State::Conflicts,
            with(&levels),
        ),
        (
            "older with the settings of all others",
            State::Conflicts,
            on(
                &edge,
                &format!(r#""defaults":{{"strategy":"atomic",{leaves}}}"#),
            ),
        ),
        (
            "route under long names",
            State::Conflicts,
            with(r#"{"parentRefs":[{"name":"long"}],"rules":[{}]}"#),
        ),
        (
            "policy beside thousands on the class",
            State::Above,
            on(&class, r#""leaf0":0"#),
        ),
    ]
}

/// Small changes with large effects.
pub fn far() -> Vec<Hostile> {
    let on_class = with(
        r#"{"targetRef":{"group":"gateway.networking.k8s.io","kind":"GatewayClass","name":"c"},"retries":9}"#,
    );
    let other = on_class.replace("\"retries\":9", "\"retries\":8");
    let class = r#"{"metadata":{"name":"c"},"spec":{"controllerName":"example.com/c"}}"#;
    let bodies = [
        ("policy on the class", "CREATE", on_class.clone(), None),
        (
            "policy on the class",
            "UPDATE",
            on_class.clone(),
            Some(other),
        ),
        (
            "policy on the class",
            "DELETE",
            "null".to_owned(),
            Some(on_class),
        ),
        (
            "class of all",
            "DELETE",
            "null".to_owned(),
            Some(class.to_owned()),
        ),
        (
            "class of all",
            "UPDATE",
            class.replace("/c", "/d"),
            Some(class.to_owned()),
        ),
    ];
    let mut all = Vec::new();
    for (name, operation, object, old) in bodies {
        let name_of_object = if name.starts_with("class") { "c" } else { "x" };
        let (object, old) = (object.into(), old.map(Rc::from));
        for state in [State::Wide, State::Dense] {
            let one = hostile(name, operation, &object, old.as_ref());
            all.push(Hostile {
                state,
                of: name_of_object,
                ..one
            });
        }
    }
    all
}
