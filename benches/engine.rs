//! Measures a review without the network, from the bytes of the request to the bytes of the answer:
//! `cargo bench --bench engine -- --routes 10000 --policies 5000`.
//!
//! `--case NAME --times N` runs N reviews of one case and prints nothing; `benches/instructions.sh` uses it to count
//! their instructions.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

use std::time::{Duration, Instant};

use attache::engine::admission::evidence::Evidence;
use attache::engine::admission::settings::ReviewSettings;
use attache::engine::state::snapshot::Snapshot;
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use serde_json::{Value, json};

use testing::load::args::Args;
use testing::load::objects;
use testing::load::review::{review, with};
use testing::load::state::state;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Different requests per case, so that the CPU caches do not hold one answer.
const DIFFERENT: usize = 64;
/// The machine's speed varies by up to a factor of two.
const ROUNDS: usize = 3;
/// The budgets.
const P50: Duration = Duration::from_micros(50);
const P99: Duration = Duration::from_micros(500);
/// The budget of a policy that reaches everything.
const ON_CLASS: &str = "create a policy on a GatewayClass";
const OF_ALL: Duration = Duration::from_millis(20);

struct Size {
    routes: usize,
    policies: usize,
}

/// A kind of request; `share` of 100 requests are of this kind.
struct Case {
    name: &'static str,
    share: usize,
    endpoint: Endpoint,
    bodies: Vec<Vec<u8>>,
}

fn main() {
    let args = Args::read();
    let size = Size {
        routes: args.number("--routes").unwrap_or(1_000),
        policies: args.number("--policies").unwrap_or(300),
    };
    let snapshot = state(size.routes, size.policies);
    let cases = cases(&size);
    if args.has("--list") {
        for case in &cases {
            println!("{}", case.name);
        }
    } else if let Some(name) = args.value("--case") {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        (0..args.number("--times").unwrap_or(1)).for_each(|i| once(&snapshot, case, i));
    } else {
        table(&snapshot, &cases, &size);
    }
}

/// Runs one review. It is not inlined, because its instructions are counted by its name.
#[inline(never)]
fn once(snapshot: &Snapshot, case: &Case, i: usize) {
    let body = &case.bodies[i % case.bodies.len()];
    let review_settings = ReviewSettings::default();
    let evidence = Evidence::Authoritative;
    let answer = respond(snapshot, &review_settings, &evidence, case.endpoint, body);
    assert!(answer.unwrap().len() > 100);
}

fn table(snapshot: &Snapshot, cases: &[Case], size: &Size) {
    let (routes, policies) = (size.routes, size.policies);
    println!(
        "{routes} routes, {policies} policies, without network\n\n| review | p50 | p99 |\n|---|---|---|"
    );
    let mut of_cases: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
    let mut rounds: Vec<(Duration, Duration)> = Vec::new();
    for _ in 0..ROUNDS {
        let mut all: Vec<Duration> = Vec::new();
        for (case, of_case) in cases.iter().zip(&mut of_cases) {
            let times = times(snapshot, case);
            if case.share > 0 {
                all.extend(&times);
            }
            of_case.extend(times);
        }
        all.sort();
        rounds.push((at(&all, 0.5), at(&all, 0.99)));
    }
    for (case, times) in cases.iter().zip(&mut of_cases) {
        times.sort();
        let (p50, p99) = (milliseconds(at(times, 0.5)), milliseconds(at(times, 0.99)));
        println!("| {} | {p50} | {p99} |", case.name);
    }
    let middle = |time_of: fn(&(Duration, Duration)) -> Duration| {
        let mut of_rounds: Vec<Duration> = rounds.iter().map(time_of).collect();
        of_rounds.sort();
        at(&of_rounds, 0.5)
    };
    println!("\n| what | measured | budget | of the budget |\n|---|---|---|---|");
    let row = |what: &str, measured: Duration, budget: Duration| {
        let share = measured.as_secs_f64() / budget.as_secs_f64();
        println!(
            "| {what} | {} | {} | {share:.2}x |",
            milliseconds(measured),
            milliseconds(budget)
        );
    };
    let state = format!("{routes} routes, {policies} policies");
    row(&format!("any review, {state}, p50"), middle(|r| r.0), P50);
    row(&format!("any review, {state}, p99"), middle(|r| r.1), P99);
    let of_all = cases.iter().zip(&of_cases);
    for (case, times) in of_all.filter(|(case, _)| case.name == ON_CLASS) {
        let what = format!("{}, {state}", case.name);
        row(&what, at(times, 0.5), OF_ALL);
    }
}

