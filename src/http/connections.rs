//! Tracks open connections. When the limit is reached, it evicts a connection that has no request in review.
//!
//! Refusing new connections instead would let a client that opens enough idle connections lock the API server out.
//! Connections that never had a review answered go first: those of the address with the most connections, then those
//! idle longest. New connections have a grace period: in a burst, further clients wait for it to end, unless a
//! connection with an answered review can go.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::bounds::{ASKED_BYTES, REQUEST_BYTES, UNASKED_BYTES};

/// The open connections of one listener.
#[derive(Debug)]
pub(super) struct Connections {
    /// The time for which a new connection is protected.
    time_to_ask: Duration,
    open: Mutex<Open>,
    /// A logical clock, which unlike the system's never goes back.
    ticks: AtomicU64,
}

#[derive(Debug, Default)]
struct Open {
    all: HashMap<u64, Arc<Activity>>,
    /// The number of connections per address.
    peers: HashMap<IpAddr, Arc<AtomicUsize>>,
}

/// The activity of one connection.
#[derive(Debug)]
struct Activity {
    peer: IpAddr,
    opened_at: Instant,
    /// The number of connections of its address.
    of_peer: Arc<AtomicUsize>,
    /// Whether a review was ever answered on it.
    answered: AtomicBool,
    /// Requests that have begun and are not answered.
    requests_started: AtomicUsize,
    /// Requests that have arrived completely and are in review.
    requests_in_review: AtomicUsize,
    last_used: AtomicU64,
    /// Bytes received since the last answer.
    unanswered: AtomicU64,
    evicted: Notify,
}

/// Why a new connection is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionRejection {
    /// All connections have a request in review.
    Busy,
    /// A connection could go once its grace period is over, in this time.
    Young(Duration),
}

/// An open connection's slot, released when dropped.
#[derive(Clone, Debug)]
pub(super) struct ConnectionSlot(Arc<HeldConnection>);

#[derive(Debug)]
struct HeldConnection {
    id: u64,
    connections: Arc<Connections>,
    activity: Arc<Activity>,
}

/// A request on a connection, until it is answered or reset.
#[derive(Debug)]
pub(super) struct RequestStarted(ConnectionSlot);

/// A request in review. It keeps its connection from being evicted.
#[derive(Debug)]
pub(super) struct RequestGuard(ConnectionSlot);

// === impl Connections ===

impl Connections {
    pub(super) fn new(time_to_ask: Duration) -> Self {
        Self {
            time_to_ask,
            open: Mutex::default(),
            ticks: AtomicU64::new(0),
        }
    }

    /// Reserves a slot for a new connection.
    ///
    /// # Errors
    ///
    /// Fails if there are `limit` connections and none of them can be evicted, or not yet.
    pub(super) fn enter(
        self: &Arc<Self>,
        limit: usize,
        peer: IpAddr,
        now: Instant,
    ) -> Result<ConnectionSlot, ConnectionRejection> {
        let id = self.tick();
        // IPv4-mapped IPv6 addresses count as IPv4.
        let peer = peer.to_canonical();
        let mut open = self.open();
        if open.all.len() >= limit {
            let first = open.first_to_go(self.time_to_ask, now)?;
            open.end(first);
        }
        let of_peer = open.peers.entry(peer).or_default().clone();
        of_peer.fetch_add(1, Relaxed);
        let activity = Arc::new(Activity {
            peer,
            opened_at: now,
            of_peer,
            answered: AtomicBool::new(false),
            requests_started: AtomicUsize::new(0),
            requests_in_review: AtomicUsize::new(0),
            last_used: AtomicU64::new(id),
            unanswered: AtomicU64::new(0),
            evicted: Notify::new(),
        });
        open.all.insert(id, activity.clone());
        let connections = self.clone();
        Ok(ConnectionSlot(Arc::new(HeldConnection {
            id,
            connections,
            activity,
        })))
    }

    /// Evicts up to `by` connections, when file descriptors run out. Returns how many connections to allow.
    pub(super) fn shrink(&self, by: usize, now: Instant) -> usize {
        let mut open = self.open();
        for _ in 0..by {
            if let Ok(first) = open.first_to_go(self.time_to_ask, now) {
                open.end(first);
            }
        }
        open.all.len().max(by)
    }

    fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Open ===

impl Open {
    /// Selects the connection to evict. Those with an answered review are eligible only while less than half of the
    /// connections are new: otherwise a client could take almost all slots with one request each, and leave one to
    /// everybody else.
    fn first_to_go(&self, time_to_ask: Duration, now: Instant) -> Result<u64, ConnectionRejection> {
        let age = |a: &Activity| now.saturating_duration_since(a.opened_at);
        let (mut silent, mut answered) = (None, None);
        let (mut young, mut left) = (0, time_to_ask);
        for (id, a) in &self.all {
            if a.requests_in_review.load(Relaxed) > 0 {
                continue;
            }
            let of_peer = Reverse(a.of_peer.load(Relaxed));
            let mine = Some((of_peer, a.last_used.load(Relaxed), *id));
            let first = if a.answered.load(Relaxed) {
                &mut answered
            } else if age(a) >= time_to_ask {
                &mut silent
            } else {
                young += 1;
                left = left.min(time_to_ask.saturating_sub(age(a)));
                continue;
            };
            if first.is_none() || mine < *first {
                *first = mine;
            }
        }
        let are_few = young * 2 < self.all.len();
        let first = silent.or(answered.filter(|_| are_few));
        let why = if young > 0 {
            ConnectionRejection::Young(left)
        } else {
            ConnectionRejection::Busy
        };
        first.map(|(_, _, id)| id).ok_or(why)
    }

    fn end(&mut self, id: u64) {
        if let Some(activity) = self.remove(id) {
            activity.evicted.notify_one();
        }
    }

    fn remove(&mut self, id: u64) -> Option<Arc<Activity>> {
        let activity = self.all.remove(&id)?;
        if activity.of_peer.fetch_sub(1, Relaxed) == 1 {
            self.peers.remove(&activity.peer);
        }
        Some(activity)
    }
}

// === impl ConnectionSlot ===

impl ConnectionSlot {
    /// Resolves when the connection is evicted.
    pub(super) async fn evicted(&self) {
        self.0.activity.evicted.notified().await;
    }

    /// Evicts the connection.
    pub(super) fn evict(&self) {
        self.0.activity.evicted.notify_one();
    }

    /// Resolves when nothing has happened for this long, or up to twice as long.
    pub(super) async fn idle(&self, limit: Duration) {
        let activity = &self.0.activity;
        loop {
            let seen = activity.last_used.load(Relaxed);
            sleep(limit).await;
            let is_used = activity.requests_started.load(Relaxed) > 0;
            if !is_used && activity.last_used.load(Relaxed) == seen {
                return;
            }
        }
    }

    /// Counts received bytes; false if they exceed what a client with genuine requests would send.
    pub(super) fn received(&self, bytes: u64) -> bool {
        let activity = &self.0.activity;
        let unanswered = activity.unanswered.fetch_add(bytes, Relaxed) + bytes;
        let requests_started = activity.requests_started.load(Relaxed) as u64;
        unanswered
            <= ASKED_BYTES
                .saturating_mul(requests_started)
                .saturating_add(UNASKED_BYTES)
    }

    /// Records that a request has begun.
    pub(super) fn begin(&self) -> RequestStarted {
        self.received(REQUEST_BYTES);
        self.0.activity.requests_started.fetch_add(1, Relaxed);
        self.touch();
        RequestStarted(self.clone())
    }

    /// Protects the connection while a request is in review.
    pub(super) fn work(&self) -> RequestGuard {
        self.0.activity.requests_in_review.fetch_add(1, Relaxed);
        RequestGuard(self.clone())
    }

    fn touch(&self) {
        let now = self.0.connections.tick();
        self.0.activity.last_used.store(now, Relaxed);
    }
}

// === impl RequestStarted ===

impl RequestStarted {
    /// Records an answer, which may be a review or an error.
    pub(super) fn answered(&self, is_review: bool) {
        let activity = &self.0.0.activity;
        activity.unanswered.store(0, Relaxed);
        if is_review {
            activity.answered.store(true, Relaxed);
        }
    }
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        self.connections.open().remove(self.id);
    }
}

