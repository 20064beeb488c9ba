//! Long work that leaves the processor to reviews: on a thread of its own, at a low priority, with pauses.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

/// The longest work without a pause.
const SLICE: Duration = Duration::from_millis(5);
/// The length of a pause, as a multiple of the work before: the work takes at most a fifth of a core. A limit on CPU time
/// counts all threads, whatever their priority.
const IDLE: u32 = 4;
/// As `nice 10`.
const PRIORITY: i32 = 10;
/// Stack of the thread in bytes, as large as that of the main thread: specs may be deeply nested.
const STACK: usize = 8 << 20;

/// When the work on a thread pauses. It counts CPU time: on a busy machine the thread waits anyway.
#[derive(Debug)]
pub(super) struct Pace {
    /// The CPU time of the thread at the start, and at the last pause.
    start: Duration,
    last: Duration,
}

// === impl Pace ===

impl Pace {
    fn start() -> Self {
        let start = cpu_time();
        Self { start, last: start }
    }

    /// Pauses if there was much work since the last pause.
    pub(super) fn pause(&mut self) {
        let now = cpu_time();
        let work = now.saturating_sub(self.last);
        if work >= SLICE {
            thread::sleep(work * IDLE);
            self.last = now;
        }
    }

    /// The CPU time that the work has taken so far.
    pub(super) fn worked(&self) -> Duration {
        cpu_time().saturating_sub(self.start)
    }
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Does work on a thread of its own. `None` if it panics.
///
/// # Errors
/// If the system refuses the thread.
pub(super) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce(&mut Pace) -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (done, result) = oneshot::channel();
    let thread = thread::Builder::new().name("judge".to_owned());
    thread.stack_size(STACK).spawn(move || {
        // `None` is the calling thread. A refusal changes nothing but the priority.
        let _ = rustix::process::setpriority_process(None, PRIORITY);
        // The receiver is gone only if the process ends.
        let _ = done.send(work(&mut Pace::start()));
    })?;
    Ok(result.await.ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::on_own_thread;

    #[tokio::test]
    async fn work_that_panics_has_no_result() {
        assert_eq!(on_own_thread(|_| 7).await.unwrap(), Some(7));
        let panics = on_own_thread(|pace| assert!(pace.worked() > Duration::MAX, "never"));
        assert_eq!(panics.await.unwrap(), None);
    }
}
