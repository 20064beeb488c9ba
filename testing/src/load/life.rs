//! Objects as in large clusters: written by Helm, with labels, annotations and `managedFields`, and with a status from
//! a controller. A route has 2.4 kB of JSON, as the API server sends it.

use serde_json::{Value, json};

pub const GATEWAY_API: &str = "gateway.networking.k8s.io";
/// Routes per Namespace.
const OF_NAMESPACE: usize = 100;
/// Routes per Gateway.
const OF_GATEWAY: usize = 500;
/// One object in this many has a condition that reports a problem.
const OF_ILL: usize = 20;
/// The policy kinds: group, kind, plural and version. The last one has no profile, only a CRD.
pub const KINDS: [(&str, &str, &str, &str); 5] = [
    (
        "gateway.envoyproxy.io",
        "BackendTrafficPolicy",
        "backendtrafficpolicies",
        "v1alpha1",
    ),
    (
        "gateway.envoyproxy.io",
        "SecurityPolicy",
        "securitypolicies",
        "v1alpha1",
    ),
    ("kuadrant.io", "AuthPolicy", "authpolicies", "v1"),
    ("kuadrant.io", "RateLimitPolicy", "ratelimitpolicies", "v1"),
    (
        "policies.example.com",
        "RetryPolicy",
        "retrypolicies",
        "v1alpha1",
    ),
];

/// The number of Namespaces for this many routes.
pub fn namespaces(routes: usize) -> usize {
    routes.div_ceil(OF_NAMESPACE)
}

/// The number of Gateways for this many routes.
pub fn gateways(routes: usize) -> usize {
    routes.div_ceil(OF_GATEWAY)
}

pub fn namespace(i: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": format!("team-{i}"), "uid": uid(1, i),
            "creationTimestamp": "2025-03-04T05:06:07Z",
            "labels": {"kubernetes.io/metadata.name": format!("team-{i}"), "tenant": format!("t{}", i % 40)},
        },
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    })
}

pub fn gateway(i: usize) -> Value {
    let listener = |name: &str, port: u16, protocol: &str| {
        json!({
            "name": name, "port": port, "protocol": protocol, "hostname": "*.example.com",
            "allowedRoutes": {"namespaces": {"from": "All"}},
        })
    };
    json!({
        "apiVersion": format!("{GATEWAY_API}/v1"), "kind": "Gateway",
        "metadata": metadata("infra", &format!("edge-{i}"), 2, i, "Gateway"),
        "spec": {
            "gatewayClassName": "edge",
            "listeners": [listener("http", 80, "HTTP"), listener("https", 443, "HTTPS")],
        },
    })
}

/// A route with three rules, two of which forward to the application's own Service.
pub fn route(i: usize) -> Value {
    let app = format!("checkout-{i}");
    let rule = |path: &str, backend: &str| {
        json!({
            "matches": [{"path": {"type": "PathPrefix", "value": path}}],
            "backendRefs": [{"group": "", "kind": "Service", "name": backend, "port": 8080, "weight": 1}],
        })
    };
    let mut api = rule("/api", &app);
    api["name"] = json!("api");
    api["timeouts"] = json!({"request": "15s"});
    let mut route = json!({
        "apiVersion": format!("{GATEWAY_API}/v1"), "kind": "HTTPRoute",
        "metadata": metadata(&format!("team-{}", i / OF_NAMESPACE), &app, 3, i, "HTTPRoute"),
        "spec": {
            "parentRefs": [{
                "group": GATEWAY_API, "kind": "Gateway", "namespace": "infra",
                "name": format!("edge-{}", i / OF_GATEWAY), "sectionName": "https",
            }],
            "hostnames": [format!("{app}.example.com")],
            "rules": [api, rule("/", &app), rule("/assets", "assets")],
        },
    });
    let parent = route["spec"]["parentRefs"][0].clone();
    let condition = |kind: &str, reason: &str| {
        json!({
            "type": kind, "status": "True", "reason": reason, "message": "", "observedGeneration": 3,
            "lastTransitionTime": "2026-02-03T04:05:07Z",
        })
    };
    let mut resolved = condition("ResolvedRefs", "ResolvedRefs");
    if i.is_multiple_of(OF_ILL) {
        resolved["status"] = "False".into();
        resolved["reason"] = "BackendNotFound".into();
        resolved["message"] = format!("Service team-{}/{app} not found", i / OF_NAMESPACE).into();
    }
    route["status"] = json!({"parents": [{
        "controllerName": "gateway.example.com/controller", "parentRef": parent,
        "conditions": [condition("Accepted", "Accepted"), resolved],
    }]});
    route
}

