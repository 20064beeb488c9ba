//! Random objects of every kind, with few names, so that they refer to each other.

use attache::engine::model::ids::GATEWAY_API;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::events::{Event, GROUP, KINDS, definition};

const NAMESPACES: [&str; 2] = ["a", "b"];
const HOSTS: [&str; 5] = [
    "*.example.com",
    "shop.example.com",
    "*.shop.example.com",
    "example.com",
    "*",
];

fn one(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    select(from)
}

fn maybe(from: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), select(from).prop_map(|text| json!(text))]
}

/// Removes null fields: references and specs omit them.
fn said(mut value: Value) -> Value {
    value.as_object_mut().unwrap().retain(|_, v| !v.is_null());
    value
}

fn gateway_api(kind: &str, namespace: Option<&str>, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind,
           "metadata": said(json!({"namespace": namespace, "name": name})), "spec": said(spec)})
}

fn allowed() -> impl Strategy<Value = Value> {
    select(vec![
        Value::Null,
        json!({"namespaces": {"from": "All"}}),
        json!({"namespaces": {"from": "All"}}),
        json!({"namespaces": {"from": "Same"}}),
        json!({"namespaces": {"from": "None"}}),
        json!({"namespaces": {"from": "Selector", "selector": {"matchLabels": {"team": "x"}}}}),
        json!({"namespaces": {"from": "All"}, "kinds": [{"kind": "GRPCRoute"}]}),
    ])
}

fn listeners(most: usize) -> impl Strategy<Value = Vec<Value>> {
    const PROTOCOLS: [&str; 7] = [
        "HTTP",
        "HTTP",
        "HTTPS",
        "TLS",
        "TCP",
        "UDP",
        "example.com/x",
    ];
    let listener = (
        one(&["l0", "l1", "l2", "l3"]),
        one(&PROTOCOLS),
        maybe(&HOSTS),
        allowed(),
        80..82_u16,
    );
    let listener = listener.prop_map(|(name, protocol, hostname, allowed, port)| {
        said(
            json!({"name": name, "port": port, "protocol": protocol, "hostname": hostname,
                    "allowedRoutes": allowed}),
        )
    });
    proptest::collection::vec(listener, 0..=most)
}

fn gateway() -> impl Strategy<Value = Value> {
    let names = (one(&NAMESPACES), one(&["g0", "g1"]), one(&["c0", "c1"]));
    (names, listeners(4), allowed()).prop_map(|((namespace, name, class), listeners, sets)| {
        let sets = said(json!({"namespaces": sets["namespaces"]}));
        gateway_api(
            "Gateway",
            Some(namespace),
            name,
            json!({"gatewayClassName": class, "listeners": listeners, "allowedListeners": sets}),
        )
    })
}

fn listener_set() -> impl Strategy<Value = Value> {
    let names = (
        one(&NAMESPACES),
        one(&["g0", "s1"]),
        one(&["g0", "g1"]),
        maybe(&NAMESPACES),
    );
    (names, listeners(2)).prop_map(|((namespace, name, parent, there), listeners)| {
        let parent = said(json!({"name": parent, "namespace": there}));
        gateway_api(
            "ListenerSet",
            Some(namespace),
            name,
            json!({"parentRef": parent, "listeners": listeners}),
        )
    })
}

fn parent() -> impl Strategy<Value = Value> {
    let which = select(vec![
        json!({"kind": "Gateway", "name": "g0"}),
        json!({"name": "g0"}),
        json!({"name": "g1"}),
        json!({"kind": "ListenerSet", "name": "g0"}),
        json!({"kind": "ListenerSet", "name": "s1"}),
        json!({"kind": "Service", "group": "", "name": "v0"}),
    ]);
    let rest = (
        maybe(&NAMESPACES),
        prop_oneof![3 => Just(Value::Null), 1 => maybe(&["l0", "l1"])],
        select(vec![None, None, None, Some(80), Some(81)]),
    );
    (which, rest).prop_map(|(mut parent, (namespace, section, port))| {
        parent["namespace"] = namespace;
        parent["sectionName"] = section;
        parent["port"] = json!(port);
        said(parent)
    })
}

