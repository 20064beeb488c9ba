//! Directories under git, as in users' pipelines.

use std::path::Path;
use std::process::Command;

/// Runs git in a directory, isolated from the user's configuration.
pub fn git(folder: &Path, arguments: &[&str]) {
    let author = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
        "-c",
        "commit.gpgsign=false",
    ];
    let mut git = Command::new("git");
    git.current_dir(folder)
        .env("HOME", folder)
        .args(author)
        .args(arguments);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Makes a directory a repository with one commit of all files.
pub fn commit(folder: &Path) {
    git(folder, &["init", "-q"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "all"]);
}
