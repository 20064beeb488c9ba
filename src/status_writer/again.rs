//! When to try an object again that could not be written.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::model::ids::ObjectKey;

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait.
const LONGEST: Duration = Duration::from_mins(30);
/// After the conditions were removed this many times, they are not written any more.
const LOSSES: u32 = 3;

/// The objects that have to wait.
#[derive(Debug, Default)]
pub(super) struct Again {
    waits: BTreeMap<ObjectKey, Wait>,
    losses: BTreeMap<ObjectKey, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    until: Instant,
    next: Duration,
}

// === impl Again ===

impl Again {
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
            next: (wait * 2).min(LONGEST),
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

    use super::{Again, FIRST};
    use crate::engine::model::ids::{GroupKind, ObjectKey};

    fn route() -> ObjectKey {
        ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart")
    }

    #[test]
    fn waits_grow_until_an_object_is_written() {
        let (mut again, key, now) = (Again::default(), route(), Instant::now());
        assert!(again.is_due(&key, now));
        again.later(&key, now);
        assert!(!again.is_due(&key, now));
        assert!(again.is_due(&key, now + FIRST));
        again.later(&key, now);
        assert!(!again.is_due(&key, now + FIRST));
        again.done(&key);
        assert!(again.is_due(&key, now));
    }

    #[test]
    fn an_object_is_given_up_after_three_losses() {
        let (mut again, key, now) = (Again::default(), route(), Instant::now());
        let much_later = now + Duration::from_hours(24);
        assert!(!again.lost(&key, now));
        again.done(&key);
        assert!(!again.lost(&key, now));
        assert!(again.is_due(&key, much_later));
        assert!(again.lost(&key, now));
        assert!(!again.is_due(&key, much_later));
    }
}
