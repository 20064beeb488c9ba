//! Runs `attache check` on 10,000 manifests as a process, and measures its time and peak memory. `make bench` runs it.
//!
//! `cargo bench --bench check -- DIR` only writes the manifests to a directory.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

const ROUTES: usize = 5_000;
const POLICIES: usize = 1_000;
const GATEWAYS: usize = 50;
const NAMESPACES: usize = 200;
const ALL: usize = 10_000;
const RUNS: usize = 7;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(dir) = args.iter().skip(1).find(|arg| !arg.starts_with('-')) {
        return write(Path::new(dir));
    }
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let mut times: Vec<Duration> = (0..RUNS).map(|_| check(dir.path())).collect();
    times.sort();
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() >> 10;
    println!(
        "check of {ALL} manifests ({ROUTES} routes, {POLICIES} policies): median {:.2?}, best {:.2?}, \
         peak memory {peak} MiB",
        times[RUNS / 2],
        times[0],
    );
}

fn check(dir: &Path) -> Duration {
    let started = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(["check", "--fail-on", "never"])
        .arg(dir)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    started.elapsed()
}

/// Writes a repository with a folder for each namespace and a file for each application.
fn write(root: &Path) {
    let mut count = 0;
    let mut put = |folder: &str, name: String, documents: Vec<String>| {
        count += documents.len();
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join(name), documents.join("---\n")).unwrap();
    };
    let kinds = ["Retry", "Timeout"].map(definition).into();
    put("base", "kinds.yaml".to_owned(), kinds);
    put("base", "class.yaml".to_owned(), vec![class()]);
    for i in 0..GATEWAYS {
        put("infra", format!("gateway-{i}.yaml"), vec![gateway(i)]);
    }
    for i in 0..NAMESPACES {
        put(&team(i), "namespace.yaml".to_owned(), vec![namespace(i)]);
    }
    let services = ALL - ROUTES - POLICIES - GATEWAYS - NAMESPACES - 3;
    for i in 0..ROUTES {
        let mut documents = vec![route(i)];
        if i < services {
            documents.push(service(i));
        }
        if i % (ROUTES / POLICIES) == 0 {
            documents.push(policy(i / (ROUTES / POLICIES)));
        }
        put(&team(i), format!("app-{i}.yaml"), documents);
    }
    assert_eq!(count, ALL);
}

fn team(i: usize) -> String {
    format!("team-{}", i % NAMESPACES)
}

fn class() -> String {
    "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: edge
spec:
  controllerName: example.com/gateway-controller
"
    .to_owned()
}

fn namespace(i: usize) -> String {
    format!(
        "apiVersion: v1
kind: Namespace
metadata:
  name: {}
  labels:
    example.com/tier: \"{}\"
",
        team(i),
        i % 3
    )
}

fn gateway(i: usize) -> String {
    let mut text = format!(
        "apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge-{i}
  namespace: infra
  labels:
    app.kubernetes.io/managed-by: kustomize
spec:
  gatewayClassName: edge
  listeners:
"
    );
    for (name, protocol, port) in [("http", "HTTP", 80), ("https", "HTTPS", 443)] {
        write!(
            text,
            "  - name: {name}
    protocol: {protocol}
    port: {port}
    hostname: \"*.example.com\"
    allowedRoutes:
      namespaces:
        from: All
"
        )
        .unwrap();
    }
    text
}

fn route(i: usize) -> String {
    format!(
        "# The routes of application {i}.
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: app-{i}
  namespace: {team}
  labels:
    app.kubernetes.io/name: app-{i}
    app.kubernetes.io/managed-by: kustomize
  annotations:
    example.com/owner: \"Team {i} <team-{i}@example.com>\"
spec:
  parentRefs:
  - group: gateway.networking.k8s.io
    kind: Gateway
    name: edge-{gateway}
    namespace: infra
    sectionName: https
  hostnames:
  - app-{i}.example.com
  rules:
  - name: api
    matches:
    - path:
        type: PathPrefix
        value: /api
      headers:
      - name: x-version
        value: \"2\"
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier:
        set:
        - {{name: x-app, value: app-{i}}}
    backendRefs:
    - name: app-{i}
      port: 8080
  - matches:
    - path:
        type: PathPrefix
        value: /
    backendRefs:
    - name: app-{i}
      port: 8080
",
        team = team(i),
        gateway = i % GATEWAYS
    )
}

fn service(i: usize) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata:
  name: app-{i}
  namespace: {}
  labels:
    app.kubernetes.io/name: app-{i}
spec:
  selector:
    app.kubernetes.io/name: app-{i}
  ports:
  - name: http
    port: 8080
    targetPort: 8080
    protocol: TCP
",
        team(i)
    )
}

/// A policy of an application team on its own route or Service, or of the team that runs the Gateways.
fn policy(i: usize) -> String {
    let app = i * (ROUTES / POLICIES);
    let name = format!("app-{app}");
    let inherited = |kind: &str, namespace: &str, target: &str, name: &str| {
        format!(
            "apiVersion: policies.example.com/v1
kind: {kind}Policy
metadata:
  name: {}-{i}
  namespace: {namespace}
spec:
  targetRefs:
  - group: gateway.networking.k8s.io
    kind: {target}
    name: {name}
  defaults:
    limit: {i}
    backoff:
      base: 100ms
      max: 10s
",
            kind.to_lowercase()
        )
    };
    match i % 10 {
        0 => inherited(
            "Retry",
            "infra",
            "Gateway",
            &format!("edge-{}", (i / 10) % GATEWAYS),
        ),
        1..4 => inherited("Retry", &team(app), "HTTPRoute", &name),
        4..6 => inherited("Timeout", &team(app), "HTTPRoute", &name),
        6..8 => format!(
            "apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata:
  name: tls-{i}
  namespace: {}
spec:
  targetRefs:
  - group: \"\"
    kind: Service
    name: {name}
    sectionName: http
  validation:
    wellKnownCACertificates: System
    hostname: {name}.internal.example.com
",
            team(app)
        ),
        _ => format!(
            "apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata:
  name: traffic-{i}
  namespace: {}
spec:
  targetRefs:
  - group: gateway.networking.k8s.io
    kind: HTTPRoute
    name: {name}
  retry:
    numRetries: 3
    retryOn:
      httpStatusCodes: [502, 503]
",
            team(app)
        ),
    }
}

fn definition(kind: &str) -> String {
    let plural = format!("{}policies", kind.to_lowercase());
    let mut stanzas = String::new();
    for stanza in ["defaults", "overrides"] {
        write!(
            stanzas,
            "
              {stanza}:
                type: object
                properties:
                  limit: {{type: integer}}
                  backoff:
                    type: object
                    properties:
                      base: {{type: string}}
                      max: {{type: string}}"
        )
        .unwrap();
    }
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.policies.example.com
  labels:
    gateway.networking.k8s.io/policy: Inherited
spec:
  group: policies.example.com
  scope: Namespaced
  names: {{kind: {kind}Policy, plural: {plural}}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - rule: \"!(has(self.defaults) && has(self.overrides))\"
            properties:
              targetRefs:
                type: array
                maxItems: 16
                items:
                  type: object
                  required: [group, kind, name]
                  properties:
                    group: {{type: string}}
                    kind: {{type: string}}
                    name: {{type: string}}
                    sectionName: {{type: string}}{stanzas}
"
    )
}
