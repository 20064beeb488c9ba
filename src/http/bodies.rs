//! Memory for bodies and answers, from one budget: when it is used up, who has held a part of it longest without
//! coming to an end makes room.
//!
//! A permit for each request instead would let a few clients that send slowly keep everybody else out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::connections::Place;

/// What a request takes besides its body: its head and the task that reads it.
const BESIDE: usize = 16 * 1024;

/// The budget of one server.
#[derive(Debug)]
pub(super) struct Bodies {
    budget: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    held: usize,
    next: u64,
    /// Those that wait for their client, the longest first.
    waiting: BTreeMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    bytes: usize,
    given_up: Arc<Notify>,
    /// The connection that an answer waits for.
    place: Option<Place>,
}

/// One request's part of the budget; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Hold {
    bodies: Arc<Bodies>,
    id: u64,
    state: State,
    given_up: Arc<Notify>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// In the table of those that wait, unless it was given up.
    Waiting,
    /// All has come; it is worked on and cannot be given up.
    Working(usize),
}

// === impl Bodies ===

impl Bodies {
    pub(super) fn new(budget: usize) -> Arc<Self> {
        Arc::new(Self {
            budget,
            table: Mutex::default(),
        })
    }

    /// A part for a request whose body has yet to come; none when all is worked on.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Hold> {
        let given_up = Arc::new(Notify::new());
        let mut table = self.table();
        let id = table.next();
        table.wait(id, 0, given_up.clone(), None);
        let has_room = table.grow(id, BESIDE, self.budget);
        drop(table);
        let hold = Hold {
            bodies: self.clone(),
            id,
            state: State::Waiting,
            given_up,
        };
        has_room.then_some(hold)
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

    fn wait(&mut self, id: u64, bytes: usize, given_up: Arc<Notify>, place: Option<Place>) {
        let waiting = Waiting {
            bytes,
            given_up,
            place,
        };
        self.held += bytes;
        self.waiting.insert(id, waiting);
    }

    /// More for one that waits; false when it has been given up itself.
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

    /// What it held counts as free from now on; its task ends as soon as it runs.
    fn give_up(&mut self, id: u64) {
        if let Some(waiting) = self.remove(id) {
            waiting.given_up.notify_one();
            if let Some(place) = &waiting.place {
                place.evict();
            }
        }
    }

    fn remove(&mut self, id: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        self.held -= waiting.bytes;
        Some(waiting)
    }
}

// === impl Hold ===

impl Hold {
    /// More of the body has come; false when there is no room for it.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let mut table = self.bodies.table();
        table.grow(self.id, bytes, self.bodies.budget)
    }

    /// Resolves when others need the room.
    pub(super) async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// All has come; false when it was given up just before.
    pub(super) fn work(&mut self) -> bool {
        let mut table = self.bodies.table();
        let Some(waiting) = table.remove(self.id) else {
            return false;
        };
        table.held += waiting.bytes;
        self.state = State::Working(waiting.bytes);
        true
    }

    /// The body is gone and an answer of that size waits to be read by the client at the other end of `place`.
    pub(super) fn answer(&mut self, bytes: usize, place: Option<Place>) {
        let mut table = self.bodies.table();
        if let State::Working(body) = self.state {
            table.held -= body;
            self.state = State::Waiting;
        }
        table.remove(self.id);
        // It waits from now on.
        self.id = table.next();
        table.wait(self.id, bytes, self.given_up.clone(), place);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut table = self.bodies.table();
        match self.state {
            State::Working(bytes) => table.held -= bytes,
            State::Waiting => drop(table.remove(self.id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn is_given_up(hold: &Hold) -> bool {
        hold.given_up().now_or_never().is_some()
    }

    #[test]
    fn a_lock_that_a_panic_held_goes_on() {
        let bodies = Bodies::new(2 * BESIDE);
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
    fn the_longest_under_way_makes_room_and_what_is_worked_on_stays() {
        let bodies = Bodies::new(10 * BESIDE);
        let mut working = bodies.begin().unwrap();
        assert!(working.grow(4 * BESIDE) && working.work());
        let mut slow = bodies.begin().unwrap();
        assert!(slow.grow(2 * BESIDE));
        let mut good = bodies.begin().unwrap();
        assert!(good.grow(2 * BESIDE));
        assert!(is_given_up(&slow) && !is_given_up(&good));
        assert!(!slow.grow(1) && !slow.work());
        // Nobody is left to make room for it.
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
