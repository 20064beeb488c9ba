//! Waiting for the thing itself, with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a busy machine; nothing that works takes so long.
pub(super) const SOON: Duration = Duration::from_secs(30);

/// Calls `attempt` until it is `Ok`; panics with its last error when that has not come soon.
pub(crate) fn eventually<T>(what: &str, attempt: impl FnMut() -> Result<T, String>) -> T {
    soon(attempt).unwrap_or_else(|last| panic!("{what}: not within {SOON:?}; at last: {last}"))
}

/// The same, and the last error instead of a panic.
///
/// The only place in these tests that pauses.
pub(crate) fn soon<T>(mut attempt: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(last) if start.elapsed() > SOON => return Err(last),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
