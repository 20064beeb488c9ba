//! The single owner of the state: takes what has come, applies it, publishes a snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::engine::ids::GroupKind;
use crate::engine::snapshot::{Change, Snapshot};
use crate::metrics::{Metrics, watched_kind};

use super::Published;
use super::sync::SyncState;

/// Changes between two snapshots at most, so that a flood does not keep readers on an old one.
const BATCH: usize = 256;

/// Runs until no watch is left that could send a change.
pub async fn run(
    mut queue: mpsc::Receiver<Change>,
    published: Published,
    sync: Arc<SyncState>,
    metrics: Arc<Metrics>,
) -> String {
    let mut state = published.load_full();
    let mut batch = Vec::with_capacity(BATCH);
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        // What was said of each kind last in this batch: true when its objects are all there.
        let mut listed: BTreeMap<GroupKind, Option<bool>> = BTreeMap::new();
        for change in batch.drain(..) {
            let (gk, said) = touched(&change);
            let label = watched_kind(&gk);
            metrics.snapshot_applies.with_label_values(&[&label]).inc();
            let entry = listed.entry(gk).or_default();
            *entry = said.or(*entry);
            state = Arc::new(state.apply(change));
        }
        published.store(Arc::clone(&state));
        metrics.snapshot_publishes.inc();
        // Only now: who sees a kind as listed must find it in the snapshot.
        for (gk, said) in listed {
            count(&metrics, &state, &gk, said);
            if let Some(said) = said {
                sync.listed(&gk, said);
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
        Change::Rules(_) => (GroupKind::crd(), None),
    }
}

fn count(metrics: &Metrics, state: &Snapshot, gk: &GroupKind, listed: Option<bool>) {
    let label = watched_kind(gk);
    if listed == Some(false) {
        // They went with the watch; what was reviewed since has made new ones.
        metrics.forget(&label);
        return;
    }
    let objects = i64::try_from(state.count(gk)).unwrap_or(i64::MAX);
    metrics
        .cache_objects
        .with_label_values(&[&label])
        .set(objects);
}
