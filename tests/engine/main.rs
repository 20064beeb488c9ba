//! Decisions of the engine: cases as files, comparisons with controllers and the conformance suite, properties of all
//! states, and the fuzz targets for a few seconds.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub
)]

mod conformance;
mod controllers;
mod derive;
mod effective;
mod fuzz;
mod guardrails;
mod health;
mod precedence;
mod properties;
mod review;