/// The times of the reviews of a case, after a warm-up.
fn times(snapshot: &Snapshot, case: &Case) -> Vec<Duration> {
    (0..20).for_each(|i| once(snapshot, case, i));
    let reviews = 0..40 * case.share.max(1);
    let times = reviews.map(|i| {
        let started = Instant::now();
        once(snapshot, case, i);
        started.elapsed()
    });
    times.collect()
}

fn at(sorted: &[Duration], share: f64) -> Duration {
    sorted[(sorted.len() as f64 * share) as usize]
}

fn milliseconds(time: Duration) -> String {
    match time.as_secs_f64() {
        long if long >= 1e-3 => format!("{:.1} ms", long * 1e3),
        short => format!("{:.1} us", short * 1e6),
    }
}

fn cases(size: &Size) -> Vec<Case> {
    let routes = size.routes;
    let route = |i: usize| objects::route(i * 37 % routes);
    // Three consecutive policies target a Gateway, a Namespace and a route, in this order.
    let policy =
        |i: usize, on: usize| objects::policy((i * 3 + on) % size.policies / 3 * 3 + on, routes);
    let gateway = |i: usize| objects::gateway(i * 7 % routes.div_ceil(100));
    let fresh = |policy: &Value| with(policy, "/metadata/name", json!("fresh"));
    let case = |name, share, endpoint, review: &dyn Fn(usize) -> Value| Case {
        name,
        share,
        endpoint,
        bodies: (0..DIFFERENT)
            .map(|i| review(i).to_string().into_bytes())
            .collect(),
    };
    let validate = Endpoint::Validate;
    let create = |object: &Value| review("CREATE", false, Some(object), None);
    let update = |new: &Value, old: &Value| review("UPDATE", false, Some(new), Some(old));
    vec![
        case("create a route", 26, validate, &|i| create(&route(i))),
        case("label a route", 10, validate, &|i| {
            update(
                &with(&route(i), "/metadata/labels", json!({"app": "new"})),
                &route(i),
            )
        }),
        case("move a route to another Gateway", 10, validate, &|i| {
            update(
                &with(&route(i), "/spec/parentRefs/0/name", json!("g0")),
                &route(i),
            )
        }),
        case("delete a route", 10, validate, &|i| {
            review("DELETE", false, None, Some(&route(i)))
        }),
        case("create a policy on a route", 15, validate, &|i| {
            create(&fresh(&policy(i, 2)))
        }),
        case("update a policy on a route", 10, validate, &|i| {
            update(
                &with(&policy(i, 2), "/spec/retries", json!(7)),
                &policy(i, 2),
            )
        }),
        case("delete a policy on a route", 5, validate, &|i| {
            review("DELETE", false, None, Some(&policy(i, 2)))
        }),
        case("a controller writes a status", 10, validate, &|i| {
            update(
                &with(&route(i), "/status", json!({"parents": []})),
                &route(i),
            )
        }),
        case("mend a route", 0, Endpoint::Mutate, &|i| create(&route(i))),
        case("create a policy on a Namespace", 1, validate, &|i| {
            create(&fresh(&policy(i, 1)))
        }),
        case("create a policy on a Gateway", 1, validate, &|i| {
            create(&fresh(&policy(i, 0)))
        }),
        case("update a policy on a Gateway", 1, validate, &|i| {
            update(
                &with(&policy(i, 0), "/spec/retries", json!(7)),
                &policy(i, 0),
            )
        }),
        case("rename a listener of a Gateway", 1, validate, &|i| {
            update(
                &with(&gateway(i), "/spec/listeners/1/name", json!("tls")),
                &gateway(i),
            )
        }),
        case(ON_CLASS, 0, validate, &|i| {
            let class =
                json!({"group": "gateway.networking.k8s.io", "kind": "GatewayClass", "name": "c"});
            let wide = with(&fresh(&policy(i, 0)), "/metadata/namespace", json!(""));
            create(&with(&wide, "/spec/targetRef", class))
        }),
    ]
}
