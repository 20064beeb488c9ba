//! Writes `<domain>/<Kind>Affected` into the status of objects that policies apply to (GEP-713, target object status):
//! when a policy starts to apply to an object, and when it stops. Off by default.
//!
//! Controllers own the status of these objects. attache has entries of its own there and leaves all others as they
//! are: it writes after the controller has seen the object, never takes over a condition that somebody else writes, and
//! gives up on an object from which its entries are removed.

mod live;
mod own_conditions;
mod patch;
mod place;
mod retry_queue;
mod wanted;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::cache::Published;
use crate::cache::kinds::Resources;
use crate::cache::sync::SyncState;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::state::snapshot::Snapshot;
use crate::lease::HeldUntil;
use crate::metrics::Metrics;

use self::own_conditions::OwnConditions;
use self::place::Place;
use self::retry_queue::RetryQueue;
use self::wanted::wanted;
use self::write::{Done, Writer};

/// The name by which attache writes its entries: in `status.parents[].controllerName`, and as field manager.
pub const CONTROLLER: &str = "attache.dev/status-writer";

/// The most objects that are written in a second: a policy on a Gateway may start to apply to thousands of routes at once.
const WRITES_PER_SECOND: u32 = 50;
/// The most requests to the API server at a time.
const AT_A_TIME: usize = 4;
/// The interval between two lists of what is written, to notice entries that somebody removed.
const LIST_AGAIN: Duration = Duration::from_mins(10);
/// Computing takes at most one part in this many of the time.
const SHARE: u32 = 10;

/// Writes the conditions.
pub struct StatusWriter {
    /// The API server.
    pub client: kube::Client,
    /// The state.
    pub snapshot: Published,
    /// Whether the state is complete.
    pub sync: Arc<SyncState>,
    /// The API resources of the kinds.
    pub resources: Arc<Resources>,
    /// Whether this replica is the one that writes.
    pub leads: HeldUntil,
    /// Counts what is written.
    pub metrics: Arc<Metrics>,
    /// The least time between two passes.
    pub every: Duration,
}

/// The results of a pass that the next one starts from.
struct Known {
    /// The conditions of attache on each object.
    written: BTreeMap<ObjectKey, OwnConditions>,
    /// When these were listed.
    listed: Instant,
    /// The state that was computed last. Weak, so as not to keep it in memory.
    snapshot: Weak<Snapshot>,
    /// The conditions that each object should have.
    wanted: BTreeMap<ObjectKey, OwnConditions>,
}

// === impl StatusWriter ===

impl StatusWriter {
    /// Writes while this replica leads. Does not return unless computing panics.
    pub async fn run(self) -> String {
        let writer = Writer::new(self.client.clone(), self.resources.clone());
        let mut retry_queue = RetryQueue::default();
        let mut known: Option<Known> = None;
        let mut pause = self.every;
        loop {
            sleep(pause).await;
            let leads = self.leads.left().is_some();
            self.metrics.status_writer_leads.set(i64::from(leads));
            if !leads {
                // Another replica writes, so the state that is known here is no longer true.
                known = None;
                continue;
            }
            if !self.sync.ready() {
                continue;
            }
            let snapshot = self.snapshot.load_full();
            let now = match known.take() {
                Some(known) if known.listed.elapsed() < LIST_AGAIN => known,
                before => {
                    self.list(&writer, &snapshot, before, &mut retry_queue)
                        .await
                }
            };
            let started = Instant::now();
            let Some(now) = self.compute(now, snapshot).await else {
                return "computing which policies apply to which objects panicked".to_owned();
            };
            pause = self.every.max(started.elapsed() * SHARE);
            known = Some(self.write(&writer, now, &mut retry_queue).await);
        }
    }

