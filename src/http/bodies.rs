//! A memory budget for request bodies and answers. When it is used up, the reservation that has waited longest for its
//! client is revoked.
//!
//! Limiting the number of requests instead would let a few slow clients keep all others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::connections::ConnectionSlot;

/// Bytes that a request takes besides its body: its headers and the task that reads it.
const BESIDE: usize = 16 * 1024;

/// The budget of one server.
#[derive(Debug)]
pub(super) struct BodyBudget {
    budget: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    held: usize,
    next: u64,
    /// Reservations that wait for their client, the oldest first.
    waiting: BTreeMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    bytes: usize,
    given_up: Arc<Notify>,
    /// The connection that has to read the answer.
    slot: Option<ConnectionSlot>,
}

/// A request's share of the budget, released when dropped.
#[derive(Debug)]
pub(super) struct BodyReservation {
    bodies: Arc<BodyBudget>,
    id: u64,
    state: State,
    given_up: Arc<Notify>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// In the table of waiting reservations, unless it was revoked.
    Waiting,
    /// The body is complete; the request is being reviewed and cannot be revoked.
    InReview(usize),
}

// === impl BodyBudget ===

impl BodyBudget {
    pub(super) fn new(budget: usize) -> Arc<Self> {
        Arc::new(Self {
            budget,
            table: Mutex::default(),
        })
    }

    /// Reserves memory for a request whose body has yet to arrive; `None` if all memory is used by reviews in progress.
    pub(super) fn begin(self: &Arc<Self>) -> Option<BodyReservation> {
        let given_up = Arc::new(Notify::new());
        let mut table = self.table();
        let id = table.next();
        table.wait(id, 0, given_up.clone(), None);
        let has_room = table.grow(id, BESIDE, self.budget);
        drop(table);
        let reservation = BodyReservation {
            bodies: self.clone(),
            id,
            state: State::Waiting,
            given_up,
        };
        has_room.then_some(reservation)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Table ===

impl Table {
    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn wait(&mut self, id: u64, bytes: usize, given_up: Arc<Notify>, slot: Option<ConnectionSlot>) {
        let waiting = Waiting {
            bytes,
            given_up,
            slot,
        };
        self.held += bytes;
        self.waiting.insert(id, waiting);
    }

    /// Enlarges a waiting reservation; false if it was itself revoked.
    fn grow(&mut self, id: u64, more: usize, budget: usize) -> bool {
        while self.held + more > budget {
            let Some((oldest, _)) = self.waiting.first_key_value() else {
                return false;
            };
            let oldest = *oldest;
            self.give_up(oldest);
        }
        let Some(waiting) = self.waiting.get_mut(&id) else {
            return false;
        };
        waiting.bytes += more;
        self.held += more;
        true
    }

    /// Revokes a reservation. Its bytes count as free at once; its task ends when it next runs.
    fn give_up(&mut self, id: u64) {
        if let Some(waiting) = self.remove(id) {
            waiting.given_up.notify_one();
            if let Some(slot) = &waiting.slot {
                slot.evict();
            }
        }
    }

    fn remove(&mut self, id: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        self.held -= waiting.bytes;
        Some(waiting)
    }
}

// === impl BodyReservation ===

impl BodyReservation {
    /// Enlarges it as more of the body arrives; false if there is no memory left.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let mut table = self.bodies.table();
        table.grow(self.id, bytes, self.bodies.budget)
    }

    /// Resolves when the reservation is revoked.
    pub(super) async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// Marks the body as complete; false if the reservation was just revoked.
    pub(super) fn work(&mut self) -> bool {
        let mut table = self.bodies.table();
        let Some(waiting) = table.remove(self.id) else {
            return false;
        };
        table.held += waiting.bytes;
        self.state = State::InReview(waiting.bytes);
        true
    }

    /// Replaces the body by an answer of `bytes`, which waits for the client at `place` to read it.
    pub(super) fn answer(&mut self, bytes: usize, slot: Option<ConnectionSlot>) {
        let mut table = self.bodies.table();
        if let State::InReview(body) = self.state {
            table.held -= body;
            self.state = State::Waiting;
        }
        table.remove(self.id);
        // It counts as waiting from now on.
        self.id = table.next();
        table.wait(self.id, bytes, self.given_up.clone(), slot);
    }
}

impl Drop for BodyReservation {
    fn drop(&mut self) {
        let mut table = self.bodies.table();
        match self.state {
            State::InReview(bytes) => table.held -= bytes,
            State::Waiting => drop(table.remove(self.id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn is_given_up(reservation: &BodyReservation) -> bool {
        reservation.given_up().now_or_never().is_some()
    }

    #[test]
    fn a_poisoned_lock_still_works() {
        let bodies = BodyBudget::new(2 * BESIDE);
        let held = bodies.clone();
        let panics = std::thread::spawn(move || {
            let _held = held.table();
            panic!("on purpose");
        });
        assert!(panics.join().is_err());
        let mut body = bodies.begin().unwrap();
        assert!(body.grow(BESIDE) && body.work());
        assert!(bodies.begin().is_none(), "all is worked on");
        drop(body);
        assert_eq!(bodies.table().held, 0);
    }

    #[test]
    fn the_oldest_body_is_evicted_and_bodies_in_work_stay() {
        let bodies = BodyBudget::new(10 * BESIDE);
        let mut working = bodies.begin().unwrap();
        assert!(working.grow(4 * BESIDE) && working.work());
        let mut slow = bodies.begin().unwrap();
        assert!(slow.grow(2 * BESIDE));
        let mut good = bodies.begin().unwrap();
        assert!(good.grow(2 * BESIDE));
        assert!(is_given_up(&slow) && !is_given_up(&good));
        assert!(!slow.grow(1) && !slow.work());
        // No other reservation is left to revoke.
        assert!(!good.grow(6 * BESIDE));
        assert!(is_given_up(&good));
        drop((slow, good));
        assert_eq!(bodies.table().held, 5 * BESIDE);
        working.answer(9 * BESIDE, None);
        let next = bodies.begin().unwrap();
        assert!(bodies.begin().is_some(), "an unread answer makes room");
        assert!(!is_given_up(&next));
        drop((working, next));
        assert_eq!(bodies.table().held, 0);
    }
}
