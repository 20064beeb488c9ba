//! Runs every case under `tests/effective/`: a state, questions about it, and the answers.
//!
//! `kinds.yaml` is part of every state. Objects without creationTimestamp are as old as their place in
//! the file says: the earlier is the older. `ATTACHE_BLESS=1 cargo test --test effective` writes what
//! was answered into `expected.yaml`; read the difference before you commit it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod answers;
#[path = "../cases/mod.rs"]
mod cases;
mod state;
mod w24;

use cases::{documents, hold, root};

#[test]
fn every_case_answers_what_it_should() {
    let root = root("effective");
    hold(&root, |case| {
        let state = state::read(&root, case);
        let asks = documents(&case.join("ask.yaml"));
        asks.iter()
            .map(|ask| answers::answer(&state, ask))
            .collect()
    });
}
