//! The commands as users and pipelines run them: the program itself, with its output in golden files.
//!
//! `ATTACHE_BLESS=1 cargo test --test commands` writes the actual output into these files; read the difference before
//! you commit it.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod check;
mod describe;
mod diff;
mod documents;
mod examples;
mod explain;
mod graph;
mod guardrails;
mod habits;
mod impact;
mod install;
mod older;
mod pipelines;
mod policies;
mod registration;
mod run;
mod status;
mod tables;
mod terminal;
mod test;
