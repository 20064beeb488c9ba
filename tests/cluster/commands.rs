//! Commands on a real cluster, as users see them.
//!
//! `commands/state` is a cluster with every mistake that users make, and users with different rights. `commands/*.txt`
//! are sessions on it: a line with `$` is a command of an admin, one with `olga$` a command of that user; then follow
//! its output, and the exit code if it is not 0. `ATTACHE_BLESS=1` writes the actual output; read the difference before
//! you commit it.

mod around;
mod compared;
mod trouble;
mod users;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::harness::{Cluster, Said};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/commands");

/// The cluster of the sessions. `None` if clusters are not available.
static STATE: LazyLock<Option<Cluster>> = LazyLock::new(|| {
    let cluster = Cluster::own("commands")?;
    let kubectl = cluster.kubectl();
    let mut files: Vec<PathBuf> = fs::read_dir(Path::new(FOLDER).join("state"))
        .expect("fixtures")
        .map(|file| file.expect("fixtures").path())
        .collect();
    files.sort();
    for file in files {
        let file = file.to_str().expect("a path in UTF-8");
        kubectl.run(["apply", "-f", file]).ok();
        if file.ends_with("kinds.yaml") {
            kubectl
                .run(["wait", "--for=condition=Established", "-f", file])
                .ok();
        }
    }
    Some(cluster)
});

/// Runs a command as the user of a prompt.
fn run(cluster: &Cluster, prompt: &str, command: &str) -> Said {
    let user = Some(prompt).filter(|user| !user.is_empty());
    let words = shlex::split(command).expect("words");
    let (program, args) = words.split_first().expect("a command");
    assert_eq!(program, "attache", "{command}");
    let client = cluster.attache(user);
    client.run(args.iter().map(String::as_str))
}

/// Runs a session and returns its new text.
fn again(cluster: &Cluster, session: &str) -> String {
    let mut text = String::new();
    for line in session.lines() {
        if line.starts_with("# ") {
            writeln!(text, "{line}").unwrap();
        } else if let Some((prompt, command)) = typed(line) {
            let output = run(cluster, prompt, command);
            writeln!(text, "{line}\n{}{}", ageless(&output.out), output.err).unwrap();
            if output.code != 0 {
                text.truncate(text.trim_end().len());
                writeln!(text, "\n(exit {})\n", output.code).unwrap();
            }
        }
    }
    text
}

/// The prompt and the command of a line.
fn typed(line: &str) -> Option<(&str, &str)> {
    let (user, command) = line.split_once("$ ")?;
    user.chars()
        .all(|c| c.is_ascii_lowercase())
        .then_some((user, command))
}

/// Replaces ages, which are not part of the test: objects are made within the same second or not.
fn ageless(text: &str) -> String {
    let text = text.replace("has the same age and comes first by name", "is older");
    let is_age = |word: &str| {
        let digits = word.trim_end_matches(['s', 'm', 'h']);
        digits.len() < word.len()
            && digits
                .chars()
                .all(|c| c.is_ascii_digit() || "mh".contains(c))
    };
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((before, age)) if is_age(age) => format!("{before} 1m\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn sessions_are_what_users_see() {
    let Some(cluster) = &*STATE else {
        return;
    };
    let files = fs::read_dir(FOLDER).expect("sessions");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("sessions").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() > 3, "the sessions are gone");
    let mut wrong = String::new();
    for file in files {
        let session = fs::read_to_string(&file).expect("a session");
        let seen = again(cluster, &session);
        if std::env::var_os("ATTACHE_BLESS").is_some() {
            fs::write(&file, &seen).expect("a writable folder");
        } else if seen != session {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            write!(wrong, "=== {name}\n--- should be\n{session}--- is\n{seen}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
