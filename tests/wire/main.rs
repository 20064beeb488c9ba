//! The real router and TLS over real sockets: the answers, and what the process survives.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod age;
mod authority;
mod callers;
mod descriptors;
mod disclosure;
mod downgrade;
mod drain;
mod envelopes;
mod floods;
mod frames;
mod gone;
mod good;
mod input;
mod lies;
mod limits;
mod live;
mod memory;
mod objects;
mod patch;
mod process;
mod renewal;
mod rotation;
mod server;
mod stalls;
mod times;
mod traces;
mod transport;
