//! The time of reviews for expensive bodies: `cargo bench --bench hostile`. With `-- --only TEXT` only those whose name
//! contains the text.
//!
//! The tests measure memory and allocations, which are deterministic.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::time::{Duration, Instant};

use attache::engine::admission::evidence::{Evidence, Reading, Readings};
use attache::engine::admission::review::review;
use attache::engine::model::ids::ObjectKey;
use attache::engine::state::snapshot::Snapshot;
use attache::http::admission::respond;
use attache::http::call::Endpoint;
use attache::http::envelope::Envelope;

use testing::amplification::bodies::{self, Hostile};
use testing::amplification::states;
use testing::load::args::Args;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The promised limit.
const MOST: Duration = Duration::from_millis(100);
/// The number of bodies shown individually.
const SHOWN: usize = 10;

/// A body, and its time at the slower endpoint.
struct Timed {
    name: String,
    length: usize,
    took: Duration,
}

type Timing = fn(&Hostile) -> Timed;

fn main() {
    let of_body = [
        bodies::settings,
        bodies::targets,
        bodies::metadata,
        bodies::topology,
        bodies::definitions,
    ];
    let of_state = [
        bodies::crowds,
        bodies::disputes,
        bodies::products,
        bodies::far,
    ];
    let groups = [
        ("the body decides", &of_body[..], time as Timing),
        ("the state decides", &of_state[..], time),
        ("the state decides, after a start", &of_state[..], first),
    ];
    let args = Args::read();
    let only = args.value("--only").unwrap_or_default();
    let timed = groups.map(|(what, groups, time)| (what, timed(groups, only, time)));
    println!("| body | length | time |\n|---|---|---|");
    for (_, slowest) in &timed {
        for Timed { name, length, took } in slowest.iter().take(SHOWN) {
            println!("| {name} | {length} | {:.1} ms |", millis(*took));
        }
    }
    println!("\n| what | measured | budget | of the budget |\n|---|---|---|---|");
    for (what, slowest) in &timed {
        let took = slowest.first().map(|timed| timed.took).unwrap_or_default();
        println!(
            "| the slowest of {} hostile bodies where {what}, one thread | {:.0} ms | {:.0} ms | {:.2}x |",
            slowest.len(),
            millis(took),
            millis(MOST),
            took.as_secs_f64() / MOST.as_secs_f64()
        );
    }
}

/// Sorted by time, slowest first.
fn timed(groups: &[fn() -> Vec<Hostile>], only: &str, time: Timing) -> Vec<Timed> {
    let hostile = groups.iter().flat_map(|group| group());
    let hostile = hostile.filter(|hostile| hostile.name.contains(only));
    let mut timed: Vec<Timed> = hostile.map(|hostile| time(&hostile)).collect();
    timed.sort_by_key(|timed| std::cmp::Reverse(timed.took));
    timed
}

/// The first review of a new server: no policy settings have been parsed.
fn first(hostile: &Hostile) -> Timed {
    let review_settings = states::configuration().review_settings();
    let body = hostile.body();
    let ask = || {
        let snapshot = hostile.state.build();
        let (evidence, endpoint) = (Evidence::Authoritative, Endpoint::Validate);
        let started = Instant::now();
        let answer = respond(
            &snapshot,
            &review_settings,
            &evidence,
            endpoint,
            body.as_bytes(),
        );
        let took = started.elapsed();
        assert!(answer.is_ok(), "{}", hostile.name);
        took
    };
    Timed {
        name: format!("{}, after a start", hostile.name),
        length: body.len(),
        took: ask().min(ask()),
    }
}

/// Not inlined, so that its instructions can be counted by name.
#[inline(never)]
fn time(hostile: &Hostile) -> Timed {
    let (snapshot, body) = (hostile.state.get(), hostile.body());
    let review_settings = states::configuration().review_settings();
    let once = |endpoint, evidence: &Evidence| {
        let started = Instant::now();
        let answer = respond(
            snapshot,
            &review_settings,
            evidence,
            endpoint,
            body.as_bytes(),
        );
        let took = started.elapsed();
        assert!(answer.is_ok(), "{}", hostile.name);
        took
    };
    let absent = rests_on(snapshot, &body);
    let read = |object: ObjectKey| (object, Reading::Answered);
    let live = Evidence::Live(Readings {
        objects: absent.iter().cloned().map(read).collect(),
        ..Readings::default()
    });
    // A finding that rests on absence is reviewed again after a live read.
    let ask = |endpoint| {
        let took = once(endpoint, &Evidence::Cached);
        if endpoint == Endpoint::Mutate || absent.is_empty() {
            return took;
        }
        took + once(endpoint, &live)
    };
    // The better of two runs: the first may load data into memory.
    let endpoints = [Endpoint::Validate, Endpoint::Mutate];
    let took = endpoints.map(|endpoint| ask(endpoint).min(ask(endpoint)));
    Timed {
        name: hostile.name.clone(),
        length: body.len(),
        took: took.into_iter().max().unwrap(),
    }
}

/// The objects that the review of a body asks to be read live.
fn rests_on(snapshot: &Snapshot, body: &str) -> Vec<ObjectKey> {
    let envelope = Envelope::parse(body.as_bytes()).unwrap();
    let request = envelope.request();
    let verdict = request.map(|request| review(snapshot, &request, &Evidence::Cached));
    verdict
        .map(|verdict| verdict.absences())
        .unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
