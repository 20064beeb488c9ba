//! The fuzz targets. Each takes any bytes and panics if a property does not hold.
//!
//! `fuzz/src/main.rs` runs them with coverage; `tests/engine/fuzz` runs them without, for a few seconds.

pub mod budget;
pub mod config;
pub mod crd;
pub mod directory;
pub mod files;
pub mod hostname;
pub mod json;
pub mod mutate;
pub mod patch;
pub mod request;
pub mod review;
pub mod review_state;
pub mod rng;
pub mod selector;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and the folder of its corpus.
    pub name: &'static str,
    /// Runs an input.
    pub run: fn(&[u8]),
    /// Initial inputs: the cases of other tests.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    Target {
        name: "review",
        run: review::run,
        seeds: review::seeds,
    },
    Target {
        name: "patch",
        run: patch::run,
        seeds: patch::seeds,
    },
    Target {
        name: "directory",
        run: directory::run,
        seeds: directory::seeds,
    },
    Target {
        name: "crd",
        run: crd::run,
        seeds: crd::seeds,
    },
    Target {
        name: "config",
        run: config::run,
        seeds: config::seeds,
    },
    Target {
        name: "selector",
        run: selector::run,
        seeds: selector::seeds,
    },
    Target {
        name: "hostname",
        run: hostname::run,
        seeds: hostname::seeds,
    },
    Target {
        name: "request",
        run: request::run,
        seeds: request::seeds,
    },
];
