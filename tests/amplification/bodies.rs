//! Bodies made to take much: each a little, or as large as the API server lets an object be.

use std::rc::Rc;

use serde_json::{Value, json};

const MIB: usize = 1 << 20;
/// The API server takes objects of 3 MiB.
const LARGEST: usize = 3 * MIB;

/// A state that a body is judged against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A Gateway, a route and a policy.
    Small,
    /// One class over 100 Gateways and 10,000 routes.
    Wide,
    /// One Gateway with 64 listeners, all of which take 1,000 routes.
    Dense,
    /// A thousand policies of each of four kinds on one Gateway.
    Crowded,
    /// One class over 200 Gateways, each with a policy of two thousand settings.
    Heavy,
}

/// A body, and the state that makes the most of it. Bodies are made one at a time: all of them are a
/// gigabyte.
#[derive(Clone)]
pub(crate) struct Hostile {
    pub(crate) name: String,
    pub(crate) state: State,
    operation: &'static str,
    object: Rc<str>,
    old: Option<Rc<str>>,
    /// The name of the object.
    of: &'static str,
    /// What stands in the envelope instead of something else.
    instead: Option<(&'static str, Rc<str>)>,
}

/// An object, to be judged against the small state.
fn hostile(
    name: &str,
    operation: &'static str,
    object: &Rc<str>,
    old: Option<&Rc<str>>,
) -> Hostile {
    Hostile {
        name: format!("{operation} {name}"),
        state: State::Small,
        operation,
        object: object.clone(),
        old: old.cloned(),
        of: "x",
        instead: None,
    }
}

impl Hostile {
    /// What is sent.
    pub(crate) fn body(&self) -> String {
        let name = self.name.split(' ').nth(1).unwrap_or_default();
        let Kind { group, kind } = Kind::of(name);
        let (operation, of, object) = (self.operation, self.of, &self.object);
        let old = self.old.as_deref().unwrap_or("null");
        let mut body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"{operation}","name":"{of}","namespace":"infra","kind":{{"group":"{group}","version":"v1","kind":"{kind}"}},"userInfo":{{"username":"jane"}},"object":{object},"oldObject":{old}}}}}"#
        );
        if let Some((what, by)) = &self.instead {
            assert!(body.contains(what), "{what}");
            body = body.replacen(what, by, 1);
        }
        assert!(body.len() <= 7 * MIB, "{}: {}", self.name, body.len());
        body
    }
}

/// Which kind a body is about, by the first word of its name.
#[derive(Clone, Copy)]
struct Kind {
    group: &'static str,
    kind: &'static str,
}

impl Kind {
    fn of(name: &str) -> Self {
        let (group, kind) = match name {
            "policy" => ("policies.example.com", "RetryPolicy"),
            "direct" => ("policies.example.com", "TLSPolicy"),
            "plain" => ("policies.example.com", "PlainPolicy"),
            "overlapping" => ("policies.example.com", "OverlapPolicy"),
            "equal" => ("policies.example.com", "EqualPolicy"),
            "gateway" => ("gateway.networking.k8s.io", "Gateway"),
            "set" => ("gateway.networking.k8s.io", "ListenerSet"),
            "route" => ("gateway.networking.k8s.io", "HTTPRoute"),
            "class" => ("gateway.networking.k8s.io", "GatewayClass"),
            "grant" => ("gateway.networking.k8s.io", "ReferenceGrant"),
            "service" => ("", "Service"),
            "namespace" => ("", "Namespace"),
            "definition" => ("apiextensions.k8s.io", "CustomResourceDefinition"),
            other => panic!("no kind {other:?}"),
        };
        Self { group, kind }
    }
}

