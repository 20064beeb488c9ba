//! Open connections: at the limit the one that has been idle longest makes room.
//!
//! Refusing newcomers instead would let whoever opens enough connections and says nothing lock the API server out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The open connections of one listener.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<HashMap<u64, Arc<Activity>>>,
    /// Counts accepts and requests: an order of events that no clock can turn back.
    ticks: AtomicU64,
}

/// What one connection is doing.
#[derive(Debug, Default)]
struct Activity {
    in_flight: AtomicUsize,
    last_used: AtomicU64,
    evicted: Notify,
}

/// One connection's place; dropping it gives the place back.
#[derive(Clone, Debug)]
pub(super) struct Place(Arc<Held>);

#[derive(Debug)]
struct Held {
    id: u64,
    connections: Arc<Connections>,
    activity: Arc<Activity>,
}

/// A request under way on a connection.
#[derive(Debug)]
pub(super) struct Busy(Place);

// === impl Connections ===

impl Connections {
    /// A place for a new connection; none when all `limit` places are busy.
    pub(super) fn enter(self: &Arc<Self>, limit: usize) -> Option<Place> {
        let id = self.tick();
        let activity = Arc::new(Activity::default());
        activity.last_used.store(id, Ordering::Relaxed);
        let mut open = self.open();
        if open.len() >= limit {
            let idle = open
                .iter()
                .filter(|(_, a)| a.in_flight.load(Ordering::Relaxed) == 0);
            let oldest = idle.min_by_key(|(_, a)| a.last_used.load(Ordering::Relaxed));
            let oldest = oldest.map(|(id, _)| *id)?;
            if let Some(activity) = open.remove(&oldest) {
                activity.evicted.notify_one();
            }
        }
        open.insert(id, activity.clone());
        let connections = self.clone();
        Some(Place(Arc::new(Held {
            id,
            connections,
            activity,
        })))
    }

    fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Place ===

impl Place {
    /// Resolves when the connection has to make room.
    pub(super) async fn evicted(&self) {
        self.0.activity.evicted.notified().await;
    }

    /// Marks the connection as in use.
    pub(super) fn busy(&self) -> Busy {
        self.0.activity.in_flight.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.connections.open().remove(&self.id);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let held = &self.0.0;
        let now = held.connections.tick();
        held.activity.last_used.store(now, Ordering::Relaxed);
        held.activity.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn the_longest_idle_makes_room_and_the_busy_stay() {
        let connections = Arc::new(Connections::default());
        let first = connections.enter(2).unwrap();
        let second = connections.enter(2).unwrap();
        drop(first.busy());
        let third = connections.enter(2).unwrap();
        assert!(second.evicted().now_or_never().is_some(), "idle longest");
        assert!(first.evicted().now_or_never().is_none());
        let _working = (first.busy(), third.busy());
        assert!(connections.enter(2).is_none(), "all are busy");
        drop((second, third));
        assert!(
            connections.enter(2).is_none(),
            "the busy one holds its place"
        );
    }
}
