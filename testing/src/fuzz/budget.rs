//! Limits on the cost of one call: bytes of memory, and work as allocations, whose number is reproducible.

use std::sync::OnceLock;

/// Memory that an answer may take whatever its request: for the objects in the state around it.
pub const MEMORY: u64 = 4 << 20;
/// Allocations that an answer may take whatever its request.
pub const WORK: u64 = 400_000;

/// The memory and allocations that a run took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The most bytes that were allocated at the same time.
    pub bytes: u64,
    /// The number of allocations.
    pub allocations: u64,
}

/// Runs something and counts what it takes.
///
/// Counting needs a global allocator, which is the choice of each program. Therefore the program that runs the targets
/// passes its counter to [`count_with`].
pub type Counter = fn(&mut dyn FnMut()) -> Cost;

static COUNTER: OnceLock<Counter> = OnceLock::new();

/// Sets the counter of this program.
pub fn count_with(counter: Counter) {
    COUNTER.get_or_init(|| counter);
}

/// Runs something for an input of this many bytes. Beyond the fixed amounts it may take at most four times the input in
/// memory, and one allocation per byte.
pub fn within<T>(input: usize, what: &str, run: impl FnOnce() -> T) -> T {
    let (cost, result) = cost(run);
    let input = input as u64;
    let most = 4 * input + MEMORY;
    assert!(
        cost.bytes <= most,
        "{what}: {} bytes for an input of {input}",
        cost.bytes
    );
    let most = input + WORK;
    assert!(
        cost.allocations <= most,
        "{what}: {} allocations for an input of {input}",
        cost.allocations
    );
    result
}

fn cost<T>(run: impl FnOnce() -> T) -> (Cost, T) {
    let count = COUNTER.get().expect("the program counts allocations");
    let (mut run, mut result) = (Some(run), None);
    let cost = count(&mut || result = run.take().map(|run| run()));
    (cost, result.expect("it ran"))
}
