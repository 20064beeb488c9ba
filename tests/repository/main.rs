//! The repository agrees with itself: layers of modules, manifests and chart, and the tests that documents name.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub
)]

mod chart;
mod definition;
mod glossary;
mod layering;
mod packaging;
mod reliability;
mod security;
mod versions;
