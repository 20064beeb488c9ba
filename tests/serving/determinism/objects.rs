//! A state in which many objects interact, sequences of events that lead to it, and requests about it.

use serde_json::{Value, json};

use testing::api_server::{NAMESPACES, SERVICES, crd};

const GATEWAY_API: &str = "gateway.networking.k8s.io";
const POLICIES: &str = "policies.example.com";

/// Facts that the CRDs of the kinds do not state.
pub const CONFIGURATION: &str = r"
apiVersion: attache.dev/v1
kind: Configuration
# What is compared are answers, not what a busy machine has no time for.
limits: {liveReadMillis: 10000, accessMillis: 10000}
mutations: {normalize-targets: true, default-strategy: true, affected-annotation: true}
profiles:
- match: {group: policies.example.com, kind: MergePolicy}
  class: inherited
  targets:
    refs: [{path: spec.targetRefs, many: true, sections: true}]
    crossNamespace: grant
  merge:
    strategy:
      path: spec.strategy
      values:
        PatchDefaults: {direction: defaults, op: patch}
        AtomicDefaults: {direction: defaults, op: atomic}
        PatchOverrides: {direction: overrides, op: patch}
- match: {group: policies.example.com, kind: ClaimPolicy}
  class: direct
  targets:
    refs: [{path: spec.targetRefs, many: true, sections: true}]
  conflict: {sameTarget: oldest-wins}
";

/// An event at the API server.
#[derive(Clone, Debug)]
pub enum Event {
    Put(Value),
    Delete(Value),
    /// The watches of its kind end, and it is listed again.
    Expire(Value),
}

/// Kinds and their names in URLs, without those of every API server.
const KINDS: [(&str, &str, &str); 7] = [
    (GATEWAY_API, "GatewayClass", "gatewayclasses"),
    (GATEWAY_API, "Gateway", "gateways"),
    (GATEWAY_API, "ListenerSet", "listenersets"),
    (GATEWAY_API, "HTTPRoute", "httproutes"),
    (GATEWAY_API, "ReferenceGrant", "referencegrants"),
    (POLICIES, "MergePolicy", "mergepolicies"),
    (POLICIES, "ClaimPolicy", "claimpolicies"),
];

/// The CRDs of all kinds.
pub fn definitions() -> Vec<Value> {
    let definition = |(group, kind, plural)| {
        let mut crd = crd(group, kind, plural, "v1");
        if kind == "GatewayClass" {
            crd["spec"]["scope"] = json!("Cluster");
        }
        crd
    };
    KINDS.into_iter().map(definition).collect()
}

/// The path of a kind's objects.
pub fn path_of(object: &Value) -> String {
    match object["kind"].as_str().unwrap() {
        "Service" => SERVICES.to_owned(),
        "Namespace" => NAMESPACES.to_owned(),
        kind => {
            let (group, _, plural) = KINDS
                .into_iter()
                .find(|(_, known, _)| *known == kind)
                .unwrap();
            format!("/apis/{group}/v1/{plural}")
        }
    }
}

fn object(group: &str, kind: &str, namespace: &str, name: &str, spec: &Value) -> Value {
    let version = if group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{group}/v1")
    };
    // Only a few creation times, so that names decide.
    let second = name.bytes().map(u32::from).sum::<u32>() % 3;
    json!({"apiVersion": version, "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": format!("2026-01-01T00:00:0{second}Z")},
        "spec": spec})
}

fn policy(kind: &str, namespace: &str, name: &str, targets: &Value, rest: &Value) -> Value {
    let mut spec = rest.clone();
    spec["targetRefs"] = targets.clone();
    object(POLICIES, kind, namespace, name, &spec)
}

fn target(kind: &str, name: &str) -> Value {
    let group = if kind == "Service" || kind == "Namespace" {
        ""
    } else {
        GATEWAY_API
    };
    json!({"group": group, "kind": kind, "name": name})
}

