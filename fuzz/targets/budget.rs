//! What one call may take: memory to the byte, and work as allocations, which are the same each time.

use allocation_counter::{AllocationInfo, measure};

/// Memory that an answer may take whatever its request: what lies around the object in the state.
pub(crate) const MEMORY: u64 = 4 << 20;
/// Allocations that an answer may take whatever its request.
pub(crate) const WORK: u64 = 400_000;

/// Runs something for an input of so many bytes, which must not take more than four times the input in
/// memory, nor more than one allocation a byte, beside what is fixed.
pub(crate) fn within<T>(input: usize, what: &str, run: impl FnOnce() -> T) -> T {
    let (taken, result) = taken(run);
    let input = input as u64;
    let most = 4 * input + MEMORY;
    assert!(
        taken.bytes_max <= most,
        "{what}: {} bytes for an input of {input}",
        taken.bytes_max
    );
    let most = input + WORK;
    assert!(
        taken.count_total <= most,
        "{what}: {} allocations for an input of {input}",
        taken.count_total
    );
    result
}

/// What something takes.
pub(crate) fn taken<T>(run: impl FnOnce() -> T) -> (AllocationInfo, T) {
    let mut result = None;
    let taken = measure(|| result = Some(run()));
    (taken, result.expect("it ran"))
}
