//! The tutorial's server prints and answers what the tutorial shows. `tests/cluster/tutorial.rs` has the part with a
//! cluster.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{split, text};
use crate::run::root;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The commands in the blocks of text, each with the output that the page shows.
fn sessions(page: &str) -> Vec<(String, Vec<String>)> {
    let (blocks, _) = split(page);
    let mut sessions: Vec<(String, Vec<String>)> = Vec::new();
    for (_, block) in blocks.iter().filter(|(language, _)| language == "text") {
        for line in block.iter().filter(|line| !line.is_empty()) {
            match line.strip_prefix("$ ") {
                Some(command) => sessions.push((command.to_owned(), Vec::new())),
                None => sessions.last_mut().unwrap().1.push(line.clone()),
            }
        }
    }
    sessions
}

/// Starts the server of the tutorial on free ports. Returns what it prints, with the ports of the tutorial, and its port.
fn serve(lines: usize) -> (Server, Vec<String>, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_attache"))
        .args(["serve", "--from", "examples/quickstart"])
        .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut server = Server(child);
    let output = BufReader::new(server.0.stdout.take().unwrap());
    let printed: Vec<String> = output.lines().take(lines).map(Result::unwrap).collect();
    let port_after = |start: &str| {
        let rest = printed
            .iter()
            .find_map(|line| line.split_once(start))
            .unwrap()
            .1;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].to_owned()
    };
    let port = port_after("https://127.0.0.1:");
    let admin = port_after("admin http://127.0.0.1:");
    let as_in_tutorial = printed
        .iter()
        .map(|line| line.replace(&port, "8443").replace(&admin, "9090"))
        .collect();
    (server, as_in_tutorial, port)
}

#[test]
fn the_server_prints_and_answers_as_the_tutorial_shows() {
    let sessions = sessions(&text("docs/tutorial.md"));
    let (_, shown) = sessions
        .iter()
        .find(|(command, _)| command.starts_with("attache serve"))
        .unwrap();
    let (_server, printed, port) = serve(shown.len());
    assert_eq!(&printed, shown);
    let curls: Vec<_> = sessions
        .iter()
        .filter(|(command, _)| command.starts_with("curl"))
        .collect();
    assert_eq!(curls.len(), 2);
    for (command, shown) in curls {
        let (curl, path) = command.split_once(" | jq ").unwrap();
        let curl = curl.replace("8443", &port);
        let output = Command::new("sh")
            .args(["-c", &curl])
            .current_dir(root())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{curl}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = &answer.pointer(&path.replace('.', "/")).unwrap();
        assert_eq!(
            serde_json::to_string_pretty(found).unwrap(),
            shown.join("\n"),
            "{command}"
        );
    }
}
