//! Runs work on all cores of the machine.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The most threads. More would use more memory than they save time.
const MAX_THREADS: usize = 8;
/// Stack of a thread in bytes, as large as that of the main thread: documents may be deeply nested.
const STACK: usize = 8 << 20;

/// Applies `work` to each item, in parallel, and returns the results in the order of the items. Each thread makes its
/// own state with `start` and keeps it from item to item.
pub fn parallel_map<T: Sync, S, R: Send>(
    items: &[T],
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(MAX_THREADS).min(items.len());
    if threads < 2 {
        let mut state = start();
        return items.iter().map(|item| work(&mut state, item)).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut state = start();
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else {
                return done;
            };
            done.push((i, work(&mut state, item)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        // The system may refuse to start a thread; then the current thread does the work.
        let workers: Vec<_> = (0..threads)
            .filter_map(|_| {
                let thread = thread::Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, worker).ok()
            })
            .collect();
        let own = if workers.is_empty() {
            worker()
        } else {
            Vec::new()
        };
        let parts = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        parts.chain([own]).flatten().collect()
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::parallel_map;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..10_000).collect();
        let doubled = parallel_map(&items, || 2, |factor, item| *factor * item);
        assert!(doubled.iter().zip(&items).all(|(d, i)| *d == 2 * i));
        assert!(parallel_map(&[0_u8; 0], || (), |(), item| *item).is_empty());
    }
}
