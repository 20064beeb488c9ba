//! The cost of guardrails: `cargo bench --bench guardrails`. 10,000 routes on 100 Gateways, each Gateway with a policy.
//!
//! Reviews with and without guardrails alternate, so that a slow machine slows both.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use attache::config::Configuration;
use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::settings::ReviewSettings;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use attache_guardrails::{Guardrails, count};
use jiff::civil::date;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUTES: usize = 10_000;
const GATEWAYS: usize = 100;
const REVIEWS: usize = 2_000;

/// A promised limit of time, and the time that was measured.
struct Budget {
    what: String,
    took: Duration,
    most: Duration,
}

fn gateway(i: usize) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"namespace": "infra", "name": format!("g{i}")},
        "spec": {"gatewayClassName": "c", "listeners": [
            {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}},
        ]},
    })
}

fn route(i: usize) -> Value {
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
        "metadata": {"namespace": format!("team-{}", i % 200), "name": format!("r{i}")},
        "spec": {
            "parentRefs": [{"namespace": "infra", "name": format!("g{}", i % GATEWAYS)}],
            "hostnames": [format!("h{i}.example.com")],
            "rules": [{"backendRefs": [{"name": "app", "port": 80}]}],
        },
    })
}

fn policy(i: usize) -> Value {
    json!({
        "apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "SecurityPolicy",
        "metadata": {"namespace": "infra", "name": format!("jwt-{i}")},
        "spec": {
            "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": format!("g{i}")}],
            "jwt": {"providers": [{"name": "corp", "issuer": "https://login.example.com"}]},
        },
    })
}

fn object(value: &Value) -> Arc<Object> {
    let group = value["apiVersion"].as_str().unwrap();
    let (group, _) = group.split_once('/').unwrap();
    let gk = GroupKind::new(group, value["kind"].as_str().unwrap());
    Arc::new(Object::from_json(&gk, &to_raw_value(value).unwrap()).unwrap())
}

fn snapshot() -> Snapshot {
    let rules = Configuration::default().rules(testing::builtin());
    let all = |objects: Vec<Value>| {
        let objects: Vec<Arc<Object>> = objects.iter().map(object).collect();
        Change::Listed(objects[0].key.gk.clone(), objects)
    };
    Snapshot::new(rules)
        .apply(all((0..GATEWAYS).map(gateway).collect()))
        .apply(all((0..GATEWAYS).map(policy).collect()))
        .apply(all((0..ROUTES).map(route).collect()))
}

/// Guardrails over all routes: those of one of four rules each.
fn guardrails(number: usize) -> Guardrails {
    let rules = [
        "has(effective.spec.jwt)",
        "policies.all(p, p.namespace == 'infra' || p.inForce)",
        "!has(effective.spec.cors) || effective.spec.cors.allowOrigins.all(o, o != '*')",
        "before == null || 'platform' in request.userInfo.groups || has(effective.spec.jwt) == has(before.spec.jwt)",
    ];
    let files = (0..number).map(|i| {
        let file = json!({
            "metadata": {"name": format!("rule-{i}")},
            "spec": {
                "policyKind": {"group": "gateway.envoyproxy.io", "kind": "SecurityPolicy"},
                "rules": [{"require": rules[i % rules.len()]}],
                "action": "deny",
            },
        });
        serde_json::from_value(file).unwrap()
    });
    Guardrails::compile(&files.collect::<Vec<_>>()).unwrap()
}

fn review(i: usize) -> String {
    let object = route(i);
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u-1", "operation": "CREATE",
            "kind": {"group": "gateway.networking.k8s.io", "version": "v1", "kind": "HTTPRoute"},
            "namespace": object["metadata"]["namespace"], "name": format!("new-{i}"),
            "userInfo": {"username": "ana", "groups": ["team"]},
            "object": object,
        },
    })
    .to_string()
}

/// The median and the 99th percentile of reviews without and with guardrails.
fn compared(snapshot: &Snapshot, number: usize) -> [[Duration; 2]; 2] {
    let with = ReviewSettings {
        guard: Some(Arc::new(guardrails(number))),
        ..ReviewSettings::default()
    };
    let settings = [ReviewSettings::default(), with];
    let mut times = [Vec::new(), Vec::new()];
    for i in 0..REVIEWS {
        let body = review(i * 7 % ROUTES);
        for (settings, times) in settings.iter().zip(&mut times) {
            let started = Instant::now();
            let answer = respond(
                snapshot,
                settings,
                &Evidence::Authoritative,
                Endpoint::Validate,
                body.as_bytes(),
            );
            times.push(started.elapsed());
            assert!(black_box(answer).is_ok());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        [times[REVIEWS / 2], times[REVIEWS * 99 / 100]]
    })
}

/// The better of three runs.
fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..3).map(|_| {
        let started = Instant::now();
        run();
        started.elapsed()
    });
    times.min().unwrap()
}

fn main() {
    let snapshot = snapshot();
    let mut budgets = Vec::new();
    for (number, percentile, name, most) in [
        (20, 0, "p50", Duration::from_micros(100)),
        (200, 1, "p99", Duration::from_millis(1)),
    ] {
        let [without, with] = compared(&snapshot, number);
        budgets.push(Budget {
            what: format!(
                "{number} guardrails on the review of a route, {name}, over the same without ({} us)",
                without[percentile].as_micros()
            ),
            took: with[percentile].saturating_sub(without[percentile]),
            most,
        });
    }
    let one = guardrails(1);
    let today = date(2026, 11, 26);
    budgets.push(Budget {
        what: format!("a guardrail over {ROUTES} routes, judged as they are"),
        took: best(|| {
            let counts = count(&snapshot, &one, today);
            assert_eq!(counts["rule-0"].fulfilled, ROUTES);
        }),
        most: Duration::from_millis(200),
    });
    println!("| what | measured | budget | of the budget |\n|---|---|---|---|");
    for Budget { what, took, most } in budgets {
        let share = took.as_secs_f64() / most.as_secs_f64();
        println!(
            "| {what} | {:.2} ms | {:.2} ms | {share:.2}x |",
            took.as_secs_f64() * 1e3,
            most.as_secs_f64() * 1e3
        );
    }
}
