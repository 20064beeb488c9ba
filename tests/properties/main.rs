//! Properties of every state and every order of events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod answers;
mod bounds;
mod disclosure;
mod graphs;
mod hostile;
mod laws;
mod mutations;
mod random;
mod replicas;
mod reviews;
mod states;
mod supposed;
mod text;
mod world;
