//! Long work that leaves the processor to reviews: on a thread of its own, at a low priority, with pauses.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// How long to work without a pause.
const SLICE: Duration = Duration::from_millis(5);
/// How long to pause, as a multiple of the work before: the work takes at most a fifth of a core. A limit on CPU time
/// counts all threads, whatever their priority.
const IDLE: u32 = 4;
/// As `nice 10`.
const PRIORITY: i32 = 10;
/// Stack of the thread in bytes, as large as that of the main thread: specs may be deeply nested.
const STACK: usize = 8 << 20;

/// When the work on a thread pauses, and how long it has taken.
#[derive(Debug)]
pub(super) struct Pace {
    since: Instant,
    worked: Duration,
}

// === impl Pace ===

impl Pace {
    fn start() -> Self {
        Self {
            since: Instant::now(),
            worked: Duration::ZERO,
        }
    }

    /// Pauses if there was much work since the last pause.
    pub(super) fn rest(&mut self) {
        let work = self.since.elapsed();
        if work < SLICE {
            return;
        }
        self.worked += work;
        thread::sleep(work * IDLE);
        self.since = Instant::now();
    }

    /// How long it has worked, without the pauses.
    pub(super) fn worked(&self) -> Duration {
        self.worked + self.since.elapsed()
    }
}

/// Does work on a thread of its own. `None` if it panics.
///
/// # Errors
/// If the system refuses the thread.
pub(super) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce(&mut Pace) -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (done, result) = oneshot::channel();
    let thread = thread::Builder::new().name("standing".to_owned());
    thread.stack_size(STACK).spawn(move || {
        // Zero is the thread that asks. A refusal changes nothing but the priority.
        let _ = rustix::process::setpriority_process(None, PRIORITY);
        // The receiver is gone only if the process ends.
        let _ = done.send(work(&mut Pace::start()));
    })?;
    Ok(result.await.ok())
}

#[cfg(test)]
mod tests {
    use super::on_own_thread;

    #[tokio::test]
    async fn work_that_panics_has_no_result() {
        assert_eq!(on_own_thread(|_| 7).await.unwrap(), Some(7));
        let panics = on_own_thread(|pace| assert!(pace.worked().is_zero(), "not at once"));
        assert_eq!(panics.await.unwrap(), None);
    }
}