/// An object with this spec.
fn with(spec: &str) -> String {
    format!(r#"{{"metadata":{{"name":"x","namespace":"infra"}},"spec":{spec}}}"#)
}

/// As many of these as fit into an object, with commas between them; `#` stands for a number.
fn many(one: &str) -> String {
    let mut text = String::with_capacity(LARGEST);
    let mut i = 0;
    while text.len() + one.len() + 8 < LARGEST {
        text += if i == 0 { "" } else { "," };
        text += &one.replace('#', &i.to_string());
        i += 1;
    }
    text
}

const TARGET: &str =
    r#""targetRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge"}"#;

/// A policy on the Gateway with something else in it.
fn on_edge(rest: &str) -> String {
    with(&format!("{{{TARGET},{rest}}}"))
}

/// Settings that are much when they are read.
pub(crate) fn settings() -> Vec<Hostile> {
    let deep = |open: &str, close: &str| {
        on_edge(&format!(
            r#""x":{}0{}"#,
            open.repeat(500_000),
            close.repeat(500_000)
        ))
    };
    let digits = "1".repeat(LARGEST - 200);
    let specs = [
        ("lists a million deep", deep("[", "]")),
        ("maps deep", deep("{\"a\":", "}")),
        (
            "a hundred deep",
            on_edge(&format!(
                r#""x":[{}]"#,
                many(&format!("{}{}", "[".repeat(100), "]".repeat(100)))
            )),
        ),
        ("zeros", on_edge(&format!(r#""x":[{}]"#, many("0")))),
        ("empty lists", on_edge(&format!(r#""x":[{}]"#, many("[]")))),
        (
            "empty texts",
            on_edge(&format!(r#""x":[{}]"#, many("\"\""))),
        ),
        (
            "small maps",
            on_edge(&format!(r#""x":[{}]"#, many(r#"{"a":0}"#))),
        ),
        ("small keys", on_edge(&many(r##""#":0"##))),
        (
            "small keys below",
            on_edge(&format!(r#""x":{{{}}}"#, many(r##""#":0"##))),
        ),
        ("one key again and again", on_edge(&many(r#""a":0"#))),
        ("a huge number", on_edge(&format!(r#""x":{digits}"#))),
        ("a small number", on_edge(&format!(r#""x":0.{digits}e-9"#))),
        (
            "huge numbers",
            on_edge(&format!(
                r#""x":[{}]"#,
                many("123456789012345678901234567890e277")
            )),
        ),
        (
            "a long text",
            on_edge(&format!(r#""x":"{}""#, "a".repeat(LARGEST - 200))),
        ),
        (
            "a long text of escapes",
            on_edge(&format!(r#""x":"{}""#, "\\u0001".repeat(LARGEST / 6 - 60))),
        ),
        (
            "long texts",
            on_edge(&many(&format!(r##""#":"{}""##, "\\u001b".repeat(300)))),
        ),
        (
            "a long key",
            on_edge(&format!(r#""{}":1"#, "\\u0001".repeat(LARGEST / 6 - 60))),
        ),
    ];
    let all = specs.into_iter().flat_map(|(name, object)| {
        let changed: Rc<str> = object.replacen("\"edge\"", "\"edgy\"", 1).into();
        let object: Rc<str> = object.into();
        [
            hostile(&format!("policy of {name}"), "CREATE", &object, None),
            hostile(
                &format!("direct of {name}"),
                "UPDATE",
                &object,
                Some(&changed),
            ),
            hostile(
                &format!("policy of {name}"),
                "DELETE",
                &"null".into(),
                Some(&object),
            ),
        ]
    });
    all.collect()
}

/// Targets: many, odd, and with names that nobody would write.
pub(crate) fn targets() -> Vec<Hostile> {
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
    let mut found = vec![
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
    found.push((
        "plain on many labels",
        with(&format!(
            r#"{{"targetRefs":[{}],"x":1}}"#,
            labels(r#""l#":"v""#, "}", r#""matchLabels":{"#)
        )),
    ));
    found.push((
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
    found.push((
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
    let all = found.into_iter().flat_map(|(name, object)| {
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

/// Metadata and whatever nobody reads.
pub(crate) fn metadata() -> Vec<Hostile> {
    let meta = |more: &str| {
        format!(
            r#"{{"metadata":{{"name":"x","namespace":"infra",{more}}},"spec":{{{TARGET},"retries":1}}}}"#
        )
    };
    let objects = [
        (
            "policy with many labels",
            meta(&format!(r#""labels":{{{}}}"#, many(r##""#":"""##))),
        ),
        (
            "policy with many annotations",
            meta(&format!(r#""annotations":{{{}}}"#, many(r##""#":"""##))),
        ),
        (
            "policy with a long annotation",
            meta(&format!(
                r#""annotations":{{"a":"{}"}}"#,
                "a".repeat(LARGEST - 300)
            )),
        ),
        (
            "policy with a long label",
            meta(&format!(
                r#""labels":{{"a":"{}"}}"#,
                "a".repeat(LARGEST - 300)
            )),
        ),
        (
            "policy with many managers",
            meta(&format!(
                r#""managedFields":[{}]"#,
                many(r#"{"f:spec":{"f:x":{}}}"#)
            )),
        ),
        (
            "policy with many owners",
            meta(&format!(r#""ownerReferences":[{}]"#, many(r#"{"a":0}"#))),
        ),
        (
            "policy of a long time",
            meta(&format!(
                r#""creationTimestamp":"{}""#,
                "2026-01-01T00:00:00Z".repeat(LARGEST / 21)
            )),
        ),
        (
            "namespace with many labels",
            meta(&format!(r#""labels":{{{}}}"#, many(r##""#":"""##))),
        ),
        (
            "policy with a large status",
            format!(
                r#"{{"metadata":{{}},"spec":{{{TARGET},"a":1}},"status":[{}]}}"#,
                many(r#"{"a":0}"#)
            ),
        ),
        ("policy that is a list", format!("[{}]", many(r#"{"a":0}"#))),
    ];
    let mut found: Vec<Hostile> = objects
        .into_iter()
        .flat_map(|(name, object)| {
            let other: Rc<str> = object.replacen("\"retries\":1", "\"retries\":2", 1).into();
            let object = object.into();
            [
                hostile(name, "CREATE", &object, None),
                hostile(name, "UPDATE", &object, Some(&other)),
            ]
        })
        .collect();
    found.extend(requests());
    found
}

/// Envelopes that are much themselves.
fn requests() -> Vec<Hostile> {
    let bad: Rc<str> = r#"{"metadata":{"name":"x","namespace":"infra"},"spec":{"targetRef":{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"edge","sectionName":"htpp"},"retries":1}}"#.into();
    let long = "\\u0001".repeat(LARGEST / 6 - 100);
    let replaced = |name: &str, what: &'static str, by: &str| Hostile {
        instead: Some((what, by.into())),
        ..hostile(&format!("policy {name}"), "CREATE", &bad, None)
    };
    vec![
        replaced(
            "of a user in many groups",
            r#""username":"jane""#,
            &format!(r#""username":"jane","groups":[{}]"#, many("\"\"")),
        ),
        replaced(
            "of a user with much else",
            r#""username":"jane""#,
            &format!(r#""username":"jane","extra":{{{}}}"#, many(r##""#":[""]"##)),
        ),
        replaced("of a user of a long name", "jane", &long),
        replaced(
            "of a long name",
            r#""name":"x""#,
            &format!(r#""name":"{long}""#),
        ),
        replaced(
            "of a long namespace",
            r#""namespace":"infra""#,
            &format!(r#""namespace":"{long}""#),
        ),
        replaced(
            "of a long version",
            r#""version":"v1""#,
            &format!(r#""version":"{long}""#),
        ),
        replaced(
            "of a long operation",
            r#""operation":"CREATE""#,
            &format!(r#""operation":"{long}""#),
        ),
        replaced("of a long kind", "RetryPolicy", &long),
        replaced(
            "by a long manager",
            r#""oldObject":null"#,
            &format!(r#""options":{{"fieldManager":"{long}"}}"#),
        ),
        replaced(
            "with many options",
            r#""oldObject":null"#,
            &format!(r#""options":{{{}}}"#, many(r##""#":0"##)),
        ),
        replaced(
            "with other fields",
            r#""oldObject":null"#,
            &format!(r#""other":{{{}}}"#, many(r##""#":0"##)),
        ),
    ]
}

/// Objects of the topology with more in them than their CRDs allow.
pub(crate) fn topology() -> Vec<Hostile> {
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
    let mut found = Vec::new();
    for (name, spec) in specs {
        let object = with(&format!("{{{spec}}}"));
        let other: Rc<str> = object.replacen("edge", "edgy", 2).into();
        let object: Rc<str> = object.into();
        // The Gateway that everything is attached to.
        let of = if name.starts_with("gateway") {
            "edge"
        } else {
            "x"
        };
        for state in [State::Small, State::Dense] {
            let create = hostile(name, "CREATE", &object, None);
            let update = hostile(name, "UPDATE", &object, Some(&other));
            found.extend([create, update].map(|it| Hostile { state, of, ..it }));
        }
    }
    found
}

/// Definitions.
pub(crate) fn definitions() -> Vec<Hostile> {
    let text = json!({"type": "string"});
    let entry =
        json!({"type": "object", "properties": {"group": text, "kind": text, "name": text}});
    let refs = |more: Value| {
        let mut list = json!({"type": "array", "items": entry});
        list.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        list
    };
    let definition = |spec: &Value, versions: usize| {
        let version = |i: usize| {
            json!({"name": format!("v{i}"), "served": true, "storage": i == 0,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
        };
        json!({"metadata": {"name": "x"}, "spec": {"group": "policies.example.com", "scope": "Namespaced",
            "names": {"kind": "NewPolicy", "plural": "newpolicies"},
            "versions": (0..versions).map(version).collect::<Vec<_>>()}}).to_string()
    };
    let rules = |one: &str, times: usize| {
        let rule = json!({"rule": one});
        refs(json!({"x-kubernetes-validations": vec![rule; times]}))
    };
    let spec = |list: Value| json!({"type": "object", "properties": {"targetRefs": list, "timeout": text}});
    let ones = vec!["1"; 90].join(",");
    let busy = format!(
        "self.all(r, r.kind in ['A', 'B'] && [{ones}].all(a, [{ones}].all(b, [{ones}].all(c, a + b == c + 1 || r.kind == 'A'))))"
    );
    let names: Vec<String> = (0..100_000).map(|i| format!("Kind{i}")).collect();
    let mut enums = spec(refs(json!({})));
    enums["properties"]["targetRefs"]["items"]["properties"]["kind"]["enum"] = json!(names);
    let mut wide = spec(refs(json!({})));
    for i in 0..30_000 {
        wide["properties"][format!("p{i}")] = json!({"type": "object", "properties": {"a": text}});
    }
    let mut deep = json!({"type": "string"});
    for _ in 0..50 {
        deep = json!({"type": "object", "properties": {"defaults": deep}});
    }
    let mut described = spec(refs(json!({})));
    described["description"] = json!("a".repeat(2 * MIB));
    let long = format!(
        "self.all(r, r.kind in [{}])",
        vec!["'Gateway'"; 1_500].join(",")
    );
    let all = [
        (
            "definition with busy rules",
            definition(&spec(rules(&busy, 2_000)), 1),
        ),
        (
            "definition with long rules",
            definition(&spec(rules(&long, 150)), 1),
        ),
        (
            "definition with deep rules",
            definition(
                &spec(rules(
                    &format!("{}true{}", "(".repeat(9_000), ")".repeat(9_000)),
                    150,
                )),
                1,
            ),
        ),
        (
            "definition with many rules",
            definition(&spec(rules("self.all(r, r.kind == 'Gateway')", 50_000)), 1),
        ),
        ("definition with large enums", definition(&enums, 1)),
        ("definition with many fields", definition(&wide, 1)),
        ("definition that is deep", definition(&spec(deep), 1)),
        (
            "definition with many versions",
            definition(&spec(rules("self.all(r, r.kind == 'Gateway')", 100)), 500),
        ),
        (
            "definition with a long description",
            definition(&described, 1),
        ),
        (
            "definition of small maps",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"properties":{{"spec":{{"properties":{{"x":[{}]}}}}}}}}}}}}]}}}}"#,
                many(r#"{"a":0}"#)
            ),
        ),
        (
            "definition with much beside the properties",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"x":[{}]}}}}}}]}}}}"#,
                many(r#"{"a":0}"#)
            ),
        ),
        (
            "definition with many short names",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k","shortNames":[{}]}},"versions":[]}}}}"#,
                many("\"\"")
            ),
        ),
        (
            "definition with many empty versions",
            format!(
                r#"{{"metadata":{{"name":"x"}},"spec":{{"group":"g","names":{{"kind":"K","plural":"k"}},"versions":[{}]}}}}"#,
                many(r#"{"name":""}"#)
            ),
        ),
    ];
    let all = all.into_iter().flat_map(|(name, object)| {
        let other: Rc<str> = object.replacen("\"x\"", "\"y\"", 1).into();
        let object = object.into();
        [
            hostile(name, "CREATE", &object, None),
            hostile(name, "UPDATE", &object, Some(&other)),
        ]
    });
    all.collect()
}

/// One more where there are many.
pub(crate) fn crowds() -> Vec<Hostile> {
    let leaves: Vec<String> = (0..2_000).map(|i| format!(r#""leaf{i}":0"#)).collect();
    let on = |kind: &str, name: &str, rest: &str| {
        with(&format!(
            r#"{{"targetRef":{{"group":"gateway.networking.k8s.io","kind":"{kind}","name":"{name}"}},{rest}}}"#
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
    let found = [
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
    let mut all = Vec::new();
    for (name, state, object) in found {
        let of = if name.starts_with("gateway") {
            "edge"
        } else {
            "x"
        };
        let old: Rc<str> = object
            .replacen(":0", ":1", 1)
            .replacen("All", "Same", 1)
            .into();
        let object = object.into();
        let some = [
            hostile(name, "CREATE", &object, None),
            hostile(name, "UPDATE", &object, Some(&old)),
            hostile(name, "DELETE", &"null".into(), Some(&object)),
        ];
        all.extend(some.map(|one| Hostile { state, of, ..one }));
    }
    all
}

/// Small changes that reach far.
pub(crate) fn far() -> Vec<Hostile> {
    let on_class = with(
        r#"{"targetRef":{"group":"gateway.networking.k8s.io","kind":"GatewayClass","name":"c"},"retries":9}"#,
    );
    let other = on_class.replace("\"retries\":9", "\"retries\":8");
    let class = r#"{"metadata":{"name":"c"},"spec":{"controllerName":"example.com/c"}}"#;
    let found = [
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
    for (name, operation, object, old) in found {
        let of = if name.starts_with("class") { "c" } else { "x" };
        let (object, old) = (object.into(), old.map(Rc::from));
        for state in [State::Wide, State::Dense] {
            let one = hostile(name, operation, &object, old.as_ref());
            all.push(Hostile { state, of, ..one });
        }
    }
    all
}
