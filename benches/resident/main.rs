//! Measures attache with 100,000 routes and 10,000 policies: its memory, how soon it is ready, how soon it sees a
//! change, and the memory of the largest bodies: `cargo bench --bench resident`.
//!
//! The server is `attache serve` as in production, with the API server of the tests: TLS, pages of 500, watches.
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

mod bare;
mod body;
mod cluster;
mod fresh;
mod size;

use std::time::Duration;

use cluster::Cluster;
use size::Size;
use testing::load::args::Args;

/// The same as in the server, so that the bare lists are not at a disadvantage.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MIB: f64 = 1024.0;

/// The budgets.
const RESIDENT: f64 = 150.0;
const READY: f64 = 1.5;
const SEEN: f64 = 50.0;
const BODY: f64 = 4.0;

fn main() {
    let args = Args::read();
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    if let Some(kubeconfig) = args.value(bare::FLAG) {
        return runtime.block_on(bare::lists(kubeconfig));
    }
    let sizes = args.value("--sizes").unwrap_or("10000,50000,100000");
    let sizes: Vec<usize> = sizes.split(',').map(|n| n.parse().unwrap()).collect();
    let rounds = args.number("--rounds").unwrap_or(3);
    let probes = args.number("--probes").unwrap_or(500);
    runtime.block_on(run(&sizes, rounds, probes));
}

async fn run(sizes: &[usize], rounds: usize, probes: usize) {
    let mut measured: Vec<Size> = Vec::new();
    println!("{}", size::HEAD);
    let mut seen = None;
    for (i, routes) in sizes.iter().enumerate() {
        let cluster = Cluster::start(*routes).await;
        let (size, process) = Size::measure(&cluster, rounds).await;
        println!("{size}");
        measured.push(size);
        if i + 1 == sizes.len() && probes > 0 {
            seen = Some(fresh::measure(&cluster, &process, probes).await);
        }
    }
    let body = body::measure().await;
    let last = measured.last().unwrap();
    println!("\n| what | measured | budget | of the budget |\n|---|---|---|---|");
    let row = |what: &str, measured: String, budget: String, share: f64| {
        println!("| {what} | {measured} | {budget} | {share:.2}x |");
    };
    let resident = last.resident as f64 / MIB;
    row(
        &format!(
            "{} routes, {} policies in cache",
            last.routes, last.policies
        ),
        format!("{resident:.0} MiB"),
        format!("{RESIDENT:.0} MiB"),
        resident / RESIDENT,
    );
    let ratio = last.ready.as_secs_f64() / last.bare.as_secs_f64();
    row(
        "start to ready",
        format!("{ratio:.2}x the bare lists"),
        format!("{READY}x"),
        ratio / READY,
    );
    if let Some(seen) = seen {
        let p99 = millis(seen.p99);
        row(
            &format!("a change is seen by reviews, at {} changes/s", fresh::RATE),
            format!("p50 {:.1} ms, p99 {p99:.1} ms", millis(seen.p50)),
            format!("p99 {SEEN:.0} ms"),
            p99 / SEEN,
        );
    }
    let most = body.iter().map(|b| b.ratio).fold(0.0, f64::max);
    row(
        "a body of 2 x 3 MiB",
        format!("{most:.1}x the body"),
        format!("{BODY:.0}x"),
        most / BODY,
    );
    for body in &body {
        println!(
            "\n{}: {:.1} MiB of body, {:.1} MiB more, {:.2}x",
            body.what, body.size, body.grown, body.ratio
        );
    }
    println!("\n{}", size::growth(&measured));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The median.
fn median<T: Copy + Ord>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}
