//! What is fuzzed. Each target takes any bytes and panics where something does not hold.
//!
//! `fuzz/src/main.rs` runs them with coverage, `tests/fuzz` for seconds without.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs
)]

pub(crate) mod answers;
pub(crate) mod budget;
pub(crate) mod config;
pub(crate) mod crd;
pub(crate) mod directory;
pub(crate) mod files;
pub(crate) mod hostname;
pub(crate) mod json;
pub(crate) mod mutate;
pub(crate) mod patch;
pub(crate) mod request;
pub(crate) mod review;
pub(crate) mod rng;
pub(crate) mod selector;
pub(crate) mod world;

/// One thing that is fuzzed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// What it is called, and the folder of its corpus.
    pub(crate) name: &'static str,
    /// Takes an input.
    pub(crate) run: fn(&[u8]),
    /// Inputs to begin with: the cases of other tests.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub(crate) const TARGETS: [Target; 8] = [
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
