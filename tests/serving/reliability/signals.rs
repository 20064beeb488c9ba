//! Signals that a process in a cluster receives, and processes that are stopped and continued.

use std::fs;
use std::process::Command;
use std::time::Duration;

use tokio::time::sleep;

use super::process::{Process, Setup, ask, review, signal};

/// A command that runs a process as PID 1 of a namespace. `None` if that is not allowed here.
fn as_first() -> Option<Vec<String>> {
    let commands = [
        &["unshare", "--pid", "--fork", "--kill-child"][..],
        &["unshare", "--user", "--pid", "--fork", "--kill-child"],
    ];
    let works = |command: &&&[&str]| {
        let tried = Command::new(command[0])
            .args(&command[1..])
            .arg("true")
            .output();
        tried.is_ok_and(|tried| tried.status.success())
    };
    let command = commands.iter().find(works)?;
    Some(command.iter().map(|word| (*word).to_owned()).collect())
}

fn pid_of(process: &Process) -> String {
    process.pid().to_string()
}

#[tokio::test]
async fn the_first_sigterm_drains_and_the_second_ends_the_process() {
    let mut process = Process::start(&Setup {
        more: vec!["--drain-delay=10m".to_owned()],
        ..Setup::default()
    });
    process.ready().await;
    let mut kept = process.connect().await;
    ask(&mut kept).await;
    signal("TERM", pid_of(&process));
    process.until("/readyz", 503, "[-]shutdown failed").await;
    assert_eq!(process.get("/livez").await.status, 200);
    // It still answers, and tells clients to close the connection.
    for mut client in [kept, process.connect().await] {
        let answer = client.post("/validate", review("http").as_bytes()).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("connection"), Some("close"));
    }
    assert!(process.runs());
    signal("TERM", pid_of(&process));
    let status = process.ended().await;
    assert_eq!(status.code(), Some(0), "{status}: {}", process.log());
}

/// PID 1 of a container ignores signals without a handler.
#[tokio::test]
async fn as_pid_1_it_handles_sigterm() {
    let Some(by) = as_first() else {
        let why = "SKIPPED: unshare may not make a process the first of its own namespace here";
        assert!(
            std::env::var_os("ATTACHE_REQUIRE_CLUSTER").is_none(),
            "{why}"
        );
        eprintln!("{why}");
        return;
    };
    let mut process = Process::start(&Setup {
        by,
        ..Setup::default()
    });
    process.ready().await;
    let parent = process.pid();
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    let child = children.trim().to_owned();
    let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let inside = numbers.and_then(|line| line.split_whitespace().last());
    assert_eq!(inside, Some("1"), "{status}");
    signal("TERM", child);
    let status = process.ended().await;
    assert_eq!(status.code(), Some(0), "{status}: {}", process.log());
}

/// As a paused container or a suspended node.
#[tokio::test]
async fn a_paused_process_resumes() {
    let mut process = Process::start(&Setup::default());
    process.ready().await;
    let (mut kept, mut waiting) = (process.connect().await, process.connect().await);
    ask(&mut kept).await;
    ask(&mut waiting).await;
    for _ in 0..3 {
        signal("STOP", pid_of(&process));
        let body = review("http");
        let head = format!(
            "POST /validate?timeout=1s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        waiting.send(format!("{head}{body}").as_bytes()).await;
        // A rest, because nothing may happen: a paused process gives no sign. Longer than the client would wait.
        sleep(Duration::from_millis(1_500)).await;
        signal("CONT", pid_of(&process));
        assert_eq!(
            waiting.answer().await.status,
            200,
            "its time begins when it is read"
        );
        ask(&mut kept).await;
        ask(&mut process.connect().await).await;
        assert_eq!(process.get("/readyz").await.status, 200);
    }
    assert!(process.runs());
}