/// The status that controllers write on a policy: most are accepted, some conflict, and some are partly overridden.
fn status_of(i: usize, routes: usize, namespace: &str) -> Value {
    let condition = |kind: &str, status: &str, reason: &str, message: String| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message, "observedGeneration": 4,
            "lastTransitionTime": "2026-02-03T04:05:07Z",
        })
    };
    let accepted = if i % OF_ILL == 1 {
        let other = format!(
            "Unable to target HTTPRoute {namespace}/checkout, another policy has already attached to it"
        );
        condition("Accepted", "False", "Conflicted", other)
    } else {
        condition(
            "Accepted",
            "True",
            "Accepted",
            "Policy has been accepted.".to_owned(),
        )
    };
    let mut conditions = vec![accepted];
    if i % OF_ILL == 10 {
        let these: Vec<String> = (0..5)
            .map(|n| format!("{namespace}/checkout-{n}"))
            .collect();
        let message = format!(
            "This policy is being overridden by other policies for these routes: {these:?}"
        );
        conditions.push(condition("Overridden", "True", "Overridden", message));
    }
    let (group, ..) = KINDS[i % KINDS.len()];
    if group == "kuadrant.io" {
        return json!({"observedGeneration": 4, "conditions": conditions});
    }
    json!({"ancestors": [{
        "controllerName": "gateway.example.com/controller",
        "ancestorRef": {"group": GATEWAY_API, "kind": "Gateway", "namespace": "infra",
            "name": format!("edge-{}", i % gateways(routes)), "sectionName": "https"},
        "conditions": conditions,
    }]})
}

/// A policy. Eight of ten target a route each, one a Gateway, and one a Namespace if the kind
/// allows it.
pub fn policy(i: usize, routes: usize) -> Value {
    let (group, kind, _, version) = KINDS[i % KINDS.len()];
    let (namespace, group_of, kind_of, name) = match i % 10 {
        9 => {
            let namespace = format!("team-{}", i / 10 % namespaces(routes));
            (namespace.clone(), "", "Namespace", namespace)
        }
        0 => {
            let gateway = format!("edge-{}", i / 10 % gateways(routes));
            ("infra".to_owned(), GATEWAY_API, "Gateway", gateway)
        }
        _ => {
            let route = i.wrapping_mul(7919) % routes;
            let namespace = format!("team-{}", route / OF_NAMESPACE);
            (
                namespace,
                GATEWAY_API,
                "HTTPRoute",
                format!("checkout-{route}"),
            )
        }
    };
    let target = json!({"group": group_of, "kind": kind_of, "name": name});
    let mut spec = settings(i);
    if kind_of == "Namespace" || group == "kuadrant.io" {
        spec["targetRef"] = target;
    } else {
        spec["targetRefs"] = json!([target]);
    }
    json!({
        "apiVersion": format!("{group}/{version}"), "kind": kind,
        "metadata": metadata(&namespace, &format!("policy-{i}"), 4, i, kind),
        "spec": spec,
        "status": status_of(i, routes, &namespace),
    })
}

