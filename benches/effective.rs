//! Measures effective policies of one Gateway and of one `GatewayClass`, and the cost of a single change:
//! `cargo bench --bench effective`.
//!
//! The sizes are those at which a peer library was measured (policy-machinery, commit 64133472): one Gateway, routes
//! with one rule each and without `sectionName`, a policy with atomic defaults on the Gateway and one on each route.
//! Budgets are in the design, section 7; time must grow with listeners + routes, not with paths.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::request::{Operation, Request};
use attache::engine::admission::review::review;
use attache::engine::effective::impact::impact;
use attache::engine::effective::{PathGroup, Resolver};
use attache::engine::kinds::profile::ProfileRules;
use attache::engine::model::ids::{GATEWAY_API, GroupKind, ObjectKey};
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const GROUP: &str = "policies.example.com";

/// Variations of the plain setup.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    Nothing,
    /// Each route refers to one listener.
    SectionNames,
    /// Each listener has a policy.
    ListenerPolicies,
    /// Each listener has a hostname, and each route has the hostname of one listener.
    Hostnames,
    /// Each listener has a hostname, and each route has a unique one that matches all listeners.
    OwnHostnames,
}

fn kind() -> GroupKind {
    GroupKind::new(GROUP, "ColorPolicy")
}

fn key(kind: &str, name: &str) -> ObjectKey {
    let namespace = if kind == "GatewayClass" { "" } else { "ns" };
    ObjectKey::new(GroupKind::gateway_api(kind), namespace, name)
}

fn object(value: &Value) -> Object {
    let version = value["apiVersion"].as_str().unwrap();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    // Objects of a kind share its name, as in the watches.
    thread_local! {
        static KINDS: RefCell<HashMap<String, GroupKind>> = RefCell::default();
    }
    let kind = value["kind"].as_str().unwrap();
    let new = || GroupKind::new(group, kind);
    let gk = KINDS.with_borrow_mut(|kinds| kinds.entry(kind.into()).or_insert_with(new).clone());
    Object::from_json(&gk, &to_raw_value(value).unwrap()).unwrap()
}

fn empty() -> Snapshot {
    let allow: Vec<Value> = ["GatewayClass", "Gateway", "HTTPRoute"]
        .iter()
        .map(|kind| json!({"group": GATEWAY_API, "kind": kind}))
        .collect();
    let profile = json!({
        "match": {"group": GROUP, "kind": "ColorPolicy"}, "class": "inherited",
        "targets": {"allow": allow}, "merge": {"default": {"direction": "defaults", "op": "atomic"}},
    });
    let profile = serde_json::from_value(profile).unwrap();
    let rules = Arc::new(ProfileRules::new(vec![profile], Arc::default()));
    let kinds = ["GatewayClass", "Gateway", "HTTPRoute"].map(GroupKind::gateway_api);
    let kinds = kinds.into_iter().chain([GroupKind::core("Namespace")]);
    kinds.fold(Snapshot::new(rules), |s, gk| {
        s.apply(Change::Listed(gk, Vec::new()))
    })
}

fn class() -> Value {
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayClass",
           "metadata": {"name": "class"}, "spec": {"controllerName": "example.com/c"}})
}

fn gateway(name: &str, listeners: usize, with: With) -> Value {
    let hostname = |i: usize| match with {
        With::Hostnames => Some(format!("h{i}.example.com")),
        With::OwnHostnames => Some("*.example.com".to_owned()),
        _ => None,
    };
    let listeners = (0..listeners).map(|i| {
        json!({"name": format!("l{i}"), "port": 80, "protocol": "HTTP", "hostname": hostname(i)})
    });
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
           "metadata": {"namespace": "ns", "name": name},
           "spec": {"gatewayClassName": "class", "listeners": listeners.collect::<Vec<_>>()}})
}

fn route(i: usize, gateway: &str, listeners: usize, with: With) -> Value {
    let listener = i % listeners;
    let section = (with == With::SectionNames).then(|| format!("l{listener}"));
    let hostnames = match with {
        With::Hostnames => vec![format!("h{listener}.example.com")],
        With::OwnHostnames => vec![format!("r{i}.example.com")],
        _ => Vec::new(),
    };
    json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
           "metadata": {"namespace": "ns", "name": format!("r{i}")},
           "spec": {"parentRefs": [{"name": gateway, "sectionName": section}],
                    "hostnames": hostnames, "rules": [{}]}})
}