fn backend() -> impl Strategy<Value = Value> {
    let which = select(vec![
        json!({"name": "v0"}),
        json!({"name": "v0"}),
        json!({"name": "v1"}),
        json!({"group": "example.com", "kind": "Bucket", "name": "v0"}),
        json!({"group": GATEWAY_API, "kind": "HTTPRoute", "name": "r0"}),
    ]);
    let port = select(vec![None, Some(80), Some(81)]);
    (which, maybe(&NAMESPACES), port).prop_map(|(mut backend, namespace, port)| {
        backend["namespace"] = namespace;
        backend["port"] = json!(port);
        said(backend)
    })
}

fn route() -> impl Strategy<Value = Value> {
    let names = (
        select(vec![
            "HTTPRoute",
            "HTTPRoute",
            "GRPCRoute",
            "TCPRoute",
            "TLSRoute",
            "UDPRoute",
        ]),
        one(&NAMESPACES),
        one(&["r0", "r1", "g0"]),
    );
    let rule = (
        maybe(&["one", "two", "rule-1"]),
        proptest::collection::vec(backend(), 0..3),
    );
    let rule =
        rule.prop_map(|(name, backends)| said(json!({"name": name, "backendRefs": backends})));
    let spec = (
        proptest::collection::vec(parent(), 0..3),
        proptest::collection::vec(one(&HOSTS), 0..2),
        proptest::collection::vec(rule, 0..3),
        select(vec![Value::Null, json!("own"), json!("")]),
    );
    (names, spec).prop_map(|((kind, namespace, name), (parents, hosts, rules, x))| {
        gateway_api(
            kind,
            Some(namespace),
            name,
            json!({"parentRefs": parents, "hostnames": hosts, "rules": rules, "x": x}),
        )
    })
}

fn core(kind: &str, namespace: Option<&str>, name: &str, labels: &Value, spec: &Value) -> Value {
    let meta = said(json!({"namespace": namespace, "name": name, "labels": labels}));
    json!({"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": spec})
}

fn labels() -> impl Strategy<Value = Value> {
    select(vec![
        Value::Null,
        json!({"team": "x"}),
        json!({"team": "y", "tier": "1"}),
    ])
}

fn service() -> impl Strategy<Value = Value> {
    let port = (maybe(&["http", "admin"]), 80..82_u16)
        .prop_map(|(name, port)| said(json!({"name": name, "port": port})));
    let ports = proptest::collection::vec(port, 0..3);
    (one(&NAMESPACES), one(&["v0", "v1"]), labels(), ports).prop_map(
        |(namespace, name, labels, ports)| {
            core(
                "Service",
                Some(namespace),
                name,
                &labels,
                &json!({"ports": ports}),
            )
        },
    )
}

fn grant() -> impl Strategy<Value = Value> {
    let from = select(vec![
        (GATEWAY_API, "HTTPRoute"),
        (GROUP, "Deep"),
        (GROUP, "Unlabelled"),
    ]);
    let to = select(vec![
        ("", "Service"),
        (GATEWAY_API, "Gateway"),
        (GATEWAY_API, "HTTPRoute"),
    ]);
    let names = (one(&NAMESPACES), one(&["x0", "x1"]), one(&NAMESPACES));
    (names, from, to, maybe(&["v0", "g0"])).prop_map(
        |((namespace, name, there), from, to, only)| {
            let (from, to) = (
                json!([{"group": from.0, "kind": from.1, "namespace": there}]),
                json!([said(json!({"group": to.0, "kind": to.1, "name": only}))]),
            );
            gateway_api(
                "ReferenceGrant",
                Some(namespace),
                name,
                json!({"from": from, "to": to}),
            )
        },
    )
}

/// The CRD of a kind; with `other`, a different version of it.
fn crd() -> impl Strategy<Value = Value> {
    (select(&KINDS[..4]), any::<bool>()).prop_map(|(kind, other)| {
        let item = json!({"properties": {"group": {}, "kind": {}, "name": {}, "namespace": {},
            "sectionName": {}, "selector": {}}});
        let mut fields = json!({"targetRefs": {"type": "array", "items": item}});
        let stanza = json!({"type": "object", "properties": {}});
        let label = match (kind, other) {
            ("Direct", false) | ("Inherited", true) => json!("Direct"),
            ("Unlabelled", _) => Value::Null,
            _ => json!("inherited"),
        };
        if kind == "Inherited" || kind == "Unlabelled" {
            fields["mergeStrategy"] = json!({"type": "string", "enum": ["AtomicDefaults",
                "AtomicOverrides", "PatchDefaults", "PatchOverrides"]});
        }
        if kind == "Legacy" {
            fields["defaults"] = stanza.clone();
            fields["overrides"] = if other { json!({}) } else { stanza };
        }
        let mut crd = definition(kind, &fields);
        crd["metadata"]["labels"] = said(json!({"gateway.networking.k8s.io/policy": label}));
        crd
    })
}

