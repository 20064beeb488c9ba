//! Periodically counts the policies whose controllers and attache disagree. It runs in the background, so changes do
//! not wait for it.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::sleep;

use crate::cache::Published;
use crate::engine::model::ids::GroupKind;
use crate::engine::state::snapshot::Snapshot;
use crate::engine::status::conditions::{Disagreement, disagreements};
use crate::metrics::{Metrics, watched_kind};

/// How often to check until there are policies.
const UNTIL_THERE_ARE_POLICIES: Duration = Duration::from_secs(1);

/// Counts again at the interval `every` if there is a new snapshot. Does not return unless counting panics.
pub(super) async fn count_disagreements(
    published: Published,
    metrics: Arc<Metrics>,
    every: Duration,
) -> String {
    // Weak, so as not to keep the snapshot in memory.
    let mut last: Weak<Snapshot> = Weak::new();
    let mut shown: BTreeSet<GroupKind> = BTreeSet::new();
    loop {
        let pause = if shown.is_empty() {
            UNTIL_THERE_ARE_POLICIES.min(every)
        } else {
            every
        };
        sleep(pause).await;
        let snapshot = published.load_full();
        if last.as_ptr() == Arc::as_ptr(&snapshot) {
            continue;
        }
        last = Arc::downgrade(&snapshot);
        let counting = tokio::task::spawn_blocking(move || {
            let kinds: BTreeSet<GroupKind> = snapshot.used_kinds().cloned().collect();
            (kinds, disagreements(&snapshot))
        });
        let Ok((kinds, found)) = counting.await else {
            return "counting disagreements panicked".to_owned();
        };
        for kind in shown.union(&kinds) {
            for sort in Disagreement::ALL {
                let labels = [&watched_kind(kind), sort.as_str()];
                let gauge = &metrics.status_disagreements;
                if kinds.contains(kind) {
                    let count = found
                        .get(&(kind.clone(), sort))
                        .copied()
                        .unwrap_or_default();
                    let count = i64::try_from(count).unwrap_or(i64::MAX);
                    gauge.with_label_values(&labels).set(count);
                } else {
                    // An error only means that the series is already gone.
                    let _ = gauge.remove_label_values(&labels);
                }
            }
        }
        shown = kinds;
    }
}
