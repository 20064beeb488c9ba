//! `docs/reference/reliability.md` names a test for each case, and the test exists. Also faults that need a process of their own:
//! signals, an unwritable log, little processor time, unknown host names.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod clocks;
mod logs;
mod process;
mod secrets;
mod signals;
mod starved;
mod table;
mod token;
mod unknown;
