//! Waits for a condition, with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// The deadline: longer than anything takes, even on a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// Repeats `attempt` until it is `Ok`; panics with its last error at the deadline.
pub fn eventually<T>(what: &str, attempt: impl FnMut() -> Result<T, String>) -> T {
    soon(attempt).unwrap_or_else(|last| panic!("{what}: not within {SOON:?}; at last: {last}"))
}

/// Repeats `attempt` until it is `Ok`; returns its last error at the deadline.
///
/// The only place in these tests that sleeps.
pub fn soon<T>(mut attempt: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(last) if start.elapsed() > SOON => return Err(last),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