fn target() -> impl Strategy<Value = Value> {
    let which = select(vec![
        (GATEWAY_API, "Gateway", "g0"),
        (GATEWAY_API, "Gateway", "g0"),
        (GATEWAY_API, "Gateway", "g1"),
        (GATEWAY_API, "GatewayClass", "c0"),
        (GATEWAY_API, "ListenerSet", "g0"),
        (GATEWAY_API, "HTTPRoute", "r0"),
        (GATEWAY_API, "HTTPRoute", "r0"),
        (GATEWAY_API, "HTTPRoute", "r1"),
        (GATEWAY_API, "GRPCRoute", "r0"),
        ("", "Service", "v0"),
        ("", "Service", "v0"),
        ("", "Namespace", "a"),
        ("", "Namespace", "b"),
        ("", "Secret", "s"),
        ("example.com", "Bucket", "v0"),
    ]);
    let rest = (
        select(vec![false, false, false, true]),
        prop_oneof![3 => Just(Value::Null), 1 => maybe(&NAMESPACES)],
        prop_oneof![2 => Just(Value::Null), 1 => maybe(&["l0", "one", "http", "80", "rule-1"])],
        labels(),
    );
    (which, rest).prop_map(
        |((group, kind, name), (selects, namespace, section, labels))| {
            let mut target = json!({"group": group, "kind": kind, "name": name,
                                    "namespace": namespace, "sectionName": section});
            if selects {
                target["name"] = Value::Null;
                target["selector"] = said(json!({"matchLabels": labels}));
            }
            said(target)
        },
    )
}

fn settings() -> impl Strategy<Value = Value> {
    let value = select(vec![
        json!(null),
        json!(1),
        json!(2),
        json!({"k": 1}),
        json!({"k": null, "l": 2}),
        json!([1, 2]),
        json!({}),
    ]);
    proptest::collection::btree_map(one(&["x", "y", "z"]), value, 0..3)
        .prop_map(|fields| json!(fields))
}

pub(crate) fn policy() -> impl Strategy<Value = Value> {
    let names = (
        select(&KINDS[..]),
        one(&NAMESPACES),
        one(&["p0", "p1", "p2"]),
    );
    let created = select(vec![None, Some(1), Some(2), Some(3)]);
    let strategy = maybe(&[
        "AtomicDefaults",
        "AtomicOverrides",
        "PatchDefaults",
        "PatchOverrides",
        "PatchOverrides",
        "ByKey",
        "Nonsense",
    ]);
    let spec = (
        proptest::collection::vec(target(), 1..3),
        strategy,
        settings(),
        settings(),
        select(vec![false, false, true]),
    );
    (names, created, spec).prop_map(
        |((kind, namespace, name), created, (targets, strategy, one, other, stanzas))| {
            let mut spec = if stanzas || kind == "Legacy" {
                json!({"defaults": one, "overrides": other})
            } else {
                one
            };
            spec["targetRefs"] = json!(targets);
            if kind != "Legacy" && !strategy.is_null() {
                spec["mergeStrategy"] = strategy;
            }
            let created = created.map(|s| format!("2026-01-01T00:00:0{s}Z"));
            let meta = said(json!({"namespace": namespace, "name": name,
                                   "creationTimestamp": created}));
            json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": meta, "spec": spec})
        },
    )
}

pub(crate) fn any_object() -> impl Strategy<Value = Value> {
    let class = one(&["c0", "c1"]).prop_map(|name| {
        let controller = json!({"controllerName": "example.com/controller"});
        gateway_api("GatewayClass", None, name, controller)
    });
    let namespace = (one(&NAMESPACES), labels())
        .prop_map(|(name, labels)| core("Namespace", None, name, &labels, &json!({})));
    prop_oneof![
        1 => class,
        2 => namespace,
        4 => gateway(),
        2 => listener_set(),
        7 => route(),
        2 => service(),
        2 => grant(),
        3 => crd(),
        12 => policy(),
    ]
}

pub(crate) fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => any_object().prop_map(Event::Applied),
        1 => any_object().prop_map(Event::Deleted),
    ]
}
