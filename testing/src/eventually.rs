//! Waits for a condition, with a deadline. Tests wait for what they need with these functions and do not sleep.

use std::thread;
use std::time::{Duration, Instant};

/// The deadline: longer than anything takes, even on a busy machine.
pub const SOON: Duration = Duration::from_mins(1);
/// The shortest time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);
/// The longest time between two attempts.
const LONG_PAUSE: Duration = Duration::from_secs(1);

/// The time to wait after an attempt that took this long. Attempts that start a program leave most of a processor to what they
/// wait for.
fn pause_after(attempt: Duration) -> Duration {
    (attempt * 3).clamp(PAUSE, LONG_PAUSE)
}

/// Repeats `attempt` until it is `Ok`; panics with its last error at the deadline.
#[track_caller]
pub fn eventually<T>(what: &str, attempt: impl FnMut() -> Result<T, String>) -> T {
    soon(attempt).unwrap_or_else(|last| panic!("{what}: not within {SOON:?}; at last: {last}"))
}

/// Repeats `attempt` until it is `Ok`; returns its last error at the deadline.
pub fn soon<T>(mut attempt: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        let began = Instant::now();
        match attempt() {
            Ok(value) => return Ok(value),
            Err(last) if start.elapsed() > SOON => return Err(last),
            Err(_) => thread::sleep(pause_after(began.elapsed())),
        }
    }
}

/// As [`eventually`], without blocking the runtime.
pub async fn becomes<T>(what: &str, attempt: impl AsyncFnMut() -> Result<T, String>) -> T {
    becomes_within(SOON, what, attempt).await
}

/// As [`becomes`], with another deadline. It counts by the clock of the runtime, which may be paused.
pub async fn becomes_within<T>(
    deadline: Duration,
    what: &str,
    mut attempt: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let start = tokio::time::Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(last) if start.elapsed() > deadline => {
                panic!("{what}: not within {deadline:?}; at last: {last}")
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Waits until a condition holds.
pub async fn until(what: &str, holds: impl FnMut() -> bool) {
    until_within(SOON, what, holds).await;
}

/// As [`until`], with another deadline, by the clock of the runtime.
pub async fn until_within(deadline: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = tokio::time::Instant::now();
    while !holds() {
        assert!(
            start.elapsed() <= deadline,
            "{what}: not within {deadline:?}"
        );
        tokio::time::sleep(PAUSE).await;
    }
}
