//! Folders under git, as the pipelines of users look at them.

use std::path::Path;
use std::process::Command;

/// Runs git in a folder, with no configuration but its own.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
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

/// Makes a repository of a folder, with everything in it as one commit.
pub(crate) fn commit(folder: &Path) {
    git(folder, &["init", "-q"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "-q", "-m", "all"]);
}
