//! Since when nothing has changed above the routes: most changes are of routes and Services, and of policies on them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A time in which no object changes but routes, Services and policies that name nothing above them. By it is known whether what was found out above the
/// routes still holds. The default is no time at all: nothing is remembered of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Era(u64);

// === impl Era ===

impl Era {
    /// One that is like no other of this process.
    pub(super) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Whether anything may be remembered of it.
    pub(crate) fn lasts(self) -> bool {
        self != Self::default()
    }
}
