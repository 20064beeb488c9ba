//! A healthy estate: teams override the defaults of the platform, as intended.

use std::fmt::Write as _;
use std::fs;

use super::{check, json, stdout};

/// A Gateway with defaults for all, 150 routes of ten teams, and 50 policies that override a default.
fn estate() -> String {
    let mut text = String::from(
        "apiVersion: gateway.networking.k8s.io/v1\n\
         kind: GatewayClass\n\
         metadata: {name: eg}\n\
         spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n\
         ---\n\
         apiVersion: gateway.networking.k8s.io/v1\n\
         kind: Gateway\n\
         metadata: {name: public, namespace: infra}\n\
         spec:\n  gatewayClassName: eg\n  listeners:\n\
         \x20 - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n\
         ---\n\
         apiVersion: gateway.envoyproxy.io/v1alpha1\n\
         kind: BackendTrafficPolicy\n\
         metadata: {name: defaults, namespace: infra}\n\
         spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: public}]\n\
         \x20 timeout: {http: {requestTimeout: 30s}}\n  retry: {numRetries: 2}\n",
    );
    for i in 0..150 {
        let team = i % 10;
        write!(
            text,
            "---\napiVersion: v1\nkind: Service\n\
             metadata: {{name: app-{i}, namespace: team-{team}}}\nspec: {{ports: [{{port: 80}}]}}\n\
             ---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n\
             metadata: {{name: app-{i}, namespace: team-{team}}}\nspec:\n\
             \x20 parentRefs: [{{name: public, namespace: infra}}]\n  hostnames: [app-{i}.example.com]\n\
             \x20 rules: [{{backendRefs: [{{name: app-{i}, port: 80}}]}}]\n"
        )
        .unwrap();
        if i % 3 == 0 {
            // Some replace the defaults, some merge with them.
            let merge = if i % 2 == 0 {
                "  mergeType: StrategicMerge\n"
            } else {
                ""
            };
            write!(
                text,
                "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\n\
                 metadata: {{name: app-{i}, namespace: team-{team}}}\nspec:\n\
                 \x20 targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: app-{i}}}]\n\
                 {merge}  timeout: {{http: {{requestTimeout: 5s}}}}\n"
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn a_healthy_estate_gives_no_warning_and_one_notice_for_its_defaults() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("estate.yaml"), estate()).unwrap();
    let output = check(dir.path(), &[".", "--fail-on", "warn"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.starts_with("353 objects, 51 policies: no problems found\n"),
        "{text}"
    );
    assert!(text.ends_with("passed (exit code 0)\n"), "{text}");
    let report = json(&check(dir.path(), &[".", "-o", "json"]));
    let findings = report["findings"].as_array().unwrap().iter();
    let overridden: Vec<&str> = findings
        .filter(|finding| finding["code"] == "partly-overridden")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(overridden.len(), 1, "{overridden:?}");
    assert!(
        overridden[0].starts_with(
            "overridden in part by 50 BackendTrafficPolicies.gateway.envoyproxy.io in 10 namespaces"
        ),
        "{overridden:?}"
    );
}
