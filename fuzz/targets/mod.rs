//! The fuzz targets. Each takes any bytes and panics if a property does not hold.
//!
//! `fuzz/src/main.rs` runs them with coverage; `tests/fuzz` runs them without, for a few seconds.
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

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Its name, and the folder of its corpus.
    pub(crate) name: &'static str,
    /// Runs an input.
    pub(crate) run: fn(&[u8]),
    /// Initial inputs: the cases of other tests.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
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
