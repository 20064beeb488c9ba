//! Samples of a server and its answers, taken every few seconds: the rows of a table.

use std::time::{Duration, Instant};

use super::pace::{Load, Outcome};
use super::process::Process;

/// One row.
pub struct Sample {
    pub at: Duration,
    pub per_second: f64,
    pub p50: Duration,
    pub p99: Duration,
    pub most: Duration,
    pub failed: usize,
    pub shed: usize,
    pub behind: usize,
    pub resident: u64,
    pub descriptors: u64,
    pub applied: f64,
    pub is_ready: bool,
}

/// Samples a running load.
pub struct Sampler<'a> {
    process: &'a Process,
    load: &'a Load,
    started: Instant,
    last: Instant,
    applied: f64,
    /// All results of the load so far.
    pub all: Outcome,
    pub samples: Vec<Sample>,
}

impl<'a> Sampler<'a> {
    pub async fn new(process: &'a Process, load: &'a Load) -> Self {
        let applied = applied(process).await;
        Self {
            process,
            load,
            started: Instant::now(),
            last: Instant::now(),
            applied,
            all: Outcome::default(),
            samples: Vec::new(),
        }
    }

    /// Takes a sample over the next interval.
    pub async fn next(&mut self, time: Duration) -> &Sample {
        tokio::time::sleep(time).await;
        let applied = applied(self.process).await;
        let is_ready = self.process.is_ready().await;
        let mut came = self.load.take();
        let passed = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        self.samples.push(Sample {
            at: self.started.elapsed(),
            per_second: came.times.len() as f64 / passed,
            p50: Outcome::at(&mut came.times, 0.5),
            p99: Outcome::at(&mut came.times, 0.99),
            most: Outcome::at(&mut came.times, 1.0),
            failed: came.failed + came.rude,
            shed: came.shed.len(),
            behind: self.load.behind(),
            resident: self.process.resident(),
            descriptors: self.process.descriptors(),
            applied: (applied - self.applied) / passed,
            is_ready,
        });
        self.applied = applied;
        self.all.absorb(came);
        self.samples.last().unwrap()
    }
}

async fn applied(process: &Process) -> f64 {
    let applied = process.metric("attache_snapshot_applies_total").await;
    applied.unwrap_or_default()
}

pub const HEAD: &str = "| s | calls/s | p50 | p99 | most | failed | sent away | behind | resident KiB | descriptors | applied/s | ready |\n|---|---|---|---|---|---|---|---|---|---|---|---|";

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        write!(
            f,
            "| {:.0} | {:.0} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} | {} |",
            self.at.as_secs_f64(),
            self.per_second,
            millis(self.p50),
            millis(self.p99),
            millis(self.most),
            self.failed,
            self.shed,
            self.behind,
            self.resident,
            self.descriptors,
            self.applied,
            if self.is_ready { "yes" } else { "NO" },
        )
    }
}

/// The mean of a value over samples.
pub fn mean(samples: &[Sample], measure: impl Fn(&Sample) -> f64) -> f64 {
    samples.iter().map(measure).sum::<f64>() / samples.len().max(1) as f64
}
