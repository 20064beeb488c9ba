//! Live reads of a review: single objects whose absence a finding depends on, and kinds of which an object could refute
//! a refusal.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::{join, join_all};
use tokio::time::{Instant, timeout_at};

use super::dependencies::Dependencies;
use crate::engine::admission::evidence::{Reading, Readings};
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::state::snapshot::{Change, Snapshot};
use crate::metrics::Metrics;
use crate::telemetry::traces::{SpanKind, Trace};

/// The most live reads of objects in a review. Findings that depend on further objects are reported as not verified.
const OBJECTS: usize = 4;
/// The most lists of kinds in a review: a guardrail about all policy kinds reads each of them.
const KINDS: usize = 32;

/// The live reads of one review.
pub(super) struct LiveReads<'a> {
    pub(super) dependencies: &'a Dependencies,
    pub(super) metrics: &'a Metrics,
    pub(super) deadline: Instant,
    pub(super) trace: &'a Trace,
}

// === impl LiveReads ===

impl LiveReads<'_> {
    /// Reads objects and kinds, concurrently, and returns a snapshot with the results.
    pub(super) async fn objects_and_kinds(
        &self,
        snapshot: &Snapshot,
        objects: Vec<ObjectKey>,
        kinds: BTreeSet<GroupKind>,
    ) -> (Snapshot, Readings) {
        let objects = join_all(
            objects
                .into_iter()
                .take(OBJECTS)
                .map(|key| self.object(key)),
        );
        let kinds = join_all(kinds.into_iter().take(KINDS).map(|kind| self.kind(kind)));
        let (objects, kinds) = join(objects, kinds).await;
        let mut fresh = snapshot.clone();
        let mut readings = Readings::default();
        // An object that was read alone may be newer than the same in the list of its kind.
        for (kind, answer) in kinds {
            readings.kinds.insert(kind, taken(answer, &mut fresh));
        }
        for (key, answer) in objects {
            readings.objects.insert(key, taken(answer, &mut fresh));
        }
        (fresh, readings)
    }

    async fn object(&self, key: ObjectKey) -> (ObjectKey, Result<Change, String>) {
        let Some(confirm) = &self.dependencies.confirm else {
            return (key, Err("nothing can be read".to_owned()));
        };
        let read = async {
            Ok(match confirm(key.clone()).await? {
                Some(object) => Change::Applied(Arc::new(object)),
                None => Change::Deleted(key.clone()),
            })
        };
        let change = self.timed(&key.gk, read).await;
        (key, change)
    }

    async fn kind(&self, kind: GroupKind) -> (GroupKind, Result<Change, String>) {
        let Some(list) = &self.dependencies.list else {
            return (kind, Err("nothing can be listed".to_owned()));
        };
        let read = async {
            let objects = list(kind.clone()).await?;
            Ok(Change::Listed(kind.clone(), objects.to_vec()))
        };
        let change = self.timed(&kind, read).await;
        (kind, change)
    }

    async fn timed(
        &self,
        kind: &GroupKind,
        read: impl Future<Output = Result<Change, String>>,
    ) -> Result<Change, String> {
        let mut part = self.trace.part("live confirm", SpanKind::Client);
        part.note("attache.kind", || kind.to_string());
        let timer = self.metrics.live_read_duration.start_timer();
        let answer = timeout_at(self.deadline, read).await;
        let answer = answer.unwrap_or_else(|_| Err("no time left".to_owned()));
        drop(timer);
        let result = match answer {
            Ok(Change::Deleted(_)) => "absent",
            Ok(_) => "found",
            Err(_) => "failed",
        };
        part.note("attache.result", || result);
        self.metrics.live_reads.with_label_values(&[result]).inc();
        answer
    }
}

/// Applies the result of a read.
fn taken(answer: Result<Change, String>, fresh: &mut Snapshot) -> Reading {
    match answer {
        Ok(change) => {
            *fresh = fresh.with_change(change);
            Reading::Answered
        }
        Err(why) => Reading::Failed(why),
    }
}