    /// Lists the conditions of attache, and notes the objects from which they were removed.
    async fn list(
        &self,
        writer: &Writer,
        snapshot: &Snapshot,
        before: Option<Known>,
        retry_queue: &mut RetryQueue,
    ) -> Known {
        let kinds = snapshot.known_kinds();
        let kinds = kinds.filter_map(|gk| Some((gk.clone(), Place::for_kind(snapshot, gk)?)));
        let kinds: Vec<(GroupKind, Place)> = kinds.collect();
        let mut written = BTreeMap::new();
        for (gk, place) in kinds {
            match writer.list(&gk, place).await {
                Ok(own_conditions) => written.extend(own_conditions),
                Err(why) => {
                    tracing::warn!(kind = %gk, %why, "the status of objects of a kind is not listed: no conditions are written there");
                }
            }
        }
        let before = before.map(|known| (known.written, known.snapshot, known.wanted));
        let (old, snapshot, wanted) = before.unwrap_or_default();
        for key in old.keys().filter(|key| !written.contains_key(*key)) {
            if retry_queue.lost(key, Instant::now()) {
                tracing::warn!(object = %key, "the conditions of attache are removed again and again: it does not write them any more");
            }
        }
        Known {
            written,
            listed: Instant::now(),
            snapshot,
            wanted,
        }
    }

    /// Computes what each object should have, if the state has changed.
    async fn compute(&self, known: Known, snapshot: Arc<Snapshot>) -> Option<Known> {
        if known.snapshot.as_ptr() == Arc::as_ptr(&snapshot) {
            return Some(known);
        }
        let computed = Arc::downgrade(&snapshot);
        let computing = tokio::task::spawn_blocking(move || wanted(&snapshot));
        Some(Known {
            wanted: computing.await.ok()?,
            snapshot: computed,
            ..known
        })
    }

    /// Writes the differences, within the limits of the client.
    async fn write(
        &self,
        writer: &Writer,
        mut known: Known,
        retry_queue: &mut RetryQueue,
    ) -> Known {
        let now = Instant::now();
        let none = OwnConditions::default();
        let objects = known.wanted.keys().chain(known.written.keys());
        let objects: BTreeSet<&ObjectKey> = objects.collect();
        let snapshot = self.snapshot.load_full();
        let due = objects.into_iter().filter_map(|key| {
            let wanted = known.wanted.get(key).unwrap_or(&none);
            let written = known.written.get(key).unwrap_or(&none);
            if wanted == written || !retry_queue.is_due(key, now) {
                return None;
            }
            let place = Place::for_kind(&snapshot, &key.gk)?;
            Some((key.clone(), place, wanted.clone()))
        });
        let due: Vec<(ObjectKey, Place, OwnConditions)> = due.collect();
        let pace = Duration::from_secs(1) / WRITES_PER_SECOND;
        let mut ticks = interval(pace);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let paced = stream::unfold((due.into_iter(), ticks), |(mut due, mut ticks)| async {
            let next = due.next()?;
            ticks.tick().await;
            Some((next, (due, ticks)))
        });
        let writing = paced.map(|(key, place, own_conditions)| async move {
            let done = if self.leads.lasts() {
                writer.write(&key, place, &own_conditions).await
            } else {
                Done::Waiting("another replica holds the Lease")
            };
            (key, own_conditions, done)
        });
        let mut done = std::pin::pin!(writing.buffer_unordered(AT_A_TIME));
        while let Some((key, own_conditions, done)) = done.next().await {
            self.note(key, own_conditions, done, &mut known, retry_queue);
        }
        known
    }

    fn note(
        &self,
        key: ObjectKey,
        own_conditions: OwnConditions,
        done: Done,
        known: &mut Known,
        retry_queue: &mut RetryQueue,
    ) {
        let count = |result: &str| {
            let counter = &self.metrics.status_writes;
            counter.with_label_values(&[result]).inc();
        };
        match done {
            Done::Written => count(if own_conditions.is_empty() {
                "removed"
            } else {
                "written"
            }),
            Done::Already => {}
            Done::Waiting(why) => {
                tracing::debug!(object = %key, why, "the conditions of attache are not written yet");
                count("waiting");
                retry_queue.later(&key, Instant::now());
                return;
            }
            Done::Failed(why) => {
                tracing::warn!(kind = %key.gk, "conditions of attache cannot be written; at `debug` the log says why");
                tracing::debug!(object = %key, %why, "the conditions of attache cannot be written");
                count("failed");
                retry_queue.later(&key, Instant::now());
                return;
            }
        }
        retry_queue.done(&key);
        if own_conditions.is_empty() {
            known.written.remove(&key);
        } else {
            known.written.insert(key, own_conditions);
        }
    }
}
