//! Runs the fuzz targets for a few seconds without coverage, so that they keep working and past findings stay fixed.
//!
//! Each target runs its corpus in `fuzz/corpus`, its seeds, and mutations of both. The mutations are deterministic;
//! `ATTACHE_FUZZ_SEED=n` changes them, and `ATTACHE_FUZZ_INPUTS=n` sets their number.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use testing::fuzz::budget::{self, Cost};
use testing::fuzz::rng::Rng;
use testing::fuzz::{TARGETS, Target, files, mutate};

/// The length limit of a mutated input.
const LONGEST: usize = 16 * 1024;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Counts allocations with the allocator of `allocation_counter`.
fn counted(run: &mut dyn FnMut()) -> Cost {
    let taken = allocation_counter::measure(run);
    Cost {
        bytes: taken.bytes_max,
        allocations: taken.count_total,
    }
}

fn target(name: &str) -> Target {
    *TARGETS.iter().find(|target| target.name == name).unwrap()
}

/// The corpus of a target; empty without a directory.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = format!("fuzz/corpus/{name}");
    if !testing::root().join(&folder).is_dir() {
        return Vec::new();
    }
    let paths = files::find(&folder, &|_| true);
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Runs an input; prints it if the target fails.
fn take(target: Target, input: &[u8]) {
    let held = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    if let Err(why) = held {
        eprintln!("{}: the input was\n{}", target.name, input.escape_ascii());
        resume_unwind(why);
    }
}

fn holds(name: &str, inputs: u64) {
    part_holds(name, (0, 1), inputs);
}

/// Runs every `parts`-th known input, and mutations of all of them: a long target runs in several tests at once.
fn part_holds(name: &str, (part, parts): (usize, usize), inputs: u64) {
    budget::count_with(counted);
    let target = target(name);
    let mut known = (target.seeds)();
    known.extend(corpus(name));
    assert!(
        known.len() > 10,
        "{name} begins with {} inputs",
        known.len()
    );
    for input in known.iter().skip(part).step_by(parts) {
        take(target, input);
    }
    let seed = number("ATTACHE_FUZZ_SEED").unwrap_or(1);
    let mut rng = Rng::new(seed + u64::try_from(part).unwrap());
    for _ in 0..number("ATTACHE_FUZZ_INPUTS").unwrap_or(inputs) {
        let mut input = known[rng.below(known.len())].clone();
        for _ in 0..=rng.below(3) {
            input = mutate::mutate(&input, &mut rng, LONGEST.max(input.len()));
        }
        take(target, &input);
    }
}

#[test]
fn reviews_with_even_numbers() {
    part_holds("review", (0, 2), 75);
}

#[test]
fn reviews_with_odd_numbers() {
    part_holds("review", (1, 2), 75);
}

#[test]
fn patches() {
    holds("patch", 1_000);
}

#[test]
fn directories() {
    // Documents are read on threads with as much stack as a process's main thread; test threads have a quarter of that.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let read = thread.spawn(|| holds("directory", 100)).unwrap();
    read.join().unwrap();
}

#[test]
fn definitions() {
    holds("crd", 200);
}

#[test]
fn configurations() {
    holds("config", 25);
}

#[test]
fn selectors() {
    holds("selector", 20_000);
}

#[test]
fn hostnames() {
    holds("hostname", 20_000);
}

#[test]
fn requests() {
    holds("request", 200);
}