/// The objects of the final state.
pub fn state() -> Vec<Value> {
    let all = json!({"namespaces": {"from": "All"}});
    let listener = |name: &str, port: u16| json!({"name": name, "port": port, "protocol": "HTTP", "allowedRoutes": all});
    let mut found = vec![object(
        GATEWAY_API,
        "GatewayClass",
        "",
        "c",
        &json!({"controllerName": "example.com/c"}),
    )];
    for namespace in ["infra", "shop", "blog"] {
        found.push(object("", "Namespace", "", namespace, &json!({})));
    }
    for gateway in ["edge", "inner"] {
        let listeners = [listener("http", 80), listener("https", 443)];
        found.push(object(
            GATEWAY_API,
            "Gateway",
            "infra",
            gateway,
            &json!({"gatewayClassName": "c", "listeners": listeners, "allowedListeners": all}),
        ));
    }
    found.push(object(GATEWAY_API, "ListenerSet", "shop", "more",
        &json!({"parentRef": {"namespace": "infra", "name": "edge"}, "listeners": [listener("extra", 8080)]})));
    for i in 0..12 {
        let namespace = ["shop", "blog"][i % 2];
        let gateway = ["edge", "inner"][i % 2];
        let parents = json!([{"namespace": "infra", "name": gateway},
            {"kind": "ListenerSet", "namespace": "shop", "name": "more"}]);
        let rules = json!([{"name": "one", "backendRefs": [{"name": format!("svc{}", i % 4), "port": 80}]},
            {"backendRefs": [{"name": "svc1", "namespace": "shop", "port": 80}]}]);
        found.push(object(
            GATEWAY_API,
            "HTTPRoute",
            namespace,
            &format!("r{i}"),
            &json!({"parentRefs": parents, "rules": rules}),
        ));
    }
    for i in 0..4 {
        found.push(object(
            "",
            "Service",
            ["shop", "blog"][i % 2],
            &format!("svc{i}"),
            &json!({"ports": [{"name": "http", "port": 80}]}),
        ));
    }
    found.push(object(GATEWAY_API, "ReferenceGrant", "shop", "g",
        &json!({"from": [{"group": GATEWAY_API, "kind": "HTTPRoute", "namespace": "blog"}], "to": [{"group": "", "kind": "Service"}]})));
    let strategies = ["PatchDefaults", "AtomicDefaults", "PatchOverrides"];
    let targets = [
        target("GatewayClass", "c"),
        target("Gateway", "edge"),
        target("Gateway", "inner"),
        target("Namespace", "infra"),
    ];
    for i in 0..16 {
        let rest = json!({"strategy": strategies[i % 3], "retries": i, "codes": [500 + i], format!("own{i}"): true});
        found.push(policy(
            "MergePolicy",
            "infra",
            &format!("m{i}"),
            &json!([targets[i % 4]]),
            &rest,
        ));
    }
    for i in 0..16 {
        let namespace = ["shop", "blog"][i % 2];
        let on = [
            target("HTTPRoute", &format!("r{}", i % 6)),
            target("Service", &format!("svc{}", i % 4)),
            target("Namespace", namespace),
        ];
        let rest = json!({"strategy": strategies[i % 3], "timeout": format!("{i}s")});
        found.push(policy(
            "MergePolicy",
            namespace,
            &format!("n{i}"),
            &json!([on[i % 3]]),
            &rest,
        ));
        found.push(policy(
            "ClaimPolicy",
            namespace,
            &format!("k{i}"),
            &json!([on[(i + 1) % 3]]),
            &json!({"minimum": i}),
        ));
    }
    found
}

/// Events that create these objects in another order; some are changed or deleted in between.
pub fn order(mut objects: Vec<Value>, seed: u64) -> Vec<Event> {
    let mut state = seed;
    let mut random = move |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end
    };
    for i in (1..objects.len()).rev() {
        objects.swap(i, random(i + 1));
    }
    let mut events = Vec::new();
    for object in objects {
        if random(3) == 0 {
            let mut before = object.clone();
            before["metadata"]["labels"] = json!({"was": "other"});
            if let Some(targets) = before.pointer_mut("/spec/targetRefs/0/name") {
                *targets = json!("edge");
            }
            events.push(Event::Put(before));
        }
        if random(4) == 0 {
            events.push(Event::Put(object.clone()));
            events.push(Event::Delete(object.clone()));
        }
        events.push(Event::Put(object.clone()));
        if random(12) == 0 {
            events.push(Event::Expire(object));
        }
    }
    events
}

/// Requests to both endpoints about existing and missing objects.
pub fn requests() -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for object in state() {
        let mut changed = object.clone();
        changed["metadata"]["labels"] = json!({"new": "x"});
        match object["kind"].as_str().unwrap() {
            "MergePolicy" | "ClaimPolicy" => changed["spec"]["retries"] = json!(99),
            "Gateway" => {
                changed["spec"]["listeners"] =
                    json!([{"name": "renamed", "port": 80, "protocol": "HTTP"}]);
            }
            "HTTPRoute" => {
                changed["spec"]["parentRefs"] = json!([{"namespace": "infra", "name": "inner"}]);
            }
            "ReferenceGrant" => changed["spec"]["from"] = json!([]),
            _ => {}
        }
        found.push(request("UPDATE", Some(&changed), Some(&object)));
        found.push(request("DELETE", None, Some(&object)));
    }
    for section in ["htpp", "http"] {
        let mut on = target("Gateway", "edge");
        on["sectionName"] = json!(section);
        let odd =
            json!({"group": "gateway.networking.k8s.io/v1", "kind": "gateway", "name": "edge"});
        for targets in [
            json!([on]),
            json!([on, odd]),
            json!([on, on, target("Gateway", "gone")]),
        ] {
            let new = policy(
                "MergePolicy",
                "infra",
                "new",
                &targets,
                &json!({"retries": 1}),
            );
            found.push(request("CREATE", Some(&new), None));
        }
    }
    let paths = ["/validate", "/mutate"];
    found
        .iter()
        .flat_map(|body| paths.map(|path| (path, body.clone())))
        .collect()
}

fn request(operation: &str, new: Option<&Value>, old: Option<&Value>) -> String {
    let subject = new.or(old).unwrap();
    let version = subject["apiVersion"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let meta = &subject["metadata"];
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "operation": operation, "namespace": meta["namespace"], "name": meta["name"],
        "kind": {"group": group, "version": version, "kind": subject["kind"]},
        "userInfo": {"username": "jane", "groups": ["shop"]},
        "object": new, "oldObject": old,
    }})
    .to_string()
}
