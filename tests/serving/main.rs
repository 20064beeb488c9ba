//! `attache serve`, most of it as a process: its answers over sockets, what operators see, and what attackers, faults and
//! bad luck do to it.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub
)]

mod amplification;
mod determinism;
mod hostile;
mod live_page;
mod operate;
mod reliability;
mod wire;
