//! The cache with a fake API server in virtual time, and with directories.
#![allow(
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub
)]

mod access;
mod age;
mod cluster;
mod confirm;
mod directory;
mod faults;
mod kinds;
mod served;
mod trouble;
mod under;
mod webhooks;
