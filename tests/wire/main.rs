//! The real router and TLS over real sockets: what is answered to what, and what the process survives.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod client;
#[path = "../operate/collector.rs"]
#[allow(dead_code)]
mod collector;
mod disclosure;
mod drain;
mod input;
mod limits;
mod live;
mod memory;
mod patch;
mod rotation;
mod server;
mod traces;
mod transport;
