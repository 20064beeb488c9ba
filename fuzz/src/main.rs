//! Runs the targets under libFuzzer: `ATTACHE_FUZZ` names one. `make fuzz TARGET=review` builds and runs it.
//!
//! libFuzzer needs coverage, which `-C passes=sancov-module` provides on the stable toolchain too. Only the sanitizers
//! need a nightly toolchain, and they find little in safe code.
#![no_main]


use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use testing::fuzz::budget::{self, Cost};
use testing::fuzz::rng::Rng;
use testing::fuzz::{TARGETS, Target, mutate};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ATTACHE_FUZZ").unwrap_or_default();
    let target = TARGETS.iter().find(|target| target.name == name);
    *target.unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!(
            "set ATTACHE_FUZZ to one of {}, not {name:?}",
            names.join(", ")
        )
    })
});

fn counted(run: &mut dyn FnMut()) -> Cost {
    let taken = allocation_counter::measure(run);
    Cost {
        bytes: taken.bytes_max,
        allocations: taken.count_total,
    }
}

/// Starts to count allocations, and writes the seeds of the target to the folder that `ATTACHE_FUZZ_SEEDS` names.
fn begin() {
    budget::count_with(counted);
    let Some(folder) = std::env::var_os("ATTACHE_FUZZ_SEEDS").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&folder).expect("a folder for the seeds");
    for (i, seed) in (TARGET.seeds)().into_iter().enumerate() {
        std::fs::write(folder.join(format!("{i:04}")), seed).expect("a seed is written");
    }
}

fuzz_target!(init: begin(), |data: &[u8]| (TARGET.run)(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut rng = Rng::new(u64::from(seed));
    // libFuzzer's mutations know the comparisons in the code; ours know JSON.
    if rng.one_in(3) {
        return fuzzer_mutate(data, size, max_size);
    }
    let out = mutate::mutate(&data[..size], &mut rng, max_size);
    data[..out.len()].copy_from_slice(&out);
    out.len()
});
