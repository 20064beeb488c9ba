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
mod state;
mod w24;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/effective")
}

fn run(case: &Path) -> String {
    let state = state::read(&root(), case);
    let mut said = String::new();
    for ask in state::documents(&case.join("ask.yaml")) {
        said.push_str(&answers::answer(&state, &ask));
    }
    said
}

#[test]
fn every_case_answers_what_it_should() {
    let only = std::env::var("ATTACHE_CASE").unwrap_or_default();
    let mut cases: Vec<PathBuf> = fs::read_dir(root())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    cases.retain(|path| path.is_dir() && path.to_string_lossy().contains(&only));
    cases.sort();
    assert!(!cases.is_empty(), "the cases are gone");
    let mut wrong = String::new();
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let said = run(&case);
        let expected = case.join("expected.yaml");
        if std::env::var_os("ATTACHE_BLESS").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        let should = fs::read_to_string(&expected).unwrap_or_default();
        if said != should {
            writeln!(wrong, "=== {name}\n--- expected\n{should}--- said\n{said}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
