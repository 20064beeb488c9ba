//! Runs every case in `tests/effective/`: a state, questions about it, and the answers.
//!
//! Those in `tests/kinds/` do the same for real policy kinds, with only the built-in profiles: one directory per case,
//! named after its project.
//!
//! Cases named `wNN` are the worked examples of GEP-713 and of its earlier versions, in their order; the first line of
//! `state.yaml` names the example.
//!
//! `kinds.yaml` is part of every state in `tests/effective/`. Objects without creationTimestamp are aged by their
//! position in the file: the earlier is the older. `ATTACHE_BLESS=1 cargo test --test engine effective` writes the actual
//! answers into `expected.yaml`; read the difference before you commit it.

mod answers;
mod partial;
mod state;
mod w24;

use testing::cases::{documents, hold, root};

#[test]
fn every_case_answers_what_it_should() {
    answers_hold("effective");
}

#[test]
fn every_kind_behaves_as_its_project_says() {
    answers_hold("kinds");
}

/// Situations from public bug reports and from the Gateway API's own rules, each with its source and the correct answer
/// at the top. Those about single requests are in `tests/commands/explain`.
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
