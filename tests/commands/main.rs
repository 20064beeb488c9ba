//! The commands as people and pipelines run them: the program itself, its output held by files.
//!
//! `ATTACHE_BLESS=1 cargo test --test commands` writes what was said into those files; read the difference
//! before you commit it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod check;
mod describe;
mod documents;
mod examples;
mod explain;
mod git;
mod graph;
mod habits;
mod impact;
mod pipelines;
mod policies;
mod run;
mod status;
mod tables;
mod terminal;
