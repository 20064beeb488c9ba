//! The single owner of the state: applies incoming changes and publishes snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::engine::model::ids::GroupKind;
use crate::engine::state::snapshot::{Change, Snapshot};
use crate::metrics::{Metrics, watched_kind};

use super::Published;
use super::sync::SyncState;

/// The most changes between two snapshots, so that a flood of changes does not delay readers.
const BATCH: usize = 256;

/// Runs until no watch is left to send changes.
pub async fn run(
    mut queue: mpsc::Receiver<Change>,
    published: Published,
    sync: Arc<SyncState>,
    metrics: Arc<Metrics>,
) -> String {
    let mut state = published.load_full();
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        // The last listed state of each kind in this batch: true if all its objects are there.
        let mut listed: BTreeMap<GroupKind, Option<bool>> = BTreeMap::new();
        for change in batch.drain(..) {
            let (gk, logged) = touched(&change);
            let label = watched_kind(&gk);
            metrics.snapshot_applies.with_label_values(&[&label]).inc();
            let entry = listed.entry(gk).or_default();
            *entry = logged.or(*entry);
            state = Arc::new(state.apply(change));
        }
        published.store(Arc::clone(&state));
        metrics.snapshot_publishes.inc();
        // Only now, because a kind reported as listed must be in the published snapshot.
        for (gk, logged) in listed {
            count(&metrics, &state, &gk, logged);
            if let Some(logged) = logged {
                sync.listed(&gk, logged);
            }
        }
    }
    "nothing is watched any more".to_owned()
}

fn touched(change: &Change) -> (GroupKind, Option<bool>) {
    match change {
        Change::Applied(object) => (object.key.gk.clone(), None),
        Change::Deleted(key) => (key.gk.clone(), None),
        Change::Listed(gk, _) => (gk.clone(), Some(true)),
        Change::ListedIn(gk, ..) | Change::Hidden(gk) => (gk.clone(), None),
        Change::Gone(gk) => (gk.clone(), Some(false)),
        Change::Rules(_) => (GroupKind::CRD, None),
    }
}

fn count(metrics: &Metrics, state: &Snapshot, gk: &GroupKind, listed: Option<bool>) {
    let label = watched_kind(gk);
    if listed == Some(false) {
        // Its series went with the watch, but reviews since then may have made new ones.
        metrics.forget(&label);
        return;
    }
    let objects = i64::try_from(state.count(gk)).unwrap_or(i64::MAX);
    metrics
        .cache_objects
        .with_label_values(&[&label])
        .set(objects);
}