/// The settings of a policy, by kind.
fn settings(i: usize) -> Value {
    match i % KINDS.len() {
        0 => json!({
            "retry": {
                "numRetries": i % 7, "perRetry": {"timeout": "250ms", "backOff": {"baseInterval": "100ms", "maxInterval": "10s"}},
                "retryOn": {"httpStatusCodes": [500, 503], "triggers": ["connect-failure", "retriable-status-codes"]},
            },
            "circuitBreaker": {"maxConnections": 1024, "maxPendingRequests": 128, "maxParallelRequests": 512},
            "timeout": {"http": {"connectionIdleTimeout": "1h", "requestTimeout": "30s"}, "tcp": {"connectTimeout": "5s"}},
        }),
        1 => json!({
            "cors": {
                "allowOrigins": [format!("https://app{i}.example.com")], "allowMethods": ["GET", "POST"],
                "allowHeaders": ["content-type", "x-request-id"], "maxAge": "600s",
            },
            "jwt": {"providers": [{"name": "main", "issuer": "https://id.example.com", "remoteJWKS": {"uri": "https://id.example.com/keys"}}]},
        }),
        2 => json!({"defaults": {"rules": {"authentication": {"users": {
            "jwt": {"issuerUrl": format!("https://id.example.com/realms/r{i}")}, "cache": {"key": {"selector": "context.request.http.path"}, "ttl": 60},
        }}}}}),
        3 => json!({"defaults": {"limits": {
            "global": {"rates": [{"limit": 100 + i, "window": "1m"}]},
            "by-user": {"rates": [{"limit": 10, "window": "10s"}], "counters": [{"expression": "auth.identity.userid"}]},
        }}}),
        _ => {
            json!({"retries": i % 5, "backoff": {"base": "100ms", "max": "9s"}, "codes": [500, 502, 503]})
        }
    }
}

/// The CRD of each of [`KINDS`], without the descriptions and fields that make real ones long.
pub fn definitions() -> Vec<Value> {
    let reference = json!({"properties": {"group": {}, "kind": {}, "name": {}, "sectionName": {}}});
    let definition = |(group, kind, plural, version): (&str, &str, &str, &str)| {
        let spec =
            json!({"properties": {"targetRef": reference, "targetRefs": {"items": reference}}});
        let schema = json!({"openAPIV3Schema": {"properties": {"spec": spec}}});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}"), "labels": {"gateway.networking.k8s.io/policy": "Inherited"}},
            "spec": {
                "group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                "versions": [{"name": version, "served": true, "storage": true, "schema": schema}],
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        })
    };
    KINDS.into_iter().map(definition).collect()
}

fn metadata(namespace: &str, name: &str, series: usize, i: usize, kind: &str) -> Value {
    let app = "app.kubernetes.io";
    json!({
        "name": name, "namespace": namespace, "uid": uid(series, i), "generation": 3,
        "resourceVersion": "1", "creationTimestamp": format!("2026-01-{:02}T{:02}:{:02}:{:02}Z", 1 + i % 28, i / 28 % 24, i / 672 % 60, i / 40_320 % 60),
        "labels": {
            format!("{app}/name"): name, format!("{app}/instance"): name, format!("{app}/managed-by"): "Helm",
            format!("{app}/version"): format!("1.{}.{}", i % 30, i % 7), "helm.sh/chart": format!("{}-4.2.1", kind.to_lowercase()),
        },
        "annotations": {"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace},
        "managedFields": [
            {
                "manager": "helm", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "time": "2026-02-03T04:05:06Z",
                "fieldsV1": {
                    "f:metadata": {
                        "f:annotations": {".": {}, "f:meta.helm.sh/release-name": {}, "f:meta.helm.sh/release-namespace": {}},
                        "f:labels": {
                            ".": {}, format!("f:{app}/instance"): {}, format!("f:{app}/managed-by"): {},
                            format!("f:{app}/name"): {}, format!("f:{app}/version"): {}, "f:helm.sh/chart": {},
                        },
                    },
                    "f:spec": {".": {}, "f:hostnames": {}, "f:parentRefs": {}, "f:rules": {}},
                },
            },
            {
                "manager": "controller", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "time": "2026-02-03T04:05:07Z", "subresource": "status", "fieldsV1": {"f:status": {".": {}, "f:parents": {}}},
            },
        ],
    })
}

fn uid(series: usize, i: usize) -> String {
    format!("{series:08x}-0000-4000-8000-{i:012x}")
}
