//! Measures a size of cluster: how soon attache is ready, and how much memory it takes.

use std::fmt;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::cluster::Cluster;
use crate::{MIB, bare, median};
use testing::load::process::{LONG, Process, pair};

const CONFIG: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";
/// Time for the allocator to return unused memory.
const SETTLE: Duration = Duration::from_secs(3);

/// Memory in KiB; times are medians of all rounds.
pub(crate) struct Size {
    pub(crate) routes: usize,
    pub(crate) policies: usize,
    pub(crate) bare: Duration,
    pub(crate) ready: Duration,
    pub(crate) resident: u64,
    /// The peak until it was ready.
    peak: u64,
    /// The peak during a relist, and what remains afterwards.
    again: u64,
    after: u64,
}

pub(crate) const HEAD: &str = "| routes | policies | bare lists | ready | ratio | resident | most, start | most, listed anew | after that |\n|---|---|---|---|---|---|---|---|---|";

impl Size {
    /// Alternates between the baseline and attache. The last process of attache keeps running.
    pub(crate) async fn measure(cluster: &Cluster, rounds: usize) -> (Self, Process) {
        let (mut bare, mut ready, mut resident, mut peak) = (vec![], vec![], vec![], vec![]);
        let mut last = None;
        for _ in 0..rounds {
            drop(last.take());
            bare.push(tokio::task::block_in_place(|| bare::time(cluster)));
            let started = Instant::now();
            let process = Process::start(&pair(), &cluster.kubeconfig, CONFIG, &[]);
            process.ready().await;
            ready.push(started.elapsed());
            peak.push(process.peak());
            sleep(SETTLE).await;
            resident.push(process.resident());
            last = Some(process);
        }
        let process = last.unwrap();
        let skipped = process.metric("attache_skipped_objects").await;
        assert_eq!(
            skipped.unwrap_or_default() as u64,
            0,
            "objects that were left out"
        );
        process.forget_peak();
        list_anew(cluster, &process).await;
        let again = process.peak();
        sleep(SETTLE).await;
        let size = Self {
            routes: cluster.routes,
            policies: cluster.policies,
            bare: median(bare),
            ready: median(ready),
            resident: median(resident),
            peak: median(peak),
            again,
            after: process.resident(),
        };
        (size, process)
    }
}

/// Expires the history of all kinds, so that everything is listed again.
async fn list_anew(cluster: &Cluster, process: &Process) {
    let applied = || async {
        let applies = process.metric("attache_snapshot_applies_total").await;
        applies.unwrap_or_default() as usize
    };
    let before = applied().await;
    for path in &cluster.paths {
        cluster.server.expire(path);
    }
    let listed = async {
        // Each list is applied as one change.
        while applied().await < before + cluster.paths.len() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONG, listed).await.expect("listed in time");
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |kib: u64| kib as f64 / MIB;
        write!(
            f,
            "| {} | {} | {:.2} s | {:.2} s | {:.2}x | {:.1} MiB | {:.1} MiB | {:.1} MiB | {:.1} MiB |",
            self.routes,
            self.policies,
            self.bare.as_secs_f64(),
            self.ready.as_secs_f64(),
            self.ready.as_secs_f64() / self.bare.as_secs_f64(),
            mib(self.resident),
            mib(self.peak),
            mib(self.again),
            mib(self.after),
        )
    }
}

/// The memory per additional object, from size to size.
pub(crate) fn growth(sizes: &[Size]) -> String {
    let steps = sizes.windows(2).map(|pair| {
        let objects = |size: &Size| size.routes + size.policies;
        let more = objects(&pair[1]) - objects(&pair[0]);
        let bytes = (pair[1].resident - pair[0].resident) * 1024 / more as u64;
        format!(
            "{} to {} routes: {bytes} bytes an object",
            pair[0].routes, pair[1].routes
        )
    });
    steps.collect::<Vec<_>>().join("; ")
}
