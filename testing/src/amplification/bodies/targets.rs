//! Many targets, unusual targets, and targets with absurd names.

use std::rc::Rc;

use super::{Hostile, LARGEST, State, TARGET, hostile, many, on_edge, with};

/// Many targets, unusual targets, and targets with absurd names.
#[allow(clippy::too_many_lines)] // A list.
pub fn targets() -> Vec<Hostile> {
    let list = |one: &str| with(&format!(r#"{{"targetRefs":[{}],"retries":3}}"#, many(one)));
    let single = |target: &str| with(&format!(r#"{{"targetRef":{target},"retries":3}}"#));
    let long = "n".repeat(LARGEST - 400);
    let odd = "\\u0001".repeat(LARGEST / 6 - 100);
    let on = |name: &str, section: &str| {
        format!(
            r#"{{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"{name}","sectionName":"{section}"}}"#
        )
    };
    let labels = |one: &str, close: &str, open: &str| {
        format!(
            r#"{{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","selector":{{{open}{}{close}}}}}"#,
            many(one)
        )
    };
    let mut bodies = vec![
        ("plain on what is no object", list("0")),
        ("plain on nothing", list("{}")),
        (
            "plain on one Gateway",
            list(r#"{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge"}"#),
        ),
        (
            "plain on many Gateways",
            list(r#"{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"g#"}"#),
        ),
        ("plain on many sections", list(&on("edge", "htt#"))),
        (
            "plain on many groups",
            list(r#"{"group":"g#","kind":"Gateway","name":"g"}"#),
        ),
        (
            "plain on many versions",
            list(r#"{"group":"g/v#","kind":"Gateway","name":"g"}"#),
        ),
        (
            "plain on many selections",
            list(r#"{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","selector":{}}"#),
        ),
        ("policy on a long name", single(&on(&long, "http"))),
        ("policy on a long section", single(&on("edge", &long))),
        ("policy on a long odd section", single(&on("edge", &odd))),
        (
            "policy on a long group",
            single(&format!(
                r#"{{"group":"{long}","kind":"Gateway","name":"g"}}"#
            )),
        ),
        (
            "policy on a long versioned group",
            single(&format!(
                r#"{{"group":"a/{long}","kind":"Gateway","name":"g"}}"#
            )),
        ),
        (
            "policy on a long kind",
            single(&format!(r#"{{"group":"","kind":"{long}","name":"g"}}"#)),
        ),
        (
            "policy of a long strategy",
            with(&format!(
                r#"{{{TARGET},"mergeStrategy":"{long}","retries":1}}"#
            )),
        ),
    ];
    bodies.push((
        "plain on many labels",
        with(&format!(
            r#"{{"targetRefs":[{}],"x":1}}"#,
            labels(r#""l#":"v""#, "}", r#""matchLabels":{"#)
        )),
    ));
    bodies.push((
        "plain on many expressions",
        with(&format!(
            r#"{{"targetRefs":[{}],"x":1}}"#,
            labels(
                r#"{"key":"l#","operator":"DoesNotExist"}"#,
                "]",
                r#""matchExpressions":["#
            )
        )),
    ));
    bodies.push((
        "plain on many values",
        with(&format!(
            r#"{{"targetRefs":[{}],"x":1}}"#,
            labels(
                r#""v#""#,
                "]}]",
                r#""matchExpressions":[{"key":"team","operator":"NotIn","values":["#
            )
        )),
    ));
    let before: Rc<str> = on_edge("\"retries\":1").into();
    let all = bodies.into_iter().flat_map(|(name, object)| {
        let object = object.into();
        let create = hostile(name, "CREATE", &object, None);
        let state = State::Wide;
        [
            Hostile { state, ..create },
            hostile(name, "UPDATE", &object, Some(&before)),
        ]
    });
    all.collect()
}
