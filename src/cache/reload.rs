//! Keeps a snapshot of a directory current: looks for changed files and reads everything again.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::profile::ProfileRules;
use crate::metrics::Metrics;

use super::Published;
use super::directory::{self, Loaded};

/// A directory to follow.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// How policy kinds are read.
    pub rules: Arc<ProfileRules>,
}

/// What tells one state of a directory from another without reading the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(Vec<(PathBuf, Option<SystemTime>, u64)>);

// === impl Directory ===

impl Directory {
    /// Reads it once. The fingerprint is taken first: what changes while it is read is read again.
    pub fn load(&self) -> (Loaded, Fingerprint) {
        let fingerprint = Fingerprint::of(&self.paths);
        let loaded = directory::load(&self.paths, &self.rules, &self.namespace);
        (loaded, fingerprint)
    }

    fn from(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(|p| p.display().to_string()).collect();
        paths.join(", ")
    }
}

// === impl Fingerprint ===

impl Fingerprint {
    /// The state of these files and directories now.
    pub fn of(paths: &[PathBuf]) -> Self {
        let files = directory::files(paths).into_iter();
        let facts = files.map(|file| {
            let path = match file {
                Ok(path) | Err((path, _)) => path,
            };
            match std::fs::metadata(&path) {
                Ok(metadata) => (path, metadata.modified().ok(), metadata.len()),
                Err(_) => (path, None, 0),
            }
        });
        Self(facts.collect())
    }
}

/// Looks at the directory each `every`, and publishes a new snapshot when it changed. Never ends by itself; says
/// why if it does. Looking is cheap and works on every file system, which notifications do not.
pub async fn watch_directory(
    directory: Directory,
    mut seen: Fingerprint,
    mut rules: watch::Receiver<Arc<ProfileRules>>,
    every: Duration,
    published: Published,
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
        // Reading files blocks.
        let looked = tokio::task::spawn_blocking(move || {
            (changed || Fingerprint::of(&shared.paths) != before).then(|| shared.load())
        });
        let (loaded, fingerprint) = match looked.await {
            Ok(Some(changed)) => changed,
            Ok(None) => continue,
            Err(error) => return format!("reading the directory failed: {error}"),
        };
        seen = fingerprint;
        log(&loaded, &directory.from());
        published.store(Arc::new(loaded.snapshot));
        metrics.snapshot_publishes.inc();
    }
}

/// Tells what was read, and what could not be.
pub fn log(loaded: &Loaded, from: &str) {
    for problem in &loaded.problems {
        problem.log();
    }
    tracing::info!("{}", loaded.counts.summary(from));
}