fn policy(name: &str, kind: &str, target: &str, section: Option<&str>) -> Value {
    json!({"apiVersion": format!("{GROUP}/v1"), "kind": "ColorPolicy",
           "metadata": {"namespace": "ns", "name": name},
           "spec": {"targetRef": {"group": GATEWAY_API, "kind": kind, "name": target,
                                  "sectionName": section},
                    "color": {"name": name, "dark": true}}})
}

fn objects(listeners: usize, routes: usize, with: With) -> Vec<Object> {
    let mut objects_of_gateway = vec![class(), gateway("g", listeners, with)];
    objects_of_gateway.push(policy("gateway", "Gateway", "g", None));
    for i in 0..routes {
        objects_of_gateway.push(route(i, "g", listeners, with));
        objects_of_gateway.push(policy(
            &format!("route{i}"),
            "HTTPRoute",
            &format!("r{i}"),
            None,
        ));
    }
    if with == With::ListenerPolicies {
        for i in 0..listeners {
            objects_of_gateway.push(policy(
                &format!("l{i}"),
                "Gateway",
                "g",
                Some(&format!("l{i}")),
            ));
        }
    }
    objects_of_gateway.iter().map(object).collect()
}

fn state(objects: Vec<Object>) -> Snapshot {
    let changes = objects
        .into_iter()
        .map(|object| Change::Applied(Arc::new(object)));
    changes.fold(empty(), |s, change| s.apply(change))
}

/// Computes every effective policy of an object, and counts their paths.
fn every(snapshot: &Snapshot, object: &ObjectKey) -> usize {
    let groups = Resolver::new(snapshot).paths_through(object, &kind());
    groups
        .iter()
        .filter(|group| group.complete)
        .map(PathGroup::path_count)
        .sum()
}

fn one_gateway(c: &mut Criterion) {
    let mut bench = c.benchmark_group("gateway");
    let sizes = [(8, 8), (16, 16), (32, 32), (63, 63), (126, 126)];
    let long = [(10, 1_000), (63, 500), (63, 1_000), (63, 2_000)];
    let plain = sizes.iter().chain(&long).map(|size| (With::Nothing, *size));
    let others = [
        With::SectionNames,
        With::ListenerPolicies,
        With::Hostnames,
        With::OwnHostnames,
    ];
    let others = others.into_iter().flat_map(|with| {
        let sizes = [(63, 63), (126, 126), (63, 500), (63, 1_000), (63, 2_000)];
        sizes.map(|size| (with, size))
    });
    for (with, (listeners, routes)) in plain.chain(others) {
        let snapshot = state(objects(listeners, routes, with));
        let gateway = key("Gateway", "g");
        let expected = match with {
            With::SectionNames | With::Hostnames => routes,
            _ => listeners * routes,
        };
        assert_eq!(
            every(&snapshot, &gateway),
            expected,
            "{with:?} {listeners}x{routes}"
        );
        let id = BenchmarkId::new(format!("{with:?}"), format!("{listeners}x{routes}"));
        bench.bench_function(id, |b| b.iter(|| every(&snapshot, &gateway)));
    }
    // Including the construction of the snapshot from parsed objects, which the peer's total also includes.
    for (listeners, routes) in [(63, 63), (63, 1_000), (10, 1_000)] {
        let objects = objects(listeners, routes, With::Nothing);
        let id = BenchmarkId::new("Built", format!("{listeners}x{routes}"));
        bench.bench_function(id, |b| {
            let run = |objects| every(&state(objects), &key("Gateway", "g"));
            b.iter_batched(|| objects.clone(), run, BatchSize::LargeInput);
        });
    }
    bench.finish();
}

/// Gateways of one class with 100 routes each; optionally with policies on every Gateway and every second route.
fn wide(gateways: usize, policies: bool) -> Snapshot {
    let mut objects_of_class = vec![class()];
    for g in 0..gateways {
        let name = format!("g{g}");
        objects_of_class.push(gateway(&name, 2, With::Nothing));
        for i in g * 100..(g + 1) * 100 {
            objects_of_class.push(route(i, &name, 2, With::Nothing));
            if policies && i % 2 == 0 {
                objects_of_class.push(policy(
                    &format!("route{i}"),
                    "HTTPRoute",
                    &format!("r{i}"),
                    None,
                ));
            }
        }
        if policies {
            objects_of_class.push(policy(&name, "Gateway", &name, None));
        }
    }
    state(objects_of_class.iter().map(object).collect())
}