impl Drop for RequestStarted {
    fn drop(&mut self) {
        self.0.touch();
        self.0.0.activity.requests_started.fetch_sub(1, Relaxed);
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.activity.requests_in_review.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn is_evicted(place: &ConnectionSlot) -> bool {
        place.evicted().now_or_never().is_some()
    }

    const TIME_TO_ASK: Duration = Duration::from_millis(50);

    /// New connections arrive after the grace period of the earlier ones.
    struct NewConnections {
        connections: Arc<Connections>,
        limit: usize,
        now: Instant,
    }

    impl NewConnections {
        fn new(limit: usize) -> Self {
            Self {
                connections: Arc::new(Connections::new(TIME_TO_ASK)),
                limit,
                now: Instant::now(),
            }
        }

        fn enter(&mut self, last: u8) -> Result<ConnectionSlot, ConnectionRejection> {
            self.now += TIME_TO_ASK;
            self.at_once(last)
        }

        fn at_once(&self, last: u8) -> Result<ConnectionSlot, ConnectionRejection> {
            let peer = [10, 0, 0, last].into();
            self.connections.enter(self.limit, peer, self.now)
        }
    }

    #[test]
    fn the_longest_idle_makes_room_and_the_busy_stay() {
        let mut arriving = NewConnections::new(2);
        let first = arriving.enter(1).unwrap();
        let second = arriving.enter(1).unwrap();
        drop(first.begin());
        let third = arriving.enter(1).unwrap();
        assert!(is_evicted(&second), "idle longest");
        assert!(!is_evicted(&first));
        let _working = (first.work(), third.work());
        assert_eq!(arriving.enter(1).unwrap_err(), ConnectionRejection::Busy);
        drop((second, third));
        let held = arriving.enter(1);
        assert!(held.is_err(), "the busy one holds its place");
    }

    #[test]
    fn a_new_connection_has_a_grace_period() {
        let mut arriving = NewConnections::new(2);
        let first = arriving.enter(1).unwrap();
        let second = arriving.at_once(1).unwrap();
        assert_eq!(
            arriving.at_once(1).unwrap_err(),
            ConnectionRejection::Young(TIME_TO_ASK)
        );
        arriving.now += TIME_TO_ASK / 2;
        assert_eq!(
            arriving.at_once(1).unwrap_err(),
            ConnectionRejection::Young(TIME_TO_ASK / 2)
        );
        assert!(!is_evicted(&first));
        arriving.now += TIME_TO_ASK / 2;
        let third = arriving.at_once(1).unwrap();
        assert!(is_evicted(&first));
        for place in [&second, &third] {
            place.begin().answered(true);
        }
        let fourth = arriving.at_once(1).unwrap();
        assert!(is_evicted(&second), "it has asked");
        assert_eq!(
            arriving.at_once(1).unwrap_err(),
            ConnectionRejection::Young(TIME_TO_ASK)
        );
        assert!(!is_evicted(&third) && !is_evicted(&fourth));
    }

    #[test]
    fn idle_connections_are_closed_for_new_ones() {
        let mut arriving = NewConnections::new(4);
        let asked = [1, 1, 1].map(|last| arriving.enter(last).unwrap());
        for place in &asked {
            place.begin().answered(true);
        }
        let [_fourth, _fifth] = [2, 2].map(|last| arriving.at_once(last).unwrap());
        assert!(is_evicted(&asked[0]), "one of four is new, and has time");
        assert_eq!(
            arriving.at_once(2).unwrap_err(),
            ConnectionRejection::Young(TIME_TO_ASK)
        );
    }

    #[test]
    fn connections_without_a_request_are_evicted_first_then_the_busiest_address() {
        let mut arriving = NewConnections::new(4);
        let known = arriving.enter(1).unwrap();
        known.begin().answered(true);
        let refused = arriving.enter(1).unwrap();
        refused.begin().answered(false);
        let greedy = [2, 2].map(|last| arriving.enter(last).unwrap());
        let fifth = arriving.enter(2).unwrap();
        // Both addresses have two connections: the connection that was idle longest without a review.
        assert!(is_evicted(&refused));
        let sixth = arriving.enter(3).unwrap();
        assert!(is_evicted(&greedy[0]), "of three of one address");
        for place in [&greedy[1], &fifth] {
            place.begin().answered(true);
        }
        let _seventh = arriving.enter(3).unwrap();
        assert!(is_evicted(&sixth), "all others have asked");
        assert!(!is_evicted(&known));
    }

    #[test]
    fn a_poisoned_lock_still_works() {
        let mut arriving = NewConnections::new(1);
        let first = arriving.enter(1).unwrap();
        let connections = arriving.connections.clone();
        let panics = std::thread::spawn(move || {
            let _held = connections.open();
            panic!("on purpose");
        });
        assert!(panics.join().is_err());
        let second = arriving.enter(2).unwrap();
        assert!(is_evicted(&first));
        drop((first, second));
        assert!(arriving.connections.open().all.is_empty());
    }

    #[test]
    fn bytes_without_a_request_are_bounded_and_each_answer_renews_the_allowance() {
        let place = NewConnections::new(1).enter(1).unwrap();
        assert!(place.received(UNASKED_BYTES));
        assert!(!place.received(1));
        let request = place.begin();
        assert!(place.received(ASKED_BYTES - REQUEST_BYTES - 1));
        assert!(!place.received(1));
        request.answered(false);
        drop(request);
        assert!(place.received(UNASKED_BYTES));
        assert!(!place.received(1));
    }
}
