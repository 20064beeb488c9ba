//! The real router and TLS over real sockets: what is answered to what, and what the process survives.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod client;
mod disclosure;
mod drain;
mod envelopes;
mod gone;
mod input;
mod limits;
mod live;
mod memory;
mod objects;
mod patch;
mod rotation;
mod server;
mod transport;