fn created(snapshot: &Snapshot, value: &Value) -> usize {
    let raw = to_raw_value(value).unwrap();
    let key = object(value).key;
    let request = Request {
        operation: Operation::Create,
        gk: key.gk.clone(),
        namespace: &key.namespace,
        name: &key.name,
        subresource: "",
        object: Some(&raw),
        old: None,
    };
    review(snapshot, &request, &Evidence::Cached).findings.len()
}

fn one_class(c: &mut Criterion) {
    let mut bench = c.benchmark_group("class");
    let on_class = policy("class", "GatewayClass", "class", None);
    for gateways in [50, 100, 200] {
        for policies in [false, true] {
            let without = wide(gateways, policies);
            let with = without.apply(Change::Applied(Arc::new(object(&on_class))));
            let class = key("GatewayClass", "class");
            assert_eq!(every(&with, &class), gateways * 200);
            assert!(created(&without, &on_class) > 0);
            let size = format!(
                "{} routes{}",
                gateways * 100,
                if policies { ", policies" } else { "" }
            );
            bench.bench_function(BenchmarkId::new("through", &size), |b| {
                b.iter(|| every(&with, &class));
            });
            bench.bench_function(BenchmarkId::new("review", &size), |b| {
                b.iter(|| created(&without, &on_class));
            });
        }
    }
    bench.finish();
}

fn one_change(c: &mut Criterion) {
    let mut bench = c.benchmark_group("change");
    for gateways in [1, 10, 100] {
        let before = wide(gateways, true);
        let size = format!("{} routes", gateways * 100);
        let gone = object(&policy("route0", "HTTPRoute", "r0", None)).key;
        let after = before.apply(Change::Deleted(gone.clone()));
        assert_eq!(
            impact(&before, &after, std::slice::from_ref(&gone)).len(),
            2
        );
        bench.bench_function(BenchmarkId::new("impact of a route policy", &size), |b| {
            b.iter(|| impact(&before, &after, std::slice::from_ref(&gone)));
        });
        let route = object(&route(7, "g0", 2, With::SectionNames));
        bench.bench_function(BenchmarkId::new("apply of a route", &size), |b| {
            let change = || Change::Applied(Arc::new(route.clone()));
            b.iter_batched(change, |change| before.apply(change), BatchSize::SmallInput);
        });
        let value = self::route(7, "g0", 2, With::SectionNames);
        bench.bench_function(BenchmarkId::new("review of a route", &size), |b| {
            b.iter(|| created(&before, &value));
        });
    }
    bench.finish();
}

/// The median time of several runs.
fn median(mut run: impl FnMut()) -> Duration {
    let mut once = || {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    once();
    let mut times: Vec<Duration> = (0..21).map(|_| once()).collect();
    times.sort();
    times[times.len() / 2]
}

/// Measures only what has a budget: `cargo bench --bench effective -- --promised`.
fn promised() {
    println!("| what | measured | budget | of the budget |\n|---|---|---|---|");
    let gateway = key("Gateway", "g");
    let time = |listeners, routes| {
        let snapshot = state(objects(listeners, routes, With::Nothing));
        median(|| assert_eq!(every(&snapshot, &gateway), listeners * routes))
    };
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let row = |what: &str, measured: f64, budget: f64, unit: &str| {
        let share = measured / budget;
        println!("| {what} | {measured:.2}{unit} | {budget}{unit} | {share:.2}x |");
    };
    let (small, large) = (millis(time(63, 63)), millis(time(63, 1_000)));
    row(
        "63 listeners x 63 routes, every effective policy",
        small,
        10.0,
        " ms",
    );
    row("63 listeners x 1,000 routes", large, 100.0, " ms");
    let on_class = policy("class", "GatewayClass", "class", None);
    for (policies, label) in [(false, ""), (true, ", 5,100 other policies")] {
        let state = wide(100, policies);
        let review = median(|| assert!(created(&state, &on_class) > 0));
        let what = format!("the review of a policy on a GatewayClass over 10,000 routes{label}");
        row(&what, millis(review), 20.0, " ms");
    }
    // Twice the routes may take twice the time, not four times.
    let growth = millis(time(63, 2_000)) / large;
    row(
        "twice the routes, 63 x 2,000 against 63 x 1,000",
        growth,
        2.0,
        "x",
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = one_gateway, one_class, one_change
}

fn main() {
    if std::env::args().any(|arg| arg == "--promised") {
        return promised();
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
