//! Runs attache for twenty minutes at 70 % of the machine's capacity, and at ten times as much:
//! `cargo bench --bench soak -- --minutes 20`.
//!
//! The server is `attache serve` as in production, with the API server of the tests and a cluster that changes 500
//! times per second. Client, API server and attache share the machine. The run fails if any requirement is not met.
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

mod verdict;

use std::process::ExitCode;
use std::time::Duration;

use testing::load::args::Args;
use testing::load::cluster::{Api, Churn};
use testing::load::mix;
use testing::load::overload::Overload;
use testing::load::pace::{Load, Outcome};
use testing::load::process::{Process, pair};
use testing::load::sample::{HEAD, Sample, Sampler, mean};
use verdict::Verdict;

/// The load, as a share of the limit.
const SHARE: f64 = 0.7;
/// The most concurrent writes of an API server, by default.
const WRITES: usize = 600;
/// Timeout of a live read in seconds.
const LIVE_READ: f64 = 0.3;
/// Concurrent reviews, by default.
const REVIEWS: f64 = 64.0;
/// The longest that a request with a timeout of 10 s may wait for a permit before it is rejected.
const WAIT: Duration = Duration::from_millis(2_500);
/// A request that finds too many others waiting is rejected at once: well before that.
const AT_ONCE: Duration = WAIT.checked_div(10).unwrap();
/// Service must be normal again after this time.
const OVER: Duration = Duration::from_secs(1);
/// Memory and descriptors are compared with those at this time.
const SETTLED: Duration = Duration::from_mins(2);

struct Setup {
    time: Duration,
    routes: usize,
    policies: usize,
    connections: usize,
    changes: u64,
    /// Calls per second, instead of the share of the limit.
    rate: Option<f64>,
    /// The budget of p99.
    budget: Duration,
    overload: Duration,
}

fn main() -> ExitCode {
    let args = Args::read();
    let count = |flag: &str, default: usize| args.number(flag).unwrap_or(default);
    let setup = Setup {
        time: Duration::from_secs_f64(args.number("--minutes").unwrap_or(0.5) * 60.0),
        routes: count("--routes", 1_000),
        policies: count("--policies", 300),
        connections: count("--connections", 32),
        changes: count("--changes", 500) as u64,
        rate: args.number("--rate"),
        budget: Duration::from_secs_f64(args.number("--p99-ms").unwrap_or(50.0) / 1e3),
        overload: Duration::from_secs(count("--overload", 15) as u64),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(run(&setup))
}

async fn run(setup: &Setup) -> ExitCode {
    let api = Api::start(setup.routes, setup.policies).await;
    let process = Process::start(&pair(), &api.kubeconfig(), CONFIG, &[]);
    process.ready().await;
    println!(
        "{} routes, {} policies, {} connections, {} changes/s",
        setup.routes, setup.policies, setup.connections, setup.changes
    );
    let churn = api.churn(setup.changes);
    let limit = limit(setup, &process).await;
    let rate = setup.rate.unwrap_or(limit * SHARE);
    println!("limit {limit:.0} calls/s; {rate:.0} calls/s from now on\n\n{HEAD}");
    let mut verdict = Verdict::default();
    soak(setup, &process, &churn, rate, &mut verdict).await;
    overload(setup, (&api, &process), limit, &mut verdict).await;
    verdict.end()
}

/// The limit without pauses: the lowest of five runs, because other programs may use the machine.
async fn limit(setup: &Setup, process: &Process) -> f64 {
    let mix = mix::mixed(setup.routes, setup.policies);
    let time = Duration::from_secs(4);
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let outcome = Load::closed(&process.place, &mix, setup.connections, time).await;
        assert_eq!(outcome.failed, 0, "{:?}", outcome.why);
        least = least.min(outcome.times.len() as f64 / time.as_secs_f64());
    }
    least
}

