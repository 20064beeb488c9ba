//! Limits on the cost of one call: bytes of memory, and work as allocations, whose number is reproducible.

use allocation_counter::{AllocationInfo, measure};

/// Memory that an answer may take whatever its request: for the objects in the state around it.
pub(crate) const MEMORY: u64 = 4 << 20;
/// Allocations that an answer may take whatever its request.
pub(crate) const WORK: u64 = 400_000;

/// Runs something for an input of this many bytes. Beyond the fixed amounts it may take at most four times the input in
/// memory, and one allocation per byte.
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

/// Measures the cost of something.
pub(crate) fn taken<T>(run: impl FnOnce() -> T) -> (AllocationInfo, T) {
    let mut result = None;
    let taken = measure(|| result = Some(run()));
    (taken, result.expect("it ran"))
}
