//! Waiting for the thing itself, with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a busy machine; nothing that works takes so long.
pub(super) const SOON: Duration = Duration::from_secs(30);

/// Calls `attempt` until it is `Ok`; panics with its last error when that has not come soon.
///
/// The only place in these tests that pauses.
pub(crate) fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(last) if start.elapsed() > SOON => {
                panic!("{what}: not within {SOON:?}; at last: {last}")
            }
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
