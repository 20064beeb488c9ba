//! Topology objects larger than their CRDs allow.

use std::rc::Rc;

use super::{Hostile, State, hostile, many, with};

/// Topology objects larger than their CRDs allow.
#[allow(clippy::too_many_lines)] // A list.
pub fn topology() -> Vec<Hostile> {
    let listeners = |one: &str| {
        format!(
            r#""gatewayClassName":"c","parentRef":{{"name":"edge"}},"listeners":[{}]"#,
            many(one)
        )
    };
    let specs = [
        (
            "gateway with many listeners",
            listeners(r#"{"name":"l#","port":1}"#),
        ),
        (
            "gateway with many listeners of one name",
            listeners(r#"{"name":"http","port":80,"protocol":"HTTP"}"#),
        ),
        (
            "gateway with many hosts",
            listeners(
                r#"{"name":"l#","hostname":"h#.example.com","allowedRoutes":{"namespaces":{"from":"All"}}}"#,
            ),
        ),
        (
            "gateway with many selectors",
            listeners(
                r#"{"name":"l#","allowedRoutes":{"namespaces":{"from":"Selector","selector":{"matchLabels":{"team":"x"}}}}}"#,
            ),
        ),
        (
            "gateway with many kinds",
            format!(
                r#""gatewayClassName":"c","listeners":[{{"name":"http","port":80,"allowedRoutes":{{"kinds":[{}]}}}}]"#,
                many(r#"{"kind":"A"}"#)
            ),
        ),
        (
            "set with many listeners",
            listeners(r#"{"name":"l#","port":1}"#),
        ),
        (
            "route with many parents",
            format!(r#""parentRefs":[{}]"#, many(r#"{"name":"edge"}"#)),
        ),
        (
            "route with many other parents",
            format!(
                r#""parentRefs":[{}]"#,
                many(r#"{"name":"g#","sectionName":"http"}"#)
            ),
        ),
        (
            "route with many hosts",
            format!(
                r#""parentRefs":[{{"name":"edge"}}],"hostnames":[{}]"#,
                many(r#""h#.example.com""#)
            ),
        ),
        (
            "route with many empty rules",
            format!(
                r#""parentRefs":[{{"name":"edge"}}],"rules":[{}]"#,
                many("{}")
            ),
        ),
        (
            "route with many rules",
            format!(
                r#""parentRefs":[{{"name":"edge"}}],"rules":[{}]"#,
                many(r#"{"name":"r#","backendRefs":[{"name":"cart"}]}"#)
            ),
        ),
        (
            "route with many backends",
            format!(
                r#""parentRefs":[{{"name":"edge"}}],"rules":[{{"backendRefs":[{}]}}]"#,
                many(r#"{"name":"s#"}"#)
            ),
        ),
        (
            "route with many empty backends",
            format!(
                r#""parentRefs":[{{"name":"edge"}}],"rules":[{{"backendRefs":[{}]}}]"#,
                many("{}")
            ),
        ),
        (
            "service with many ports",
            format!(r#""ports":[{}]"#, many(r#"{"name":"p#","port":80}"#)),
        ),
        (
            "service with many empty ports",
            format!(r#""ports":[{}]"#, many("{}")),
        ),
        (
            "grant from many",
            format!(
                r#""from":[{}],"to":[{{"group":"","kind":"Service"}}]"#,
                many(r#"{"group":"policies.example.com","kind":"PlainPolicy","namespace":"ns1"}"#)
            ),
        ),
        (
            "grant to many",
            format!(
                r#""from":[{{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","namespace":"ns1"}}],"to":[{}]"#,
                many(r#"{"group":"","kind":"Service"}"#)
            ),
        ),
    ];
    let mut bodies = Vec::new();
    for (name, spec) in specs {
        let object = with(&format!("{{{spec}}}"));
        let other: Rc<str> = object.replacen("edge", "edgy", 2).into();
        let object: Rc<str> = object.into();
        // The Gateway that everything is attached to.
        let name_of_object = if name.starts_with("gateway") {
            "edge"
        } else {
            "x"
        };
        for state in [State::Small, State::Dense] {
            let create = hostile(name, "CREATE", &object, None);
            let update = hostile(name, "UPDATE", &object, Some(&other));
            bodies.extend([create, update].map(|it| Hostile {
                state,
                of: name_of_object,
                ..it
            }));
        }
    }
    bodies
}
