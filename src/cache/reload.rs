//! Keeps a snapshot of a directory current: checks for changed files and reads everything again.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::kinds::profile::ProfileRules;
use crate::metrics::Metrics;

use super::Published;
use super::directory::{self, Links, Loaded};
use super::guardrails::{self, GuardrailsInUse, StoredGuardrail};
use super::repository::unbuilt;

/// A directory to follow.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// The links that are followed.
    pub links: Links,
    /// The namespace of objects that do not name one.
    pub namespace: String,
    /// The rules for policy kinds.
    pub rules: Arc<ProfileRules>,
}

/// The result of reading a directory.
#[derive(Debug)]
pub struct Reading {
    /// The state.
    pub loaded: Loaded,
    /// The guardrails among the objects.
    pub guardrails: Vec<StoredGuardrail>,
    /// The files as they were just before.
    pub fingerprint: Fingerprint,
}

/// Distinguishes two states of a directory without reading the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(Vec<(PathBuf, Option<Stamp>)>);

/// Changes whenever a file is written or replaced: device, inode, length, mtime and ctime. Nobody can set the ctime.
type Stamp = (u64, u64, u64, (i64, i64), (i64, i64));

// === impl Directory ===

impl Directory {
    /// Reads the directory once. The fingerprint is taken first, so that a file that changes during the read is read
    /// again.
    pub fn load(&self) -> Reading {
        let fingerprint = Fingerprint::from_paths(&self.paths, self.links);
        let manifests = unbuilt(&self.paths, self.links);
        Reading {
            guardrails: guardrails::among(&manifests),
            loaded: Loaded::new(manifests, &self.rules, &self.namespace),
            fingerprint,
        }
    }

    fn from(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(|p| p.display().to_string()).collect();
        paths.join(", ")
    }
}

// === impl Fingerprint ===

impl Fingerprint {
    /// The state of these files and directories now.
    pub fn from_paths(paths: &[PathBuf], links: Links) -> Self {
        let files = directory::files(paths, links).into_iter();
        let facts = files.map(|file| {
            let path = match file {
                Ok(path) | Err((path, _)) => path,
            };
            let stamp = std::fs::metadata(&path).ok().map(|it| stamp(&it));
            (path, stamp)
        });
        Self(facts.collect())
    }
}

fn stamp(it: &Metadata) -> Stamp {
    let modified = (it.mtime(), it.mtime_nsec());
    (
        it.dev(),
        it.ino(),
        it.len(),
        modified,
        (it.ctime(), it.ctime_nsec()),
    )
}

/// Polls the directory at the interval `every` and publishes a new snapshot when it changed. Does not return unless it
/// fails; then it returns the reason. Polling is cheap and works on every file system, unlike notifications.
pub async fn watch_directory(
    directory: Directory,
    mut seen: Fingerprint,
    mut rules: watch::Receiver<Arc<ProfileRules>>,
    every: Duration,
    published: Published,
    in_use: Arc<GuardrailsInUse>,
    metrics: Arc<Metrics>,
) -> String {
    let mut directory = Arc::new(directory);
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let changed = rules.has_changed().unwrap_or(false);
        if changed {
            let rules = rules.borrow_and_update().clone();
            let followed = Directory::clone(&directory);
            directory = Arc::new(Directory { rules, ..followed });
        }
        let shared = Arc::clone(&directory);
        let before = seen.clone();
        // Reading files blocks the thread.
        let looked = tokio::task::spawn_blocking(move || {
            (changed || Fingerprint::from_paths(&shared.paths, shared.links) != before)
                .then(|| shared.load())
        });
        let reading = match looked.await {
            Ok(Some(changed)) => changed,
            Ok(None) => continue,
            Err(error) => return format!("reading the directory failed: {error}"),
        };
        seen = reading.fingerprint;
        log(&reading.loaded, &directory.from());
        published.store(Arc::new(reading.loaded.snapshot));
        in_use.replace(reading.guardrails);
        metrics.snapshot_publishes.inc();
    }
}

/// Logs what was read, and what could not be.
pub fn log(loaded: &Loaded, from: &str) {
    for problem in &loaded.problems {
        problem.log();
    }
    tracing::info!("{}", loaded.counts.summary(from));
    if let Some(line) = directory::written_twice(&loaded.duplicates) {
        tracing::warn!("{line}");
    }
}
