//! Runs every case under `tests/review/`: a state, a request, and what is said.
//!
//! `base.yaml` is part of every state. `ATTACHE_BLESS=1 cargo test --test review` writes what was
//! said into `expected.yaml`; read the difference before you commit it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

#[path = "../cases/mod.rs"]
mod cases;

use std::fmt::Write as _;
use std::path::Path;

use attache::config::Configuration;
use attache::engine::snapshot::{Change, Snapshot};
use attache::engine::verdict::Verdict;

use cases::{documents, hold, object, reviewed, root};

fn state(case: &Path) -> Snapshot {
    let root = root("review");
    let config = Configuration::read(&root.join("attache.yaml")).unwrap();
    let own = case.join("state.yaml");
    let mut files = vec![root.join("base.yaml")];
    files.extend(own.exists().then_some(own));
    let documents = files.iter().flat_map(|file| documents(file));
    documents.fold(cases::nothing(&config), |snapshot, document| {
        snapshot.apply(Change::Applied(Box::new(object(&document))))
    })
}

/// What a case says, in the form of `expected.yaml`.
fn transcript(verdict: &Verdict) -> String {
    let mut text = format!("allowed: {}\n", verdict.allowed());
    for cause in verdict.causes() {
        let (field, message) = (quoted(&cause.field), quoted(&cause.message));
        write!(
            text,
            "- refused: {}\n  field: {field}\n  message: {message}\n",
            cause.reason
        )
        .unwrap();
    }
    for line in verdict.warnings() {
        writeln!(text, "- warning: {}", quoted(&line)).unwrap();
    }
    text
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[test]
fn every_case_says_what_it_should() {
    hold(&root("review"), |case| {
        let request = documents(&case.join("request.yaml")).remove(0);
        transcript(&reviewed(&state(case), &request))
    });
}
