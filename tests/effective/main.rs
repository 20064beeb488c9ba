//! Runs every case under `tests/effective/`: a state, questions about it, and the answers.
//!
//! Those under `tests/kinds/` do the same for kinds that people run, by the profiles that come with
//! attache and nothing else: one folder a case, named after its project.
//!
//! `kinds.yaml` is part of every state in `tests/effective/`. Objects without creationTimestamp are as old as their place in
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
mod partial;
mod state;
mod w24;

use cases::{documents, hold, root};

#[test]
fn every_case_answers_what_it_should() {
    answers_hold("effective");
}

#[test]
fn every_kind_behaves_as_its_project_says() {
    answers_hold("kinds");
}

/// Situations out of public bug reports and of the Gateway API's own rules, each with its source and the right answer at its
/// head. Those about single requests are in `tests/commands/explain`.
#[test]
fn what_was_reported_in_public_is_answered_rightly() {
    answers_hold("public");
}

fn answers_hold(test: &str) {
    let root = root(test);
    hold(&root, |case| {
        let state = state::read(&root, case);
        let asks = documents(&case.join("ask.yaml"));
        asks.iter()
            .map(|ask| answers::answer(&state, ask))
            .collect()
    });
}
