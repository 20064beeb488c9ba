//! `docs/reference/reliability.md` names a test for each case, and the test exists. Also faults that need a process of their own:
//! signals, an unwritable log, little processor time, unknown host names.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

#[path = "../wire/client.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod client;
mod clocks;
mod logs;
mod process;
mod secrets;
#[path = "../cache/server.rs"]
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the tests of the cache, whose module it is, use the rest"
)]
mod server;
#[path = "../serving/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod serving;
mod signals;
mod starved;
mod table;
mod token;
mod unknown;
