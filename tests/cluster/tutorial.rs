//! The second part of the tutorial: `make cluster`, and what kubectl then prints.

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::{Cluster, eventually};

const REPOSITORY: &str = env!("CARGO_MANIFEST_DIR");
const ATTACHE: &str = env!("CARGO_BIN_EXE_attache");

/// The cluster of `make cluster`, in a directory of its own. It ends with the test.
struct Tried<'a> {
    folder: &'a Path,
}

// === impl Tried ===

impl Tried<'_> {
    fn place(&self) -> &str {
        self.folder.to_str().expect("a path in UTF-8")
    }

    fn run(&self, command: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = Path::new(ATTACHE).parent().expect("the folder of attache");
        Command::new("bash")
            .args(["-c", command])
            .current_dir(REPOSITORY)
            .env("ATTACHE", ATTACHE)
            // As after the first part.
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("ATTACHE_CLUSTER", self.folder)
            // As in a terminal, also when make runs the tests.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .output()
            .expect("bash runs")
    }
}

impl Drop for Tried<'_> {
    fn drop(&mut self) {
        self.run("make cluster-stop");
    }
}

/// The output of a command, as a terminal shows it.
fn said(output: &Output) -> String {
    let both = [output.stderr.as_slice(), output.stdout.as_slice()].concat();
    String::from_utf8(both).expect("a text")
}

fn is_export(line: &str) -> bool {
    line.trim_start().starts_with("export ")
}

/// The lines with text, without those that depend on the machine.
fn without_exports(printed: &str) -> Vec<&str> {
    let lines = printed.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !is_export(line))
        .collect()
}

/// The commands of the second part, each with the lines that the page shows.
fn sessions(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("```text\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("\n```").next());
    blocks
        .flat_map(|block| block.split("$ ").skip(1))
        .filter_map(|session| session.split_once('\n'))
        .map(|(command, shown)| (command.to_owned(), shown.trim().to_owned()))
        .collect()
}

#[test]
fn the_cluster_of_the_tutorial_answers_as_it_shows() {
    if !Cluster::is_available() {
        return;
    }
    let page = std::fs::read_to_string(Path::new(REPOSITORY).join("docs/tutorial-cluster.md"));
    let sessions = sessions(&page.expect("the tutorial"));
    let folder = std::env::temp_dir().join(format!("attache-tutorial-{}", std::process::id()));
    let tried = Tried { folder: &folder };
    let mut exports = String::new();
    for (command, shown) in &sessions {
        let run = || tried.run(&format!("{exports}{command}"));
        if command == "make cluster" {
            let output = run();
            let printed = said(&output);
            assert!(output.status.success(), "{printed}");
            let shown = shown.replace("/home/you/attache/.cluster", tried.place());
            assert_eq!(without_exports(&printed), without_exports(&shown));
            let found = printed
                .lines()
                .map(str::trim)
                .filter(|line| is_export(line));
            exports = [found.collect::<Vec<_>>().join("; "), "; ".to_owned()].concat();
        } else if command.contains("--dry-run") {
            // attache sees the objects of the commands before a moment later.
            eventually(command, || {
                let printed = said(&run());
                (printed.trim() == shown).then_some(()).ok_or(printed)
            });
        } else {
            assert_eq!(said(&run()).trim(), shown, "{command}");
        }
    }
    assert!(sessions.len() > 4, "the sessions are gone");
}