async fn soak(setup: &Setup, process: &Process, churn: &Churn, rate: f64, verdict: &mut Verdict) {
    let mix = mix::mixed(setup.routes, setup.policies);
    let load = Load::open(&process.place, &mix, setup.connections, rate);
    let (changes, worked) = (churn.made(), process.worked());
    let mut taken = Sampler::new(process, &load).await;
    // About 60 rows, whatever the duration.
    let every = (setup.time / 60).max(Duration::from_secs(2));
    while taken.samples.last().is_none_or(|last| last.at < setup.time) {
        println!("{}", taken.next(every).await);
    }
    let (samples, mut all) = (taken.samples, taken.all);
    let (rest, unsent) = load.stop().await;
    all.absorb(rest);
    let seconds = samples.last().unwrap().at.as_secs_f64();
    let changes = (churn.made() - changes) as f64 / seconds;
    let applied = mean(&samples, |s| s.applied);
    let processor = process.worked().saturating_sub(worked).as_secs_f64() / seconds;
    let answered = all.times.len();
    println!(
        "\n{answered} calls answered, {:.0}/s; p50 {:?}, p99 {:?}, most {:?}; {:.0} changes/s made, {:.0}/s applied; attache took {processor:.2} processors",
        answered as f64 / seconds,
        Outcome::at(&mut all.times, 0.5),
        Outcome::at(&mut all.times, 0.99),
        Outcome::at(&mut all.times, 1.0),
        changes,
        applied,
    );
    let wanted = 0.98 * setup.changes as f64;
    verdict.check(
        "changes of the cluster a second, made and applied",
        changes >= wanted && applied >= wanted,
        &format!("{changes:.0} and {applied:.0}"),
    );
    let errors = all.failed + all.rude + all.shed.len();
    verdict.check(
        "calls that failed or were sent away",
        errors == 0,
        &format!("{errors} {:?}", all.why),
    );
    verdict.check(
        "calls that were due and never sent",
        unsent < setup.connections,
        &unsent,
    );
    let p99 = Outcome::at(&mut all.times, 0.99);
    verdict.check(
        "p99, from when a call was due",
        p99 <= setup.budget,
        &format!("{p99:?}"),
    );
    let unready = samples.iter().filter(|sample| !sample.is_ready).count();
    verdict.check("samples without readiness", unready == 0, &unready);
    let settled = SETTLED.min(setup.time / 4);
    let before = samples
        .iter()
        .position(|sample| sample.at >= settled)
        .unwrap_or(0);
    let quarter = samples.len() * 3 / 4;
    let after = &samples[quarter..];
    let before = &samples[before.min(quarter)..(before + after.len()).min(quarter).max(before + 1)];
    let grown = |measure: fn(&Sample) -> f64| (mean(before, measure), mean(after, measure));
    let (from, to) = grown(|s| s.resident as f64 / 1024.0);
    let growth = format!("{from:.1} -> {to:.1} MiB");
    verdict.check(
        "memory, settled and in the last quarter",
        to <= from * 1.1 + 4.0,
        &growth,
    );
    let (from, to) = grown(|s| s.descriptors as f64);
    let said = format!("{from:.1} -> {to:.1}");
    verdict.check(
        "descriptors, settled and in the last quarter",
        to <= from + 4.0,
        &said,
    );
}

/// Ten times what the CPUs can do, and ten times what a slow API server allows.
async fn overload(
    setup: &Setup,
    (api, process): (&Api, &Process),
    limit: f64,
    verdict: &mut Verdict,
) {
    let calm = mix::mixed(setup.routes, setup.policies);
    let unsure = mix::unsure(setup.routes, "/validate?timeout=10s");
    let waits = REVIEWS / LIVE_READ;
    for (name, mix, limit) in [
        ("processors", &calm, limit),
        ("slow API server", &unsure, waits),
    ] {
        let slow = name != "processors";
        api.hold_reads(slow);
        let rate = limit * 10.0;
        let mut seen = Overload::run(process, (mix, &calm), WRITES, rate, setup.overload).await;
        api.hold_reads(false);
        let seconds = setup.overload.as_secs_f64();
        println!(
            "\noverload, {name}: {rate:.0} calls/s due for {seconds:.0} s on {WRITES} connections; {:.0}/s answered, {:.0}/s sent away (p50 {:?}, p99 {:?}), {:.0}/s had no connection; at most {} in flight, {} queued, {:.1} MiB",
            seen.outcome.times.len() as f64 / seconds,
            seen.outcome.shed.len() as f64 / seconds,
            Outcome::at(&mut seen.outcome.shed, 0.5),
            Outcome::at(&mut seen.outcome.shed, 0.99),
            seen.unsent as f64 / seconds,
            seen.in_flight,
            seen.queued,
            seen.resident as f64 / 1024.0,
        );
        let (failed, why) = (seen.outcome.failed, &seen.outcome.why);
        verdict.check(
            "calls that failed",
            failed == 0,
            &format!("{failed} {why:?}"),
        );
        verdict.check(
            "sent away without Retry-After",
            seen.outcome.rude == 0,
            &seen.outcome.rude,
        );
        let share = format!("{} of {}", seen.unready, seen.asked);
        verdict.check("not ready", seen.unready == 0, &share);
        verdict.check("queued at most", seen.queued <= REVIEWS * 3.0, &seen.queued);
        if slow {
            verdict.check(
                "some were sent away",
                !seen.outcome.shed.is_empty(),
                &seen.outcome.shed.len(),
            );
        }
        let away = Outcome::at(&mut seen.outcome.shed, 0.99);
        verdict.check(
            "sent away after, p99",
            away <= AT_ONCE,
            &format!("{away:?}"),
        );
        let again = seen.over_after;
        verdict.check("served again after", again <= OVER, &format!("{again:?}"));
    }
}

const CONFIG: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";
