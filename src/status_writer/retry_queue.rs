//! When to try an object again that could not be written.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::model::ids::ObjectKey;

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait.
const MAX_WAIT: Duration = Duration::from_mins(30);
/// After the conditions were removed this many times, they are not written any more.
const LOSSES: u32 = 3;

/// The objects that have to wait.
#[derive(Debug, Default)]
pub(super) struct RetryQueue {
    waits: BTreeMap<ObjectKey, Wait>,
    losses: BTreeMap<ObjectKey, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    until: Instant,
    next: Duration,
}

// === impl RetryQueue ===

impl RetryQueue {
    /// Whether an object may be written now.
    pub(super) fn is_due(&self, key: &ObjectKey, now: Instant) -> bool {
        let given_up = self.losses.get(key).is_some_and(|times| *times >= LOSSES);
        !given_up && self.waits.get(key).is_none_or(|wait| wait.until <= now)
    }

    /// An object could not be written.
    pub(super) fn later(&mut self, key: &ObjectKey, now: Instant) {
        let wait = self.waits.get(key).map_or(FIRST, |wait| wait.next);
        let wait = Wait {
            until: now + wait,
            next: (wait * 2).min(MAX_WAIT),
        };
        self.waits.insert(key.clone(), wait);
    }

    /// An object was written.
    pub(super) fn done(&mut self, key: &ObjectKey) {
        self.waits.remove(key);
    }

    /// Notes that somebody removed the conditions. Returns whether the object is given up now.
    pub(super) fn lost(&mut self, key: &ObjectKey, now: Instant) -> bool {
        let times = self.losses.entry(key.clone()).or_default();
        *times += 1;
        let given_up = *times == LOSSES;
        self.later(key, now);
        given_up
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{FIRST, RetryQueue};
    use crate::engine::model::ids::{GroupKind, ObjectKey};

    fn route() -> ObjectKey {
        ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart")
    }

    #[test]
    fn waits_grow_until_an_object_is_written() {
        let (mut retry_queue, key, now) = (RetryQueue::default(), route(), Instant::now());
        assert!(retry_queue.is_due(&key, now));
        retry_queue.later(&key, now);
        assert!(!retry_queue.is_due(&key, now));
        assert!(retry_queue.is_due(&key, now + FIRST));
        retry_queue.later(&key, now);
        assert!(!retry_queue.is_due(&key, now + FIRST));
        retry_queue.done(&key);
        assert!(retry_queue.is_due(&key, now));
    }

    #[test]
    fn an_object_is_given_up_after_three_losses() {
        let (mut retry_queue, key, now) = (RetryQueue::default(), route(), Instant::now());
        let much_later = now + Duration::from_hours(24);
        assert!(!retry_queue.lost(&key, now));
        retry_queue.done(&key);
        assert!(!retry_queue.lost(&key, now));
        assert!(retry_queue.is_due(&key, much_later));
        assert!(retry_queue.lost(&key, now));
        assert!(!retry_queue.is_due(&key, much_later));
    }
}
