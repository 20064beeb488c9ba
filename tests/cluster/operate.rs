//! attache as an operator sees it, with a real API server: every metric, spans that join the API server's traces, and
//! logs without names.

use std::collections::BTreeSet;
use std::fs;

use attache::metrics::Metrics;
use serde_json::Value;

use crate::harness::manifests::switched_on;
use crate::harness::{Attache, Cluster, TestSetup, eventually, fixture};
use testing::collector::{attribute, collector};

const TRACING: &str = "
apiVersion: apiserver.config.k8s.io/v1beta1
kind: TracingConfiguration
endpoint: 127.0.0.1:1
samplingRatePerMillion: 1000000
";

const GATEWAY: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: example
  listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {name: edge-retries, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}
  retries: 3
";

/// As its comment in `manifests/kustomization.yaml` describes.
#[test]
fn the_component_monitoring_fits_the_deployment() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let copy = cluster.dir().join("monitoring");
    switched_on(&copy, &["monitoring"]);
    let made = cluster
        .kubectl()
        .run(["kustomize", copy.to_str().unwrap()])
        .ok()
        .out;
    let made: Vec<Value> = serde_saphyr::from_multiple(&made).unwrap();
    let of_kind = |kind: &str, name: &str| {
        let is_it = |o: &&Value| o["kind"] == kind && o["metadata"]["name"] == name;
        let found = made.iter().find(is_it);
        found.unwrap_or_else(|| panic!("no {kind} {name}")).clone()
    };
    let pod = of_kind("Deployment", "attache")["spec"]["template"].clone();
    let monitor = of_kind("PodMonitor", "attache");
    for (label, value) in monitor["spec"]["selector"]["matchLabels"]
        .as_object()
        .unwrap()
    {
        assert_eq!(pod["metadata"]["labels"][label], *value, "{label}");
    }
    let ports = pod["spec"]["containers"][0]["ports"].as_array().unwrap();
    let port = &monitor["spec"]["podMetricsEndpoints"][0]["port"];
    assert!(ports.iter().any(|p| p["name"] == *port), "{port}");
    let dashboard = of_kind("ConfigMap", "attache-dashboard");
    assert_eq!(dashboard["metadata"]["labels"]["grafana_dashboard"], "1");
    let text = dashboard["data"]["attache.json"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(text).unwrap()["panels"].is_array());
    let namespace = &of_kind("Deployment", "attache")["metadata"]["namespace"];
    for object in [&monitor, &dashboard, &of_kind("PrometheusRule", "attache")] {
        assert_eq!(object["metadata"]["namespace"], *namespace, "{object}");
    }
}

/// On a cluster of its own: the API server is restarted with tracing.
#[test]
fn metrics_traces_and_logs_with_a_real_api_server() {
    let Some(cluster) = Cluster::own("operate") else {
        return;
    };
    cluster.stop_apiserver();
    let tracing = cluster.dir().join("tracing.yaml");
    fs::write(&tracing, TRACING).unwrap();
    let flag = format!("--tracing-config-file={}\n", tracing.display());
    fs::write(cluster.dir().join("apiserver.flags"), flag).unwrap();
    cluster.start_apiserver();
    cluster.install_guardrails();

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (addr, seen) = runtime.block_on(collector());
    let endpoint = format!("http://{addr}");
    let environment = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
        // There are no spans without a trace of the caller.
        ("OTEL_TRACES_SAMPLER", "parentbased_always_off"),
        ("ATTACHE_LOG", "info"),
    ];
    let setup = TestSetup::with(&cluster, "operate", |dir| {
        let file = dir.join("own.yaml");
        fs::write(&file, format!("{}events: true\n", fixture("attache.yaml"))).unwrap();
        Attache::observed(&cluster, "operate", &file, &environment)
    });
    setup.apply_text(GATEWAY).ok();
    setup.apply("guardrail.yaml").ok();
    setup.warns_at_last("cart-route.yaml", "affected-by: ");
    let refused = setup.apply("bad-section.yaml");
    assert!(refused.err.contains("section-unknown"), "{refused}");

    let refusal = || {
        let of_code = |code: &str| {
            let spans = seen.spans().into_iter();
            let mut spans = spans.filter(|span| span.name == "validate");
            spans.find(|span| {
                attribute(&span.attributes, "attache.findings").as_deref() == Some(code)
            })
        };
        of_code("section-unknown").ok_or_else(|| "no span of the refusal".to_owned())
    };
    let root = eventually("the span of the refusal", refusal);
    assert_eq!(
        root.parent_span_id.len(),
        8,
        "it is a child of the API server's"
    );
    assert_eq!(root.flags & 0x301, 0x301, "{root:?}");
    let spans = seen.spans();
    let parts = spans
        .iter()
        .filter(|span| span.parent_span_id == root.span_id);
    let parts: Vec<&str> = parts.map(|span| span.name.as_str()).collect();
    assert_eq!(
        parts,
        ["receive", "parse", "engine", "live confirm", "engine"]
    );

    // The watches break and are restored when the API server is back.
    cluster.stop_apiserver();
    cluster.start_apiserver();
    let metrics = Metrics::new().unwrap();
    let described = metrics.described().iter();
    let described: BTreeSet<String> = described.map(|metric| metric.name.clone()).collect();
    eventually("every metric that is documented, and no other", || {
        let (_, page) = setup.attache.get("/metrics")?;
        let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let there: BTreeSet<String> = types
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect();
        let strangers: Vec<_> = there.difference(&described).collect();
        let missing: Vec<_> = described.difference(&there).collect();
        if strangers.is_empty() && missing.is_empty() {
            Ok(())
        } else {
            Err(format!("missing {missing:?}, not documented {strangers:?}"))
        }
    });
    setup.attache.wait_until_ready();

    let log = setup.attache.log();
    assert!(
        log.contains("\"denied\"") && log.contains("section-unknown"),
        "{log}"
    );
    for name in [
        "bad-section",
        "edge-retries",
        "operate-infra",
        "operate-shop",
    ] {
        assert!(!log.contains(name), "{name}: {log}");
    }
}
