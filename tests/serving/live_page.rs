//! `attache ui`: who gets an answer, what the answers are, and that they follow the state.

mod answers;
mod follows;
mod gate;

use std::path::PathBuf;

use tempfile::TempDir;
use testing::page::Page;
use testing::serving::quickstart;

/// A copy of the quickstart, which a test may change.
fn copy() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    for file in std::fs::read_dir(quickstart()).unwrap() {
        let file = file.unwrap().path();
        std::fs::copy(&file, state.join(file.file_name().unwrap())).unwrap();
    }
    (folder, state)
}

fn page() -> Page {
    Page::of(&quickstart())
}
