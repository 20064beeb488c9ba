//! Small changes in states where large numbers multiply.

use super::{Hostile, State, changes, with};

/// One more policy, and changes of existing ones.
pub fn products() -> Vec<Hostile> {
    let reference = |group: &str, kind: &str, name: &str| {
        format!(r#"{{"group":"{group}","kind":"{kind}","name":"{name}"}}"#)
    };
    let api = "gateway.networking.k8s.io";
    let edge = reference(api, "Gateway", "edge");
    let class = reference(api, "GatewayClass", "c");
    let one = |target: &str| with(&format!(r#"{{"targetRef":{target},"x":0}}"#));
    let several = |target: &str| with(&format!(r#"{{"targetRefs":[{target}],"x":0}}"#));
    let all = format!(r#"{{"group":"{api}","kind":"HTTPRoute","matchLabels":{{"team":"x"}}}}"#);
    let many = vec![all.clone(); 64].join(",");
    let nobody = many.replace(r#""x""#, r#""nobody""#);
    let listeners = |hostname: &str| {
        let listener = |i| {
            format!(
                r#"{{"name":"l{i}","port":{i}1,"protocol":"HTTP"{hostname},"allowedRoutes":{{"namespaces":{{"from":"All"}}}}}}"#
            )
        };
        let listeners: Vec<String> = (1..64).map(listener).collect();
        format!(
            r#"{{"metadata":{{"name":"edge","namespace":"infra"}},"spec":{{"gatewayClassName":"c","listeners":[{}]}}}}"#,
            listeners.join(",")
        )
    };
    let entry = r#"{"group":"policies.example.com","kind":"SeveralPolicy","namespace":"infra"}"#;
    let grant = |entries: usize| {
        let from = vec![entry; entries].join(",");
        format!(
            r#"{{"metadata":{{"name":"x","namespace":"infra"}},"spec":{{"from":[{from}],"to":[{{"group":"{api}","kind":"HTTPRoute"}}]}}}}"#
        )
    };
    let bodies = [
        ("reaching on the Gateway", State::Backends, one(&edge)),
        ("gateway of all backends", State::Backends, listeners("")),
        ("several that selects all", State::Selected, several(&all)),
        (
            "several that selects all often",
            State::Selected,
            several(&many),
        ),
        (
            "several that selects nobody often",
            State::Selected,
            several(&nobody),
        ),
        ("gateway of all selected", State::Selected, listeners("")),
        ("grant to all selected", State::Selected, grant(16)),
        ("policy under many hostnames", State::Hostnames, one(&edge)),
        (
            "gateway of many hostnames",
            State::Hostnames,
            listeners(r#","hostname":"*.example.com""#),
        ),
        (
            "agreeing on one of many sections",
            State::Sections,
            several(r#"{"group":"example.com","kind":"Thing","name":"t","sectionName":"s7x7"}"#),
        ),
        ("opaque beside thousands", State::Sections, one(&edge)),
        ("policy over long lists", State::Long, one(&class)),
        ("gateway with long lists", State::Long, listeners("")),
        (
            "overlapping with long lists",
            State::Long,
            with(&format!(r#"{{"targetRef":{edge},"p99":0}}"#)),
        ),
        (
            "older beside long lists",
            State::Long,
            with(&format!(
                r#"{{"targetRef":{edge},"defaults":{{"strategy":"atomic","list":0}}}}"#
            )),
        ),
        (
            "mesh in a large Namespace",
            State::Called,
            one(&reference("", "Namespace", "infra")),
        ),
    ];
    bodies
        .into_iter()
        .flat_map(|(name, state, object)| changes(name, state, &object))
        .collect()
}
